"""Commits of a turn of six nodes: after many nodes as after few, and beside a transaction written by hand.

    python -m benchmarks.commits [--quick]

Warm: a repository that stays open. The twin written by hand makes the same rows, in one transaction that is
synced as ours is (SQLite), or two statements in one transaction of the driver (Neo4j); it works nothing out
and checks nothing. Cold: a process that opens, commits and closes, timed from within, after its imports.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from neo4j import GraphDatabase

from benchmarks.histories import dense
from benchmarks.report import Measure, finish, ms, options, percentile
from stateweave_graph import Append, Commit, ExpectedRevision, Repository, open_repository
from stateweave_graph.cyphertext import statement
from stateweave_graph.records import Batch
from stateweave_graph.stores.neo4j_writer import Neo4jWriter, write_parameters
from stateweave_graph.stores.sqlite_connection import connect
from stateweave_graph.stores.sqlite_writer import SqliteWriter
from tests.support.neo4j_server import LTS, start, why_not

FEW, MANY = "few", "many"

COLD = """
import json, sys, time
import stateweave_graph.stores.neo4j
from stateweave_graph import ANY_REVISION, open_repository
from benchmarks.commits import turn
arguments, agent = json.loads(sys.argv[1]), sys.argv[2]
with open_repository(":memory:") as repo:  # imports what is imported where it is used
    turn(repo, agent, 0, 0)
began = time.perf_counter()
with open_repository(**arguments) as repo:
    turn(repo, agent, time.time(), ANY_REVISION)
