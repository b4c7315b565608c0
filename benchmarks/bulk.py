"""A whole history in, out, and asked for its causes; beside the same rows by hand.

    python -m benchmarks.bulk [--quick]

Brought in: the records of one large commit by our store, and the same rows by ``executemany`` (SQLite) or in
the same parts by UNWIND in transactions of the driver (Neo4j); then what parsing and judging add. Out:
``load`` and ``to_json``, and the same rows read by hand. Causes: lineage of the newest node and impact of the
oldest; the peers are networkx on a graph that is there already, and the bare query for sequences on Neo4j.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import networkx as nx
from neo4j import GraphDatabase

from benchmarks.commits import SqliteTwin
from benchmarks.histories import dense
from benchmarks.report import Measure, alternately, finish, ms, options
from stateweave_graph import AgentState, CausalMirror, Repository, open_repository
from stateweave_graph.cyphertext import statement
from stateweave_graph.records import Batch
from stateweave_graph.stores.neo4j_staging import Sizes, _groups, _parts
from stateweave_graph.stores.sqlite import SqliteStore
from stateweave_graph.stores.sqlite_connection import connect
from stateweave_graph.testing.samples import batches_of
from tests.support.neo4j_server import LTS, start, why_not

AGENT = "bulk"
PEAK = """
import sys
from pathlib import Path
from stateweave_graph import open_repository


def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


with open_repository(sys.argv[1]) as repo:
    repo.head("bulk")
    before = peak()
    if sys.argv[2] == "load":
        repo.load("bulk").state.to_json()
    elif sys.argv[2] == "iter":
        for node in repo.iter_nodes("bulk"):
            pass
    else:
        repo.export("bulk", sys.argv[3], format="jsonl")
    print(peak() - before)
