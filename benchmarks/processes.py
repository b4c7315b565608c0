"""Commits a second by 1, 2, 4 and 8 processes on as many agents, on one SQLite file and on one Neo4j.

    python -m benchmarks.processes [--quick]

Reported, not bounded: one file has one writer at a time, and each commit waits for the disk; a server has its
cores, of which the processes here take their share.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.report import Measure, finish, options
from stateweave_graph import open_repository
from tests.support.neo4j_server import LTS, start, why_not

WORKER = """
import json, sys, time
from stateweave_graph import ANY_REVISION, open_repository
from benchmarks.commits import appends
arguments, agent, seconds = json.loads(sys.argv[1]), sys.argv[2], float(sys.argv[3])
with open_repository(**arguments) as repo:
    head = repo.append(agent, appends(0), expected_revision=ANY_REVISION)
    print("ready", flush=True)
    sys.stdin.readline()
    made, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        made += 1
        head = repo.append(agent, appends(made), expected_revision=head)
print(made)
"""


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    counts, seconds = ((1, 2), 1.0) if chosen.quick else ((1, 2, 4, 8), 5.0)
    reason = why_not(LTS)
    if reason:
        raise SystemExit(reason)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        server = start(LTS, Path(folder) / "neo4j", heap="1g")
        stack.callback(server.stop)
        measures = list(rates("SQLite", {"uri": str(Path(folder) / "one.db")}, counts, seconds))
        measures += rates("Neo4j", server.arguments(), counts, seconds)
    finish("processes", measures, chosen)


def rates(
    engine: str, arguments: dict[str, Any], counts: tuple[int, ...], seconds: float
) -> Iterator[Measure]:
    """The commits a second of all processes together, to those of one."""
    with open_repository(**arguments) as repo:
        repo.store.apply_schema()
    together(arguments, 1, seconds / 2, "warm")
    one = 0.0
    for count in counts:
        rate = together(arguments, count, seconds, f"of-{count}")
        one = one or rate
        yield Measure(
            f"{engine}: {count} processes, commits a second",
            "one process",
            round(rate / one, 3),
            None,
            "at least",
            {"ours_commits_a_second": round(rate), "peer_commits_a_second": round(one)},
        )


def together(arguments: dict[str, Any], count: int, seconds: float, name: str) -> float:
    """Let processes commit at the same time."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, json.dumps(arguments), f"{name}-{number}", str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    began = time.monotonic()
    outputs = []
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    outputs = [worker.communicate(timeout=120)[0] for worker in workers]
    taken = max(seconds, time.monotonic() - began - 1)
    return sum(map(int, outputs)) / taken


if __name__ == "__main__":
    main()