print(time.perf_counter() - began)
"""


class Twin(Protocol):
    """Another copy of the agent with many nodes, to which the same rows are written by hand."""

    def note(self, batch: Batch) -> None:
        """Make everything ready that a commit writes."""

    def again(self) -> None:
        """Write it."""


class Engine(NamedTuple):
    """Where commits are made.

    Attributes:
        name: of the engine.
        arguments: of ``open_repository``.
        batches: what the writer was given last.
        twin: the twin of the agent with many nodes.
    """

    name: str
    arguments: dict[str, Any]
    batches: list[Batch]
    twin: Twin


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    sizes = {FEW: 100, MANY: 1_000} if chosen.quick else {FEW: 1_000, MANY: 100_000}
    rounds, colds = (20, 3) if chosen.quick else (2_000, 40)
    reason = why_not(LTS)
    if reason:
        raise SystemExit(reason)
    measures = []
    with tempfile.TemporaryDirectory() as folder:
        for engine_at in (sqlite, neo4j):
            with engine_at(Path(folder), sizes) as engine:
                measures += warm(engine, sizes, rounds)
                measures.append(cold(engine, sizes, colds))
    finish("commits", measures, chosen)


def turn(repo: Repository, agent: str, number: float, expected: ExpectedRevision) -> Commit:
    """Commit a turn of six nodes."""
    return repo.append(agent, appends(number), expected_revision=expected)


def appends(number: float) -> list[Append]:
    """A turn of six nodes, each turn another one."""
    goal = Append(kind="goal", payload=f"Question {number}?")
    call = Append(kind="tool_call", payload={"name": "read_file", "args": {"path": f"src/{number}.py"}})
    result = Append(kind="tool_result", payload={"tool": "read_file", "result": "some words of it " * 8})
    thought = Append(kind="inference", payload=f"It says {number}.", parents=[goal, result])
    memory = Append(
        kind="semantic",
        payload={"type": "memory", "key": "last", "content": number},
        parents=[result],
        resource_key="semantic:memory:last",
        advance=False,
    )
    answer = Append(kind="answer", payload=f"It is {number}.", parents=[goal, call, result, thought])
    return [goal, call, result, thought, memory, answer]


def warm(engine: Engine, sizes: dict[str, int], rounds: int) -> Iterator[Measure]:
    """The commit itself after few nodes and after many, in turns, and the twin by hand after many."""
    ours: dict[str, list[float]] = {FEW: [], MANY: []}
    by_hand: list[float] = []
    with open_repository(**engine.arguments) as repo:
        heads: dict[str, Any] = {agent: repo.head(agent) for agent in ours}
        for number in range(rounds + 5):
            for agent, times in ours.items():
                said = appends(number)
                began = time.perf_counter()
                heads[agent] = repo.append(agent, said, expected_revision=heads[agent])
                times.append(time.perf_counter() - began)
            engine.twin.note(engine.batches[0])
            by_hand.append(timed(engine.twin.again))
    few, many, hand = ours[FEW][5:], ours[MANY][5:], by_hand[5:]
    spread = {"p99_ms": percentile(many, 0.99), "longest_ms": percentile(many, 1.0), "commits": rounds}
    yield Measure(
        f"{engine.name}: commit of 6 nodes after {sizes[MANY]:,}",
        f"after {sizes[FEW]:,}",
        round(ms(many) / ms(few), 3),
        1.3,
        "at most",
        {"ours_ms": ms(many), "peer_ms": ms(few), **spread},
    )
    yield Measure(
        f"{engine.name}: commit of 6 nodes after {sizes[MANY]:,}",
        "the same rows by hand",
        round(ms(many) / ms(hand), 3),
        2.0 if engine.name == "SQLite" else 1.15,
        "at most",
        {"ours_ms": ms(many), "peer_ms": ms(hand), "peer_p99_ms": percentile(hand, 0.99), **spread},
    )


def cold(engine: Engine, sizes: dict[str, int], rounds: int) -> Measure:
    """A process of its own for each commit."""
    times: dict[str, list[float]] = {FEW: [], MANY: []}
    for number in range(rounds + 1):
        for agent in (FEW, MANY) if number % 2 else (MANY, FEW):
            done = subprocess.run(
                [sys.executable, "-c", COLD, json.dumps(engine.arguments), agent],
                capture_output=True,
                text=True,
                check=True,
            )
            times[agent].append(float(done.stdout))
    few, many = times[FEW][1:], times[MANY][1:]
    return Measure(
        f"{engine.name}: open, commit, close after {sizes[MANY]:,}",
        f"after {sizes[FEW]:,}",
        round(statistics.median(many) / statistics.median(few), 3),
        1.5,
        "at most",
        {"ours_ms": ms(many), "peer_ms": ms(few), "processes": rounds},
    )


@contextmanager
def sqlite(folder: Path, sizes: dict[str, int]) -> Iterator[Engine]:
    """A file, and a copy of it for the twin."""
    path, twin = folder / "commits.db", folder / "twin.db"
    with open_repository(path) as repo:
        for agent, nodes in sizes.items():
            repo.import_state(agent, dense(nodes))
    shutil.copy(path, twin)
    batches: list[Batch] = []
    with listening(SqliteWriter, batches), closing(connect(str(twin), 30.0)) as connection:
        yield Engine("SQLite", {"uri": str(path)}, batches, SqliteTwin(connection))


class SqliteTwin:
    """Plain statements on a file: what our writer sends is noted, and sent again."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._sent: list[tuple[str, list[Any]]] = []

    def note(self, batch: Batch) -> None:
        """Let our writer write here."""
        self._sent.clear()
        SqliteWriter(self).write(batch)  # type: ignore[arg-type]

    def again(self) -> None:
        """One transaction: the revision is read, and the rows are written."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("SELECT revision FROM agents WHERE agent_id = ?", (MANY,)).fetchone()
        for text, rows in self._sent:
            self._connection.executemany(text, rows)
        self._connection.execute("COMMIT")

    def execute(self, text: str, values: Any = ()) -> Any:
        """A statement of our writer."""
        if text.startswith("SELECT"):
            return self._connection.execute(text, values)
        self._sent.append((text, [tuple(values)]))
        return None

    def executemany(self, text: str, rows: Any) -> None:
        """A statement of our writer with its rows; what follows refers to the number of a new agent."""
        if text.startswith("INSERT INTO agents"):
            self._connection.executemany(text, rows)
            return
        self._sent.append((text, list(rows)))


@contextmanager
def neo4j(folder: Path, sizes: dict[str, int]) -> Iterator[Engine]:
    """A server, and a copy of the agent for the twin."""
    server = start(LTS, folder / "neo4j", heap="1g")
    try:
        arguments = server.arguments()
        with open_repository(**arguments) as repo:
            for agent, nodes in sizes.items():
                repo.import_state(agent, dense(nodes))
            history = repo.fork(MANY, "twin").history
        batches: list[Batch] = []
        login = (arguments["user"], arguments["password"])
        with listening(Neo4jWriter, batches), GraphDatabase.driver(arguments["uri"], auth=login) as driver:
            yield Engine("Neo4j", arguments, batches, Neo4jTwin(driver, history))
    finally:
        server.stop()


class Neo4jTwin:
    """Two statements in one transaction of the driver."""

    def __init__(self, driver: Any, history: str) -> None:
        self._driver = driver
        self._history = history
        self._parameters: dict[str, Any] = {}

    def note(self, batch: Batch) -> None:
        """Make the parameters."""
        agent = batch.agent._replace(agent_id="twin", history=self._history)
        self._parameters = write_parameters(batch._replace(agent=agent))

    def again(self) -> None:
        """The agent is locked and its revision read, and everything written."""
        with self._driver.session() as session:
            session.execute_write(self._work)

    def _work(self, tx: Any) -> None:
        lock = "MATCH (s:AgentState {agentId: 'twin'}) SET s.updatedAt = $now RETURN s.revision AS revision"
        tx.run(lock, now=self._parameters["agent"]["updatedAt"]).single()
        tx.run(statement("write"), self._parameters).consume()


@contextmanager
def listening(writer: type[Any], batches: list[Batch]) -> Iterator[None]:
    """Note the newest batch that a writer is given."""
    write = writer.write

    def noting(self: Any, batch: Batch) -> None:
        batches[:] = [batch]
        write(self, batch)

    writer.write = noting
    try:
        yield
    finally:
        writer.write = write


def timed(work: Callable[[], object]) -> float:
    """The seconds that a piece of work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