"""


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    reason = why_not(LTS)
    if reason:
        raise SystemExit(reason)
    nodes = 2_000 if chosen.quick else 100_000
    state = dense(nodes)
    (batch,) = batches_of(AGENT, state)
    text = state.to_json()
    told = f"{nodes:,} nodes, {sum(len(node.parents) for node in state.nodes):,} edges"
    measures = []
    with tempfile.TemporaryDirectory() as folder:
        measures += sqlite(Path(folder), state, text, batch, rounds=3)
        measures += neo4j(Path(folder), state, batch)
    finish("bulk", measures, chosen, history=told, json_bytes=len(text.encode()))


def sqlite(folder: Path, state: AgentState, text: str, batch: Batch, rounds: int) -> Iterator[Measure]:
    """One file after another."""
    ours, by_hand, judged = [], [], []
    for number in range(rounds):
        with open_repository(folder / f"ours{number}.db") as repo:
            repo.store.apply_schema()
            ours.append(timed(lambda repo=repo: repo.store.write(lambda tx: tx.write(batch))))
        path = str(folder / f"hand{number}.db")
        with closing(SqliteStore(path)) as store:
            store.apply_schema()
        with closing(connect(path, 30.0)) as connection:
            twin = SqliteTwin(connection)
            twin.note(batch)
            by_hand.append(timed(twin.again))
        with open_repository(folder / f"whole{number}.db") as repo:
            judged.append(timed(lambda repo=repo: repo.import_state(AGENT, AgentState.from_json(text))))
    yield rate("SQLite: import, validation left out", "the same rows by executemany", ours, by_hand, 0.9)
    yield rate("SQLite: import from JSON text, judged", "the same rows by executemany", judged, by_hand, None)
    path = folder / "whole0.db"
    with open_repository(path) as repo:
        yield read_back(repo, "SQLite", lambda: rows_of(repo), rounds)
        yield from memory(path, len(text.encode()))
        yield from causes(repo, "SQLite", state, rounds)


def rows_of(repo: Repository) -> int:
    """The rows of a history, read by hand."""
    with closing(connect(repo.name, 30.0)) as connection:
        nodes = connection.execute(
            "SELECT id, kind, payload, created_at, sequence, resource_key, extra FROM nodes WHERE h = 1 "
            "ORDER BY sequence"
        ).fetchall()
        edges = connection.execute(
            "SELECT sequence, parent FROM parents WHERE h = 1 ORDER BY sequence, parent"
        ).fetchall()
        return len(nodes) + len(edges)


def memory(path: Path, size: int) -> Iterator[Measure]:
    """What a process grows by."""
    for way, what, bound in (
        ("load", "`load` and `to_json`", 3.0),
        ("iter", "`iter_nodes`", None),
        ("export", "`export` as JSON lines", None),
    ):
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(path), way, str(path.with_suffix(".jsonl"))],
            capture_output=True,
            text=True,
            check=True,
        )
        grown = int(done.stdout)
        yield Measure(
            f"SQLite: {what}, memory at the peak",
            "the size of its JSON",
            round(grown / size, 3),
            bound,
            "at most",
            {"ours_mb": round(grown / 1e6, 1), "peer_mb": round(size / 1e6, 1)},
        )


def read_back(repo: Repository, engine: str, by_hand: Callable[[], object], rounds: int) -> Measure:
    """``load`` and ``to_json`` beside the rows alone."""
    ours, hand = alternately([lambda: repo.load(AGENT).state.to_json(), by_hand], rounds)
    return rate(f"{engine}: `load` and `to_json`", "the same rows read by hand", ours, hand, 0.8)


def causes(repo: Repository, engine: str, state: AgentState, rounds: int) -> Iterator[Measure]:
    """Lineage and impact beside networkx on a graph that has been built."""
    graph = CausalMirror(state).graph
    first, last = state.nodes[0].id, state.nodes[-1].id
    for name, ask, peer in (
        (
            "lineage of the newest node",
            lambda: len(repo.lineage(AGENT, last)),
            lambda: len(nx.descendants(graph, last)),
        ),
        (
            "impact of the oldest node",
            lambda: len(repo.impact(AGENT, first)),
            lambda: len(nx.ancestors(graph, first)),
        ),
    ):
        assert ask() == peer()
        ours, theirs = alternately([ask, peer], rounds)
        yield Measure(
            f"{engine}: {name}",
            "networkx on a graph in memory",
            round(ms(ours) / ms(theirs), 3),
            1.0,
            "at most",
            {"ours_ms": ms(ours), "peer_ms": ms(theirs)},
        )


def neo4j(folder: Path, state: AgentState, batch: Batch) -> Iterator[Measure]:
    """A server with a heap of 1 GB, warm from a smaller history."""
    server = start(LTS, folder / "neo4j", heap="1g")
    try:
        arguments = server.arguments()
        login = (arguments["user"], arguments["password"])
        with (
            open_repository(**arguments) as repo,
            GraphDatabase.driver(arguments["uri"], auth=login) as driver,
        ):
            for agent in ("warm", "warmer"):
                repo.import_state(agent, dense(3_000))
            ours, by_hand = [], []
            for number in range(2):
                named = batch.agent._replace(agent_id=f"{AGENT}{number or ''}", history=f"ours {number}")
                mine = batch._replace(agent=named)
                groups = list(_groups(_parts([batch], f"by hand {number}", Sizes()), Sizes()))

                def bring_ours(mine: Batch = mine) -> None:
                    ours.append(timed(lambda: repo.store.write(lambda tx: tx.write(mine))))

                def bring_by_hand(groups: list[Any] = groups, name: str = f"by hand {number}") -> None:
                    by_hand.append(timed(lambda: bring_in(driver, name, groups)))

                for bring in (bring_ours, bring_by_hand) if number else (bring_by_hand, bring_ours):
                    bring()
            yield rate("Neo4j: import, validation left out", "the same parts by hand", ours, by_hand, 0.9)
            history = repo.head(AGENT).history
            span = {"history": history, "first": 1, "last": len(state.nodes)}

            def rows() -> int:
                with driver.session() as session:
                    return len(session.execute_read(lambda tx: tx.run(statement("nodes"), span).values()))

            yield read_back(repo, "Neo4j", rows, rounds=3)
            yield from neo4j_causes(repo, driver, history, state)
    finally:
        server.stop()


def bring_in(driver: Any, name: str, groups: list[Any]) -> None:
    """Parts of a history, each group of them in a transaction."""
    with driver.session() as session:
        node = {"history": name, "key": name, "owner": "me", "done": 0, "stagedFor": name}
        session.run(statement("stage_begin"), staged=node, lease_ms=60_000).consume()
        for number, group in enumerate(groups):
            said = {"owner": "me", "done": number, "lease_ms": 60_000}

            def work(tx: Any, group: Any = group, said: Any = said) -> None:
                for part in group:
                    tx.run(statement("stage"), {**part.parameters, **said}).consume()

            session.execute_write(work)


def neo4j_causes(repo: Repository, driver: Any, history: str, state: AgentState) -> Iterator[Measure]:
    """Lineage and impact beside the bare query for sequences."""
    first, last = state.nodes[0], state.nodes[-1]
    for name, ask, arrow, node in (
        ("lineage of the newest node", lambda: len(repo.lineage(AGENT, last.id)), "-[:PARENT*1..]->", last),
        ("impact of the oldest node", lambda: len(repo.impact(AGENT, first.id)), "<-[:PARENT*1..]-", first),
    ):
        text = (
            f"MATCH (a:CausalNode {{history: $history, sequence: $sequence}}){arrow}(b) "
            "RETURN collect(DISTINCT b.sequence) AS found"
        )

        def bare(text: str = text, node: Any = node) -> int:
            with driver.session() as session:
                return session.execute_read(
                    lambda tx: len(tx.run(text, history=history, sequence=node.sequence).single()["found"])
                )

        assert ask() == bare()
        ours, theirs = alternately([ask, bare], 5)
        yield Measure(
            f"Neo4j: {name}",
            "the bare query for sequences",
            round(ms(ours) / ms(theirs), 3),
            1.2,
            "at most",
            {"ours_ms": ms(ours), "peer_ms": ms(theirs)},
        )


def rate(work: str, peer: str, ours: list[float], theirs: list[float], bound: float | None) -> Measure:
    """How fast ours is, to how fast the peer is."""
    return Measure(
        work,
        peer,
        round(ms(theirs) / ms(ours), 3),
        bound,
        "at least",
        {"ours_ms": ms(ours), "peer_ms": ms(theirs), "rounds": len(ours)},
    )


def timed(work: Callable[[], object]) -> float:
    """The seconds that a piece of work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
