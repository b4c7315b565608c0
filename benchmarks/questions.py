"""Questions: the picture of a SQLite file beside Neo4j, and named queries with and without neighbours.

    python -m benchmarks.questions [--quick]

The picture: one question on an agent of 10,000 nodes and 140,000 edges, asked for the first time, again, and
after a commit; the peer is the same text on Neo4j. Neighbours: each named query on an agent of 1,000 nodes
that is alone in its database, and that lives among 10,000 others.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.commits import turn
from benchmarks.histories import dense
from benchmarks.report import Measure, alternately, finish, ms, options
from stateweave_graph import ANY_REVISION, AgentState, Append, CausalMirror, Repository, open_repository
from stateweave_graph.queries import named_queries
from stateweave_graph.shipped import examples_folder
from tests.support.neo4j_server import LTS, start, why_not

AGENT = "asked"
TEXT = """
MATCH (s:AgentState {agentId: $agent})
MATCH (n:CausalNode) WHERE n.history = s.history
RETURN n.kind AS kind, count(*) AS nodes, max(n.turn) AS turn
ORDER BY kind
"""


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    nodes, alone, others, rounds = (500, 100, 50, 3) if chosen.quick else (10_000, 1_000, 10_000, 7)
    reason = why_not(LTS)
    if reason:
        raise SystemExit(reason)
    measures: list[Measure] = []
    with tempfile.TemporaryDirectory() as folder, server(Path(folder) / "neo4j") as arguments:
        with open_repository(Path(folder) / "picture.db") as file, open_repository(**arguments) as remote:
            measures += picture(file, remote, nodes, rounds)
            remote.delete(AGENT)
        for engine, one, many in (
            ("SQLite", {"uri": str(Path(folder) / "alone.db")}, {"uri": str(Path(folder) / "many.db")}),
            ("Neo4j", arguments, arguments),
        ):
            measures += neighbours(engine, one, many, alone, others, rounds)
    finish("questions", measures, chosen)


@contextmanager
def server(home: Path) -> Iterator[dict[str, Any]]:
    """A server with a heap of 1 GB."""
    started = start(LTS, home, heap="1g")
    try:
        yield started.arguments()
    finally:
        started.stop()


def picture(file: Repository, remote: Repository, nodes: int, rounds: int) -> Iterator[Measure]:
    """The first question, the next, and the next after a commit."""
    state = dense(nodes)
    for repo in (file, remote):
        repo.import_state(AGENT, state)

    def ask(repo: Repository) -> object:
        return repo.cypher(TEXT, parameters={"agent": AGENT}, agents=[AGENT]).rows

    assert ask(file) == ask(remote)
    firsts = []
    for _ in range(3):
        file.close()  # the picture goes with it
        firsts.append(timed(lambda: ask(file)))
    for _ in range(3):
        ask(remote)
    here, there = alternately([lambda: ask(file), lambda: ask(remote)], rounds * 3)
    after = []
    for number in range(rounds):
        turn(file, AGENT, number, ANY_REVISION)
        after.append(timed(lambda: ask(file)))
    told = f"{nodes:,} nodes"
    yield seconds(f"picture of {told} made and asked", "1 s", firsts, 1.0)
    yield times(f"picture of {told} asked again", "the same on Neo4j", here, there, 1.0)
    more = ms(after) - ms(here)
    yield Measure(
        f"picture of {told}, what a commit adds to the next question",
        "50 ms",
        round(more / 50, 3),
        1.0,
        "at most",
        {"ours_ms": round(more, 3), "peer_ms": 50},
    )


def neighbours(
    engine: str, one: dict[str, Any], many: dict[str, Any], nodes: int, others: int, rounds: int
) -> Iterator[Measure]:
    """Each named query, alone and among others."""
    found: dict[str, dict[str, list[float]]] = {}
    for place, arguments in (("alone", one), ("among", many)):
        with open_repository(**arguments) as repo:
            if place == "alone" or engine == "SQLite":
                repo.import_state(AGENT, asked(nodes))
            if place == "among":
                crowd(repo, others)
            for name, ask in questions(repo).items():
                for _ in range(10):  # a server compiles what it runs often
                    ask()
                found.setdefault(name, {})[place] = [timed(ask) for _ in range(rounds)]
    for name, taken in found.items():
        yield times(
            f"{engine}: query {name}, among {others:,} other agents",
            "alone in the database",
            taken["among"],
            taken["alone"],
            1.5,
        )


def asked(nodes: int) -> Any:
    """An agent with something of everything: the coding agent's history and more turns."""
    mirror = CausalMirror(AgentState.from_json((examples_folder() / "coding-agent.json").read_bytes()))
    number = 0
    while mirror.node_count < nodes:
        mirror.append(Append(kind="goal", payload=f"goal {number}"))
        mirror.append(Append(kind="answer", payload=f"answer {number}"))
        number += 1
    return mirror.state()


def crowd(repo: Repository, others: int) -> None:
    """Other agents, with a turn each."""
    for number in range(others):
        said = [
            Append(kind="goal", payload=f"What of {number}?"),
            Append(kind="tool_call", payload={"name": "read_file", "args": {}}),
            Append(kind="tool_result", payload={"tool": "read_file", "result": "x"}),
            Append(kind="resource", payload={"path": "a.py", "operation": "read"}, resource_key="a.py"),
            Append(kind="answer", payload="Nothing."),
        ]
        repo.append(f"other-{number}", said, expected_revision=0)


def questions(repo: Repository) -> dict[str, Callable[[], object]]:
    """The named queries about one agent, with parameters that find something."""
    state = repo.load(AGENT).state
    answer = next(node.id for node in reversed(state.nodes) if node.kind == "answer")
    resource = next(node.resource_key for node in state.nodes if node.kind == "resource")
    given = {
        "node": answer,
        "key": resource,
        "revision": 1,
        "first": state.nodes[0].id,
        "second": answer,
        "limit": 10,
        "type": "memory",
        "turn": 3,
    }
    asks: dict[str, Callable[[], object]] = {}
    for name, query in named_queries().items():
        others = [parameter for parameter in query.parameters if parameter != "agent"]
        if "agent" in query.parameters and set(others) <= given.keys():
            parameters = {parameter: given[parameter] for parameter in others}
            asks[name] = partial(rows_of, repo, name, parameters)
    assert len(asks) >= 8, sorted(asks)
    return asks


def rows_of(repo: Repository, name: str, parameters: dict[str, Any]) -> object:
    """The rows of a named query about the agent."""
    return repo.query(name, agent=AGENT, **parameters).rows


def times(work: str, peer: str, ours: list[float], theirs: list[float], bound: float) -> Measure:
    """A time beside another."""
    figures = {"ours_ms": ms(ours), "peer_ms": ms(theirs), "rounds": len(ours)}
    return Measure(work, peer, round(ms(ours) / ms(theirs), 3), bound, "at most", figures)


def seconds(work: str, peer: str, ours: list[float], allowed: float) -> Measure:
    """A time beside what is allowed."""
    return Measure(
        work,
        peer,
        round(ms(ours) / 1000 / allowed, 3),
        1.0,
        "at most",
        {"ours_ms": ms(ours), "peer_ms": allowed * 1000},
    )


def timed(work: Callable[[], object]) -> float:
    """The seconds that a piece of work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
