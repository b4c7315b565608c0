"""Records to rows of the SQLite file, inside a transaction that holds the write lock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any
from uuid import uuid4

from stateweave_graph.records import (
    AgentRecord,
    Batch,
    FailedRunRecord,
    HeadRecord,
    Known,
    NodeRecord,
    Wanted,
)
from stateweave_graph.stores.sqlite_connection import Connection
from stateweave_graph.stores.sqlite_records import (
    AGENT,
    COMMIT,
    FAILED,
    NODE,
    RESOURCE,
    SqliteReader,
)

_WRITTEN_AT_ONCE = 5_000


class SqliteWriter(SqliteReader):
    """Reads and writes records, in a transaction that holds the write lock (see ``StoreWriter``).

    Args:
        connection: a connection whose transaction has begun.
        report: called now and then with the number of nodes written so far.

    Attributes:
        deleted: whether anything was deleted.
    """

    def __init__(self, connection: Connection, report: Callable[[int], None] | None = None) -> None:
        super().__init__(connection)
        self._report = report
        self._written = 0
        self.deleted = False

    def lock(self, agent_id: str) -> AgentRecord | None:
        """An agent's record; the transaction has locked the whole file already."""
        return self.agent(agent_id)

    def lock_head(
        self, agent_id: str, wanted: Wanted, held: HeadRecord | None = None
    ) -> tuple[HeadRecord, Known] | None:
        """An agent's head and what is wanted beside it, locked."""
        agent = self.agent(agent_id)
        head = held if held is not None and held.agent == agent else self.head(agent_id)
        return None if head is None else (head, self.lookup(head.agent.history, wanted))

    def new_history(self, agent_id: str) -> str:
        """A random id: the file is written in one transaction, so nothing is taken up again."""
        return uuid4().hex

    def write(self, batch: Batch) -> None:
        """Write one commit."""
        self._write_agent(batch)
        h = self._h(batch.agent.history)
        commit = batch.commit
        self._insert(
            f"INSERT INTO commits (h, {COMMIT})",
            [
                (
                    h,
                    *commit[:10],
                    None if commit.appended is None else json.dumps(commit.appended),
                )
            ],
        )
        self._insert(
            "INSERT INTO frontiers (h, revision, position, sequence)",
            [(h, commit.revision, position, sequence) for position, sequence in enumerate(commit.frontier)],
        )
        for start in range(0, len(batch.nodes), _WRITTEN_AT_ONCE):
            nodes = batch.nodes[start : start + _WRITTEN_AT_ONCE]
            self._insert(f"INSERT INTO nodes (h, {NODE})", [(h, *node[:15]) for node in nodes])
            self._insert("INSERT INTO parents (h, sequence, parent, same_resource)", _edges(h, nodes))
            self._written += len(nodes)
            if self._report is not None:
                self._report(self._written)
        self._insert(
            f"INSERT OR REPLACE INTO resource_keys (h, {RESOURCE})",
            [(h, *record) for record in batch.resources],
        )
        self._insert(
            "INSERT INTO versions (h, key_hash, version, sequence)",
            [(h, *record) for record in batch.versions],
        )

    def add_failures(self, history: str, failures: Iterable[FailedRunRecord]) -> None:
        """Keep failed runs beside a history."""
        h = self._h(history)
        (newest,) = self._one("SELECT coalesce(max(position), 0) FROM failed_runs WHERE h = ?", h)
        self._insert(
            f"INSERT INTO failed_runs (h, position, {FAILED})",
            [(h, position, *failure) for position, failure in enumerate(failures, start=newest + 1)],
        )

    def set_vocabulary(self, agent_id: str, vocabulary: str | None) -> None:
        """Set an agent's vocabulary."""
        self._run("UPDATE agents SET vocabulary = ? WHERE agent_id = ?", vocabulary, agent_id)

    def delete(self, agent_id: str) -> None:
        """Remove an agent and all that is below it."""
        agent = self.agent(agent_id)
        if agent is None:
            return
        for table in _TABLES:
            self._run(f"DELETE FROM {table} WHERE h = ?", self._h(agent.history))
        self._histories.clear()
        self.deleted = True

    def _write_agent(self, batch: Batch) -> None:
        agent = batch.agent
        if batch.begins:
            self._insert(f"INSERT INTO agents ({AGENT})", [tuple(agent)])
            self._histories.pop(agent.history, None)
            return
        self._run(
            "UPDATE agents SET revision = ?, node_count = ?, system_id = ?, updated_at = ? WHERE history = ?",
            agent.revision,
            agent.node_count,
            agent.system_id,
            agent.updated_at,
            agent.history,
        )

    def _insert(self, statement: str, rows: Sequence[tuple[Any, ...]] | Iterator[tuple[Any, ...]]) -> None:
        columns = statement.count(",") + 1
        self._connection.executemany(f"{statement} VALUES ({','.join('?' * columns)})", rows)


_TABLES = (
    "commits",
    "frontiers",
    "nodes",
    "parents",
    "resource_keys",
    "versions",
    "failed_runs",
    "agents",
)


def _edges(h: int | None, nodes: Iterable[NodeRecord]) -> Iterator[tuple[Any, ...]]:
    return chain.from_iterable(map(_edges_of, repeat(h), nodes))


def _edges_of(h: int | None, node: NodeRecord) -> Iterable[tuple[Any, ...]]:
    joined: Iterable[int | None] = repeat(None)
    if node.resource_parents:
        joined = [1 if parent in node.resource_parents else None for parent in node.parents]
    return zip(repeat(h), repeat(node.sequence), node.parents, joined, strict=False)
