"""What histories take on disk, in a SQLite file and in the store of Neo4j.

    python -m benchmarks.disk [--quick]

A sparse and a dense history of one commit tell what a node and an edge take, one of a commit a node what a
commit takes, and many of one commit what an agent takes. Indexes are counted, the log of transactions is not:
how much of it is kept is a setting. Neo4j is started as the tests start theirs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.histories import dense
from benchmarks.report import Measure, finish, options
from stateweave_graph import AgentState, Append, Repository, open_repository
from tests.support.neo4j_server import LTS, MavenServer, lacking

SPARSE, DENSE = 4, 28
# Else files are longer than what is in them.
RELEASE = replace(LTS, settings={"db.store.files.preallocate": "false"})


class Content(NamedTuple):
    """Something to store: what there is of it, and how it is written."""

    nodes: int
    edges: int
    write: Callable[[Repository], object]


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    missing = lacking(RELEASE)
    if missing:
        raise SystemExit(f"Neo4j {RELEASE.version} needs {' and '.join(missing)}")
    nodes, small = (500, 50) if chosen.quick else (10_000, 2_000)
    states = [dense(nodes, parents) for parents in (SPARSE, DENSE)]
    contents = [imported(state, f"imported {number}") for number, state in enumerate(states)]
    contents += [committed(dense(small, 1)), many_agents(dense(small, 1))]
    with tempfile.TemporaryDirectory() as folder:
        sqlite = in_sqlite(Path(folder), contents)
        neo4j = in_neo4j(Path(folder) / "server", contents)
    texts = [len(state.to_json().encode()) for state in states]
    measures = []
    for content, ours, in_server, text in zip(contents, sqlite, neo4j, texts, strict=False):
        history = f"{content.nodes:,} nodes, {content.edges:,} edges"
        measures.append(compared(f"SQLite: {history}", ours, "the state as JSON text", text))
        measures.append(compared(f"Neo4j: {history}", in_server, "the SQLite file", ours))
    finish(
        "disk",
        measures,
        chosen,
        bytes_on_sqlite=each(contents, sqlite),
        bytes_on_neo4j=each(contents, neo4j),
    )


def imported(state: AgentState, agent: str) -> Content:
    """A history of one commit."""
    edges = sum(len(node.parents) for node in state.nodes)
    return Content(len(state.nodes), edges, lambda repo: repo.import_state(agent, state))


def committed(state: AgentState) -> Content:
    """A chain of nodes, a commit each."""
    appends = one_by_one(state)

    def write(repo: Repository) -> None:
        for revision, append in enumerate(appends):
            repo.append("committed", [append], expected_revision=revision)

    return Content(len(appends), len(appends) - 1, write)


def many_agents(state: AgentState) -> Content:
    """A node and a commit for each of many agents."""
    appends = one_by_one(state)

    def write(repo: Repository) -> None:
        for number, append in enumerate(appends):
            repo.append(f"agent-{number:08}", [append], expected_revision=0)

    return Content(len(appends), 0, write)


def one_by_one(state: AgentState) -> list[Append]:
    """Its nodes as appends that rest on the frontier; none is a version of a resource."""
    return [Append(kind=node.kind, payload=node.payload, created_at=node.created_at) for node in state.nodes]


def in_sqlite(folder: Path, contents: Sequence[Content]) -> list[int]:
    """The bytes of a file for each content."""
    sizes = []
    for number, content in enumerate(contents):
        path = folder / f"{number}.db"
        with open_repository(path) as repo:
            content.write(repo)
        sizes.append(path.stat().st_size)
    return sizes


def in_neo4j(home: Path, contents: Sequence[Content]) -> list[int]:
    """The bytes by which each content makes the store grow."""
    server = MavenServer(RELEASE, home)
    sizes = []
    try:
        with open_repository(**server.arguments()) as repo:
            repo.store.apply_schema()
        sizes.append(stored(server))
        for content in contents:
            server.start()
            with open_repository(**server.arguments()) as repo:
                content.write(repo)
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


def each(contents: Sequence[Content], sizes: Sequence[int]) -> dict[str, int]:
    """What an edge takes, a node without edges, a commit without nodes, an agent without commits."""
    sparse, full, chain, agents = contents
    edge = (sizes[1] - sizes[0]) / (full.edges - sparse.edges)
    node = (sizes[0] - edge * sparse.edges) / sparse.nodes
    commit = (sizes[2] - edge * chain.edges) / chain.nodes - node
    agent = sizes[3] / agents.nodes - node - commit
    found = {"a node": node, "an edge": edge, "a commit": commit, "an agent": agent}
    return {what: round(size) for what, size in found.items()}


def compared(work: str, ours: int, peer: str, other: int) -> Measure:
    """One size to another."""
    sizes = {"ours_mb": round(ours / 1e6, 3), "peer_mb": round(other / 1e6, 3)}
    return Measure(work, peer, round(ours / other, 3), None, "at most", sizes)


if __name__ == "__main__":
    main()
