"""How it grows: a history of 10,000 nodes and one of 100,000 through SQLite and a Neo4j with a heap of 1 GB.

    python -m benchmarks.scale [--quick]

Brought in, committed to, read back, asked for lineage, forked and deleted. A ratio of 1 says that the longer
one costs no more, for each of its nodes or for each turn. Neo4j is the server of NEO4J_TEST_URI, else one
started as the tests start theirs; it has seen 2,000 nodes before, since a cold server has yet to compile what
it runs.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.histories import dense
from benchmarks.report import Measure, finish, options
from stateweave_graph import AgentState, Repository, open_repository
from tests.support.neo4j_server import LTS, start, why_not

TURNS = 20
WARM_UP = 2_000
AGENT = "scale"


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    reason = why_not(LTS)
    if reason:
        raise SystemExit(reason)
    states = [dense(nodes) for nodes in ((200, 2_000) if chosen.quick else (10_000, 100_000))]
    measures = []
    for engine, opened in (("SQLite", sqlite), ("Neo4j", neo4j)):
        with opened() as repo:
            through(repo, dense(WARM_UP))
            short, long = (through(repo, state) for state in states)
        measures += [compared(engine, work, short[work], long[work], states) for work in short]
    edges = {
        f"{len(state.nodes):,} nodes": sum(len(node.parents) for node in state.nodes) for state in states
    }
    finish("scale", measures, chosen, edges=edges)


@contextmanager
def sqlite() -> Iterator[Repository]:
    """A new file."""
    with tempfile.TemporaryDirectory() as folder, open_repository(Path(folder) / "scale.db") as repo:
        yield repo


@contextmanager
def neo4j() -> Iterator[Repository]:
    """A server with a small heap."""
    with tempfile.TemporaryDirectory() as home:
        server = start(LTS, Path(home), heap="1g")
        try:
            with open_repository(**server.arguments()) as repo:
                yield repo
        finally:
            server.stop()


def through(repo: Repository, state: AgentState) -> dict[str, float]:
    """The seconds that each piece of work takes with a history, which is gone afterwards."""
    seconds: dict[str, float] = {}

    def timed(what: str, work: Callable[[], object]) -> None:
        began = time.perf_counter()
        work()
        seconds[what] = time.perf_counter() - began

    print(f"{len(state.nodes):,} nodes through {repo}", flush=True)
    timed("import", lambda: repo.import_state(AGENT, state))
    turns = [turn_of(repo) for _ in range(TURNS)]
    seconds["commit of a turn"] = statistics.median(turns)
    timed("load", lambda: repo.load(AGENT))
    assert repo.load(AGENT, revision=1).state == state, "what comes out is what went in"
    newest = repo.head(AGENT).frontier[0]
    timed("lineage of the last answer", lambda: len(repo.lineage(AGENT, newest)))
    timed("fork", lambda: repo.fork(AGENT, "copy"))
    assert repo.head("copy").node_count == len(state.nodes) + 2 * TURNS
    timed("delete", lambda: repo.delete(AGENT))
    repo.delete("copy")
    return seconds


def turn_of(repo: Repository) -> float:
    """The seconds that a turn takes."""
    began = time.perf_counter()
    with repo.turn(AGENT) as turn:
        turn.goal("What next?")
        turn.answer(f"Measure. It is {began}.")
    return time.perf_counter() - began


def compared(engine: str, work: str, short: float, long: float, states: list[AgentState]) -> Measure:
    """What a piece of work costs with the longer history, to what it costs with the shorter one."""
    fewer, more = (len(state.nodes) for state in states)
    by_turn = work == "commit of a turn"
    ours, peer = (long * 1e3, short * 1e3) if by_turn else (long / more * 1e6, short / fewer * 1e6)
    unit = "ms" if by_turn else "us_per_node"
    return Measure(
        work=f"{engine}: {work}, {more:,} nodes",
        peer=f"{fewer:,} nodes",
        ratio=round(ours / peer, 3),
        bound=None,
        sense="at most",
        figures={f"ours_{unit}": round(ours, 3), f"peer_{unit}": round(peer, 3), "longer_s": round(long, 3)},
    )


if __name__ == "__main__":
    main()
