"""Neo4j's driver with and without its Rust extension (the extra ``fast``): the same reads, the same server.

    python -m benchmarks.driver [--quick]

The extension is installed with pip into a temporary folder, of the same version as the driver that is there.
Processes with it and without it take turns; each warms up before it measures. Neo4j is started as the tests
start theirs.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.histories import dense
from benchmarks.report import Measure, finish, ms, options
from stateweave_graph import Repository, open_repository
from tests.support.neo4j_server import LTS, start, why_not

AGENT = "driver"
ROWS = """\
MATCH (s:AgentState {agentId: $agent}) MATCH (n:CausalNode) WHERE n.history = s.history
RETURN n.id AS id, n.kind AS kind, n.sequence AS sequence, n.payload AS payload ORDER BY sequence
"""


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    reason = why_not(LTS)
    if reason:
        raise SystemExit(reason)
    nodes, rounds, processes = (200, 2, 1) if chosen.quick else (5_000, 8, 4)
    version = importlib.metadata.version("neo4j")
    times: dict[bool, dict[str, list[float]]] = {True: {}, False: {}}
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder) / "packages"
        install(packages, version)
        server = start(LTS, Path(folder) / "server", heap="1g")
        try:
            with open_repository(**server.arguments()) as repo:
                repo.import_state(AGENT, dense(nodes))
            task = {"repository": server.arguments(), "rounds": rounds}
            for _ in range(processes):
                for fast in (False, True):
                    for work, taken in in_a_process(task, packages if fast else None).items():
                        times[fast].setdefault(work, []).extend(taken)
        finally:
            server.stop()
    measures = [
        Measure(
            work=f"{work}, {nodes:,} nodes, with the extension",
            peer="without it",
            ratio=round(ms(times[True][work]) / ms(times[False][work]), 3),
            bound=None,
            sense="at most",
            figures={"ours_ms": ms(times[True][work]), "peer_ms": ms(times[False][work])},
        )
        for work in times[True]
    ]
    finish("driver", measures, chosen, versions={"neo4j": version, "neo4j-rust-ext": f"{version}.*"})


def install(folder: Path, version: str) -> None:
    """Install the driver and its extension into a folder."""
    wanted = f"neo4j-rust-ext=={version}.*"
    quiet = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *quiet, "--target", str(folder), wanted], check=True
    )


def in_a_process(task: dict[str, Any], packages: Path | None) -> dict[str, list[float]]:
    """The seconds that reads take in a process of its own, with the packages of a folder if one is given."""
    path = [str(packages)] if packages else []
    path += [part for part in (os.environ.get("PYTHONPATH"), str(Path(__file__).parents[1])) if part]
    done = subprocess.run(
        [sys.executable, "-c", "from benchmarks.driver import read; read()"],
        input=json.dumps({**task, "fast": packages is not None}),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        check=True,
        text=True,
    )
    times: dict[str, list[float]] = json.loads(done.stdout)
    return times


def read() -> None:
    """What such a process does: read what standard input asks for, and print the seconds."""
    task = json.loads(sys.stdin.read())
    assert (importlib.util.find_spec("neo4j._rust") is not None) is task["fast"]
    with open_repository(**task["repository"]) as repo:
        works = pieces(repo)
        times: dict[str, list[float]] = {work: [] for work in works}
        for number in range(task["rounds"] + 1):
            for work, call in works.items():
                began = time.perf_counter()
                call()
                if number > 0:  # the first one warms up
                    times[work].append(time.perf_counter() - began)
    print(json.dumps(times))


def pieces(repo: Repository) -> dict[str, Callable[[], object]]:
    """The reads that are compared."""
    newest = repo.head(AGENT).frontier[0]
    return {
        "`load()`": lambda: repo.load(AGENT),
        "`cypher()`, a row a node": lambda: repo.cypher(ROWS, parameters={"agent": AGENT}, max_rows=10_000),
        "`lineage()`": lambda: repo.lineage(AGENT, newest).ids,
    }


if __name__ == "__main__":
    main()
