"""Records to rows of the SQLite file and back, inside a transaction that is open already."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import uuid4

from stateweave_graph.records import (
    AgentRecord,
    Batch,
    CommitRecord,
    FailedRunRecord,
    HeadRecord,
    Known,
    NodeRecord,
    OutlineRecord,
    RefRecord,
    ResourceKeyRecord,
    TextRecord,
    Wanted,
)

_AGENT = (
    "agent_id, history, revision, generation, node_count, system_id, "
    "vocabulary, metadata, created_at, updated_at"
)
_COMMIT = (
    "revision, commit_id, committed_at, committed_at_ms, first_sequence, last_sequence, "
    "digest, hash, request_hash, metadata, appended"
)
_NODE = (
    "id, kind, payload, payload_hash, created_at, created_at_ms, sequence, turn, resource_key, extra, "
    "semantic_type, semantic_key, tool, operation, succeeded"
)
_REF = "id, sequence, kind, turn, created_at, resource_key, extra"
_TEXT = "id, sequence, kind, turn, created_at, resource_key, payload"
_RESOURCE = "key, key_hash, head_id, head_sequence, versions, semantic_type, semantic_key"
_FAILED = "at, run_id, input, error, usage, revision"
_CHUNK = 500
_WRITTEN_AT_ONCE = 5_000

_ANCESTORS = """
WITH RECURSIVE found(sequence) AS (
    SELECT parent FROM parents WHERE h = :h AND sequence = :sequence
    UNION
    SELECT p.parent FROM found JOIN parents p ON p.h = :h AND p.sequence = found.sequence
)
SELECT sequence FROM found ORDER BY sequence
"""

_RESOURCES_AT = """
SELECT r.key, r.key_hash, n.id, v.sequence, v.version, r.semantic_type, r.semantic_key
FROM resource_keys r
JOIN versions v ON v.h = r.h AND v.key_hash = r.key_hash AND v.version = (
    SELECT max(version) FROM versions w
    WHERE w.h = r.h AND w.key_hash = r.key_hash AND w.sequence <= ?
)
JOIN nodes n ON n.h = r.h AND n.sequence = v.sequence
WHERE r.h = ? {chosen}
ORDER BY r.key
"""


class SqliteReader:
    """Reads records (see ``StoreReader``)."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._histories: dict[str, int | None] = {}

    def agents(self, after: str | None, limit: int) -> list[AgentRecord]:
        """Agents in the byte order of their ids, from behind ``after`` on."""
        rows = self._all(
            f"SELECT {_AGENT} FROM agents WHERE agent_id > ? ORDER BY agent_id LIMIT ?", after or "", limit
        )
        return [AgentRecord(*row) for row in rows]

    def agent(self, agent_id: str) -> AgentRecord | None:
        """An agent's record."""
        row = self._one(f"SELECT {_AGENT}, h FROM agents WHERE agent_id = ?", agent_id)
        if row is None:
            return None
        record = AgentRecord(*row[:-1])
        self._histories[record.history] = row[-1]
        return record

    def head(self, agent_id: str) -> HeadRecord | None:
        """An agent's newest commit and what the next one must know; no more is read."""
        agent = self.agent(agent_id)
        if agent is None:
            return None
        commit = self.commit(agent.history, agent.revision)
        if commit is None:
            raise sqlite3.DatabaseError(f"malformed: agent {agent_id!r} has no commit {agent.revision}")
        frontier = {ref.sequence: ref for ref in self.refs_at(agent.history, commit.frontier)}
        system = self._refs_by_id(agent.history, [agent.system_id]) if agent.system_id else []
        newest = self._one(
            "SELECT turn FROM nodes WHERE h = ? AND sequence = ?", self._h(agent.history), agent.node_count
        )
        return HeadRecord(
            agent=agent,
            commit=commit,
            frontier=tuple(frontier[sequence] for sequence in commit.frontier),
            system=system[0] if system else None,
            turn=newest[0] if newest else 0,
        )

    def lookup(self, history: str, wanted: Wanted) -> Known:
        """Those of the nodes, resources and the commit wanted that are there."""
        commit = None
        if wanted.commit_id is not None:
            row = self._one(
                "SELECT revision FROM commits WHERE h = ? AND commit_id = ?",
                self._h(history),
                wanted.commit_id,
            )
            commit = self.commit(history, row[0]) if row else None
        resources = [
            ResourceKeyRecord(*row)
            for row in self._in_chunks(
                f"SELECT {_RESOURCE} FROM resource_keys WHERE h = ? AND key_hash IN",
                history,
                list(wanted.key_hashes),
            )
        ]
        refs = self._refs_by_id(history, sorted(wanted.ids.union(record.head_id for record in resources)))
        return Known({ref.id: ref for ref in refs}, {record.key: record for record in resources}, commit)

    def commit(self, history: str, revision: int) -> CommitRecord | None:
        """One commit."""
        rows = self._commits(f"SELECT {_COMMIT} FROM commits WHERE h = ? AND revision = ?", history, revision)
        return rows[0] if rows else None

    def commits(self, history: str, before: int | None, limit: int) -> list[CommitRecord]:
        """Commits, newest first, of revisions below ``before``."""
        return self._commits(
            f"SELECT {_COMMIT} FROM commits WHERE h = ? AND revision < ? ORDER BY revision DESC LIMIT ?",
            history,
            2**62 if before is None else before,
            limit,
        )

    def nodes(self, history: str, first: int, last: int) -> Iterator[NodeRecord]:
        """Nodes of these sequences, both included, in order, one at a time."""
        rows = self._run(
            f"SELECT {_NODE} FROM nodes WHERE h = ? AND sequence BETWEEN ? AND ? ORDER BY sequence",
            self._h(history),
            first,
            last,
        )
        edges = self._run(
            "SELECT sequence, parent, same_resource FROM parents WHERE h = ? AND sequence BETWEEN ? AND ? "
            "ORDER BY sequence, parent",
            self._h(history),
            first,
            last,
        )
        by_child = groupby(edges, key=itemgetter(0))
        child, group = next(by_child, (None, iter(())))
        for row in rows:
            parents: list[Any] = []
            if child == row[6]:
                parents = list(group)
                child, group = next(by_child, (None, iter(())))
            succeeded = None if row[14] is None else bool(row[14])
            all_parents = tuple([edge[1] for edge in parents])
            yield NodeRecord._make(
                (*row[:14], succeeded, all_parents, tuple([edge[1] for edge in parents if edge[2]]))
            )

    def refs(self, history: str, first: int, last: int) -> Iterator[RefRecord]:
        """The same without payloads and parents."""
        rows = self._run(
            f"SELECT {_REF} FROM nodes WHERE h = ? AND sequence BETWEEN ? AND ? ORDER BY sequence",
            self._h(history),
            first,
            last,
        )
        return (RefRecord(*row) for row in rows)

    def texts(self, history: str, before: int | None, kinds: Collection[str] | None) -> Iterator[TextRecord]:
        """What is searched of nodes, newest first, one at a time."""
        chosen = "" if kinds is None else f" AND kind IN ({','.join('?' * len(kinds))})"
        rows = self._run(
            f"SELECT {_TEXT} FROM nodes WHERE h = ? AND sequence < ?{chosen} ORDER BY sequence DESC",
            self._h(history),
            2**62 if before is None else before,
            *(kinds or ()),
        )
        return map(TextRecord._make, rows)

    def ids(self, history: str, prefix: str, limit: int) -> list[str]:
        """The ids of nodes that begin with a prefix, ascending."""
        statement = "SELECT id FROM nodes WHERE h = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT ?"
        return [row[0] for row in self._run(statement, self._h(history), prefix, f"{prefix}\x7f", limit)]

    def refs_at(self, history: str, sequences: Sequence[int]) -> list[RefRecord]:
        """Nodes of chosen sequences without payloads and parents, in order of sequence."""
        wanted = set(sequences)
        if len(wanted) > _CHUNK and len(wanted) * 4 > max(wanted) - min(wanted):
            return [ref for ref in self.refs(history, min(wanted), max(wanted)) if ref.sequence in wanted]
        rows = self._in_chunks(
            f"SELECT {_REF} FROM nodes WHERE h = ? AND sequence IN", history, sorted(wanted)
        )
        return sorted((RefRecord(*row) for row in rows), key=lambda ref: ref.sequence)

    def nodes_at(self, history: str, sequences: Sequence[int]) -> Iterator[NodeRecord]:
        """Nodes of chosen sequences, in order of sequence."""
        ordered = sorted(set(sequences))
        for _, run in groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0]):
            span = [sequence for _, sequence in run]
            yield from self.nodes(history, span[0], span[-1])

    def node(self, history: str, node_id: str) -> NodeRecord | None:
        """One node."""
        row = self._one("SELECT sequence FROM nodes WHERE h = ? AND id = ?", self._h(history), node_id)
        return next(self.nodes(history, row[0], row[0])) if row else None

    def resources(
        self, history: str, semantic_only: bool, last: int | None = None
    ) -> list[ResourceKeyRecord]:
        """Resources, in the byte order of their keys, as they are or were (see ``StoreReader``)."""
        chosen = "AND r.semantic_type IS NOT NULL" if semantic_only else ""
        if last is not None:
            rows = self._all(_RESOURCES_AT.format(chosen=chosen), last, self._h(history))
            return [ResourceKeyRecord(*row) for row in rows]
        rows = self._all(
            f"SELECT {_RESOURCE} FROM resource_keys r WHERE h = ? {chosen} ORDER BY key", self._h(history)
        )
        return [ResourceKeyRecord(*row) for row in rows]

    def commit_at(self, history: str, ms: int) -> CommitRecord | None:
        """The newest commit that was not made after an instant."""
        rows = self._commits(
            f"SELECT {_COMMIT} FROM commits WHERE h = ? AND committed_at_ms <= ? "
            "ORDER BY revision DESC LIMIT 1",
            history,
            ms,
        )
        return rows[0] if rows else None

    def parents_of(self, history: str, sequences: Collection[int]) -> list[tuple[int, int]]:
        """The edges out of some nodes, as pairs of child and parent, by sequence."""
        found = self._in_chunks(
            "SELECT sequence, parent FROM parents WHERE h = ? AND sequence IN", history, list(sequences)
        )
        return list(found)

    def children_of(self, history: str, sequences: Collection[int]) -> list[tuple[int, int]]:
        """The edges into some nodes, as pairs of child and parent, by sequence.

        They are behind the first of them; one pass finds them all.
        """
        wanted = set(sequences)
        if not wanted:
            return []
        edges = self._run(
            "SELECT sequence, parent FROM parents WHERE h = ? AND sequence > ?", self._h(history), min(wanted)
        )
        return [(child, parent) for child, parent in edges if parent in wanted]

    def outlines(self, history: str, spans: Sequence[tuple[int, int]]) -> list[OutlineRecord]:
        """What spans of sequences hold, both ends included; empty for an empty span."""
        h = self._h(history)
        within = "FROM nodes WHERE h = ? AND sequence BETWEEN ? AND ?"
        outlines = []
        for span in spans:
            kinds = dict(self._all(f"SELECT kind, count(*) {within} GROUP BY kind", h, *span))
            told = [
                self._one(
                    f"SELECT payload {within} AND kind = ? ORDER BY sequence DESC LIMIT 1", h, *span, kind
                )
                if kind in kinds
                else (None,)
                for kind in ("goal", "answer")
            ]
            outlines.append(OutlineRecord(kinds, told[0][0], told[1][0]))
        return outlines

    def versions(self, history: str, key_hash: str) -> list[int]:
        """Sequences of the versions of a resource, oldest first."""
        rows = self._all(
            "SELECT sequence FROM versions WHERE h = ? AND key_hash = ? ORDER BY version",
            self._h(history),
            key_hash,
        )
        return [row[0] for row in rows]

    def ancestors(self, history: str, sequence: int) -> list[int]:
        """Sequences of all nodes that a node rests on, ascending, without itself."""
        cursor = self._connection.execute(_ANCESTORS, {"h": self._h(history), "sequence": sequence})
        return [row[0] for row in cursor]

    def descendants(self, history: str, sequence: int) -> list[int]:
        """Sequences of all nodes that rest on a node, ascending, without itself.

        Children stand behind their parents, so one pass over the edges behind the node finds them all.
        """
        reached = {sequence}
        for child, parent in self._run(
            "SELECT sequence, parent FROM parents WHERE h = ? AND sequence > ? ORDER BY sequence",
            self._h(history),
            sequence,
        ):
            if parent in reached:
                reached.add(child)
        return sorted(reached - {sequence})

    def failures(self, history: str) -> list[FailedRunRecord]:
        """Failed runs, in the order in which they were recorded."""
        rows = self._all(f"SELECT {_FAILED} FROM failed_runs WHERE h = ? ORDER BY position", self._h(history))
        return [FailedRunRecord(*row) for row in rows]

    def _h(self, history: str) -> int | None:
        """The number that stands for a history in the tables; none equals it where it is gone."""
        if history not in self._histories:
            row = self._one("SELECT h FROM agents WHERE history = ?", history)
            self._histories[history] = row[0] if row else None
        return self._histories[history]

    def _run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    def _all(self, statement: str, *values: Any) -> list[Any]:
        return self._run(statement, *values).fetchall()

    def _one(self, statement: str, *values: Any) -> Any:
        return self._run(statement, *values).fetchone()

    def _in_chunks(self, statement: str, history: str, values: Sequence[Any]) -> Iterator[Any]:
        """Rows of a statement that ends in ``IN``, for more values than SQLite takes at once."""
        for start in range(0, len(values), _CHUNK):
            chunk = values[start : start + _CHUNK]
            yield from self._run(f"{statement} ({','.join('?' * len(chunk))})", self._h(history), *chunk)

    def _refs_by_id(self, history: str, ids: Sequence[str]) -> list[RefRecord]:
        rows = self._in_chunks(f"SELECT {_REF} FROM nodes WHERE h = ? AND id IN", history, ids)
        return [RefRecord(*row) for row in rows]

    def _commits(self, statement: str, history: str, *values: Any) -> list[CommitRecord]:
        rows = self._all(statement, self._h(history), *values)
        if not rows:
            return []
        frontiers: dict[int, list[int]] = {row[0]: [] for row in rows}
        for revision, sequence in self._run(
            "SELECT revision, sequence FROM frontiers WHERE h = ? AND revision BETWEEN ? AND ? "
            "ORDER BY revision, position",
            self._h(history),
            min(frontiers),
            max(frontiers),
        ):
            frontiers[revision].append(sequence)
        return [
            CommitRecord._make(
                (
                    *row[:10],
                    tuple(frontiers[row[0]]),
                    None if row[10] is None else tuple(json.loads(row[10])),
                )
            )
            for row in rows
        ]


