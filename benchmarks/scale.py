"""A large history through a Neo4j with a heap of 1 GB: brought in, read back, forked, deleted.

    python -m benchmarks.scale [--nodes 100000] [--quick]

Uses the server of NEO4J_TEST_URI, else one started as the tests start theirs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from benchmarks.histories import dense
from stateweave_graph import open_repository
from tests.support.neo4j_server import LTS, start, why_not

Result = TypeVar("Result")


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """One line that tells how far it is."""

    def report(done: int, total: int) -> None:
        print(f"\r{what}: {done:,} of {total:,} nodes", end="", flush=True)

    yield report
    print()


def main() -> None:
    """Measure, and print what was measured as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true", help="2,000 nodes")
    options = parser.parse_args()
    nodes = 2_000 if options.quick else options.nodes
    reason = why_not(LTS)
    if reason:
        raise SystemExit(reason)
    seconds: dict[str, float] = {}

    def timed(what: str, work: Callable[[], Result]) -> Result:
        began = time.perf_counter()
        result = work()
        seconds[what] = round(time.perf_counter() - began, 2)
        return result

    state = timed("make the history", lambda: dense(nodes))
    edges = sum(len(node.parents) for node in state.nodes)
    with tempfile.TemporaryDirectory() as home:
        server = start(LTS, Path(home), heap="1g")
        try:
            with open_repository(**server.arguments()) as repo, bar("import") as report:
                timed("import", lambda: repo.import_state("scale", state, progress=report))
                turn = timed("commit a turn", lambda: commit(repo))
                back = timed("load", lambda: repo.load("scale", revision=1))
                assert back.state == state, "what comes out is what went in"
                timed("lineage of the last answer", lambda: len(repo.lineage("scale", turn)))
                timed("fork", lambda: repo.fork("scale", "scale-copy"))
                timed("delete", lambda: repo.delete("scale"))
                assert repo.head("scale-copy").node_count == nodes + 2
        finally:
            server.stop()
    print(json.dumps({"nodes": nodes, "edges": edges, "how": server.how, "seconds": seconds}, indent=2))


def commit(repo) -> str:
    """A turn on the large history."""
    with repo.turn("scale") as turn:
        turn.goal("What next?")
        return turn.answer("Measure.").id


if __name__ == "__main__":
    main()
