"""What histories take on disk: a sparse and a dense one in a SQLite file and in the store of Neo4j.

    python -m benchmarks.disk [--quick]

From the two, what a node takes without its edges, and what an edge takes. Indexes are counted, the log of
transactions is not: how much of it is kept is a setting. Neo4j is started as the tests start theirs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from benchmarks.histories import dense
from benchmarks.report import Measure, finish, options
from stateweave_graph import AgentState, open_repository
from tests.support.neo4j_server import LTS, MavenServer, lacking

SPARSE, DENSE = 4, 28
# Else files are longer than what is in them.
RELEASE = replace(LTS, settings={"db.store.files.preallocate": "false"})


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    missing = lacking(RELEASE)
    if missing:
        raise SystemExit(f"Neo4j {RELEASE.version} needs {' and '.join(missing)}")
    nodes = 500 if chosen.quick else 20_000
    states = [dense(nodes, parents) for parents in (SPARSE, DENSE)]
    edges = [sum(len(node.parents) for node in state.nodes) for state in states]
    with tempfile.TemporaryDirectory() as folder:
        sqlite = in_sqlite(Path(folder), states)
        neo4j = in_neo4j(Path(folder) / "server", states)
    texts = [len(state.to_json().encode()) for state in states]
    measures = []
    for number, count in enumerate(edges):
        history = f"{nodes:,} nodes, {count:,} edges"
        for work, ours, peer, other in (
            (f"SQLite: {history}", sqlite, "the state as JSON text", texts),
            (f"Neo4j: {history}", neo4j, "the SQLite file", sqlite),
        ):
            sizes = {"ours_mb": mb(ours[number]), "peer_mb": mb(other[number])}
            measures.append(
                Measure(work, peer, round(ours[number] / other[number], 3), None, "at most", sizes)
            )
    finish(
        "disk",
        measures,
        chosen,
        bytes_on_sqlite=each(nodes, edges, sqlite),
        bytes_on_neo4j=each(nodes, edges, neo4j),
    )


def in_sqlite(folder: Path, states: Sequence[AgentState]) -> list[int]:
    """The bytes of a file for each history."""
    sizes = []
    for number, state in enumerate(states):
        path = folder / f"{number}.db"
        with open_repository(path) as repo:
            repo.import_state("agent", state)
        sizes.append(path.stat().st_size)
    return sizes


def in_neo4j(home: Path, states: Sequence[AgentState]) -> list[int]:
    """The bytes by which each history makes the store grow."""
    server = MavenServer(RELEASE, home)
    sizes = []
    try:
        with open_repository(**server.arguments()) as repo:
            repo.store.apply_schema()
        sizes.append(stored(server))
        for number, state in enumerate(states):
            server.start()
            with open_repository(**server.arguments()) as repo:
                repo.import_state(f"agent {number}", state)
            sizes.append(stored(server))
    finally:
        server.stop()
    return [after - before for before, after in pairwise(sizes)]


def stored(server: MavenServer) -> int:
    """The bytes of the store's files after an orderly end, which writes all that was in memory to them."""
    assert server.process is not None
    server.process.terminate()
    server.process.wait()
    server.stop()
    folder = server.home / "data" / "databases" / "neo4j"
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def each(nodes: int, edges: Sequence[int], sizes: Sequence[int]) -> dict[str, int]:
    """What an edge takes, and a node without its edges."""
    edge = (sizes[1] - sizes[0]) / (edges[1] - edges[0])
    return {"a node": round((sizes[0] - edge * edges[0]) / nodes), "an edge": round(edge)}


def mb(size: int) -> float:
    """Megabytes."""
    return round(size / 1e6, 3)


if __name__ == "__main__":
    main()