class SqliteWriter(SqliteReader):
    """Reads and writes records, in a transaction that holds the write lock (see ``StoreWriter``).

    Args:
        connection: a connection whose transaction has begun.
        report: called now and then with the number of nodes written so far.
    """

    def __init__(self, connection: sqlite3.Connection, report: Callable[[int], None] | None = None) -> None:
        super().__init__(connection)
        self._report = report
        self._written = 0

    def lock(self, agent_id: str) -> AgentRecord | None:
        """An agent's record; the transaction has locked the whole file already."""
        return self.agent(agent_id)

    def lock_head(self, agent_id: str, wanted: Wanted) -> tuple[HeadRecord, Known] | None:
        """An agent's head and what is wanted beside it, locked."""
        head = self.head(agent_id)
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
            f"INSERT INTO commits (h, {_COMMIT})",
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
            self._insert(f"INSERT INTO nodes (h, {_NODE})", [(h, *node[:15]) for node in nodes])
            self._insert("INSERT INTO parents (h, sequence, parent, same_resource)", _edges(h, nodes))
            self._written += len(nodes)
            if self._report is not None:
                self._report(self._written)
        self._insert(
            f"INSERT OR REPLACE INTO resource_keys (h, {_RESOURCE})",
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
            f"INSERT INTO failed_runs (h, position, {_FAILED})",
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

    def _write_agent(self, batch: Batch) -> None:
        agent = batch.agent
        if batch.begins:
            self._insert(f"INSERT INTO agents ({_AGENT})", [tuple(agent)])
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
    for node in nodes:
        for parent in node.parents:
            yield h, node.sequence, parent, 1 if parent in node.resource_parents else None
