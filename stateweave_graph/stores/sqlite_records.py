"""Records to rows of the SQLite file and back, inside a transaction that is open already."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Any

from stateweave_graph.records import (
    AgentRecord,
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
from stateweave_graph.stores.sqlite_connection import Connection

# The columns of the tables, in the order of their records; the writer uses some of them.
AGENT = (
    "agent_id, history, revision, generation, node_count, system_id, "
    "vocabulary, metadata, created_at, updated_at"
)
COMMIT = (
    "revision, commit_id, committed_at, committed_at_ms, first_sequence, last_sequence, "
    "digest, hash, request_hash, metadata, appended"
)
NODE = (
    "id, kind, payload, payload_hash, created_at, created_at_ms, sequence, turn, resource_key, extra, "
    "semantic_type, semantic_key, tool, operation, succeeded"
)
_REF = "id, sequence, kind, turn, created_at, resource_key, extra"
_TEXT = "id, sequence, kind, turn, created_at, resource_key, payload"
RESOURCE = "key, key_hash, head_id, head_sequence, versions, semantic_type, semantic_key"
FAILED = "at, run_id, input, error, usage, revision"
_PARENTS = """
SELECT sequence, group_concat(parent), group_concat(CASE WHEN same_resource THEN parent END) FROM parents
"""
_NO_PARENTS = (None, None, None)
_CHUNK = 500
_FEW = 1_000

_ANCESTORS = """
WITH RECURSIVE found(h, sequence) AS (
    SELECT h, parent FROM parents WHERE h = ? AND sequence = ?
    UNION
    SELECT p.h, p.parent FROM found JOIN parents p ON p.h = found.h AND p.sequence = found.sequence
)
SELECT sequence FROM found LIMIT ?
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

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._histories: dict[str, int | None] = {}

    def agents(self, after: str | None, limit: int) -> list[AgentRecord]:
        """Agents in the byte order of their ids, from behind ``after`` on."""
        rows = self._all(
            f"SELECT {AGENT} FROM agents WHERE agent_id > ? ORDER BY agent_id LIMIT ?",
            after or "",
            limit,
        )
        return [AgentRecord(*row) for row in rows]

    def agent(self, agent_id: str) -> AgentRecord | None:
        """An agent's record."""
        row = self._one(f"SELECT {AGENT}, h FROM agents WHERE agent_id = ?", agent_id)
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
                f"SELECT {RESOURCE} FROM resource_keys WHERE h = ? AND key_hash IN",
                history,
                list(wanted.key_hashes),
            )
        ]
        refs = self._refs_by_id(history, sorted(wanted.ids.union(record.head_id for record in resources)))
        return Known({ref.id: ref for ref in refs}, {record.key: record for record in resources}, commit)

    def commit(self, history: str, revision: int) -> CommitRecord | None:
        """One commit."""
        rows = self._commits(f"SELECT {COMMIT} FROM commits WHERE h = ? AND revision = ?", history, revision)
        return rows[0] if rows else None

    def commits(self, history: str, before: int | None, limit: int) -> list[CommitRecord]:
        """Commits, newest first, of revisions below ``before``."""
        return self._commits(
            f"SELECT {COMMIT} FROM commits WHERE h = ? AND revision < ? ORDER BY revision DESC LIMIT ?",
            history,
            2**62 if before is None else before,
            limit,
        )

    def nodes(self, history: str, first: int, last: int) -> Iterator[NodeRecord]:
        """Nodes of these sequences, both included, in order, one at a time."""
        rows = self._stream(
            f"SELECT {NODE} FROM nodes WHERE h = ? AND sequence BETWEEN ? AND ? ORDER BY sequence",
            self._h(history),
            first,
            last,
        )
        edges = self._stream(
            f"{_PARENTS} WHERE h = ? AND sequence BETWEEN ? AND ? GROUP BY sequence ORDER BY sequence",
            self._h(history),
            first,
            last,
        )
        child, *lists = next(edges, _NO_PARENTS)
        for row in rows:
            parents: list[tuple[int, ...]] = [(), ()]
            if child == row[6]:
                parents = list(map(_sequences, lists))
                child, *lists = next(edges, _NO_PARENTS)
            succeeded = None if row[14] is None else bool(row[14])
            yield NodeRecord._make((*row[:14], succeeded, *parents))

    def refs(self, history: str, first: int, last: int) -> Iterator[RefRecord]:
        """The same without payloads and parents."""
        rows = self._stream(
            f"SELECT {_REF} FROM nodes WHERE h = ? AND sequence BETWEEN ? AND ? ORDER BY sequence",
            self._h(history),
            first,
            last,
        )
        return (RefRecord(*row) for row in rows)

    def texts(self, history: str, before: int | None, kinds: Collection[str] | None) -> Iterator[TextRecord]:
        """What is searched of nodes, newest first, one at a time."""
        chosen = "" if kinds is None else f" AND kind IN ({','.join('?' * len(kinds))})"
        rows = self._stream(
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
            f"SELECT {RESOURCE} FROM resource_keys r WHERE h = ? {chosen} ORDER BY key",
            self._h(history),
        )
        return [ResourceKeyRecord(*row) for row in rows]

    def commit_at(self, history: str, ms: int) -> CommitRecord | None:
        """The newest commit that was not made after an instant."""
        rows = self._commits(
            f"SELECT {COMMIT} FROM commits WHERE h = ? AND committed_at_ms <= ? "
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
        edges = self._stream(
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
        """Sequences of all nodes that a node rests on, ascending, without itself.

        A few are walked to, edge by edge. Where they are many, one pass over the edges before the node finds
        them all, since parents stand before their children.
        """
        few = self._all(_ANCESTORS, self._h(history), sequence, _FEW + 1)
        if len(few) <= _FEW:
            return sorted(row[0] for row in few)
        reached = {sequence}
        for child, parents in self._stream(
            "SELECT sequence, group_concat(parent) FROM parents WHERE h = ? AND sequence <= ? "
            "GROUP BY sequence ORDER BY sequence DESC",
            self._h(history),
            sequence,
        ):
            if child in reached:
                reached.update(map(int, parents.split(",")))
        return sorted(reached - {sequence})

    def descendants(self, history: str, sequence: int) -> list[int]:
        """Sequences of all nodes that rest on a node, ascending, without itself, in one pass likewise."""
        reached = {sequence}
        for child, parents in self._stream(
            "SELECT sequence, group_concat(parent) FROM parents WHERE h = ? AND sequence > ? "
            "GROUP BY sequence ORDER BY sequence",
            self._h(history),
            sequence,
        ):
            if not reached.isdisjoint(map(int, parents.split(","))):
                reached.add(child)
        return sorted(reached - {sequence})

    def failures(self, history: str) -> list[FailedRunRecord]:
        """Failed runs, in the order in which they were recorded."""
        rows = self._all(f"SELECT {FAILED} FROM failed_runs WHERE h = ? ORDER BY position", self._h(history))
        return [FailedRunRecord(*row) for row in rows]

    def _h(self, history: str) -> int | None:
        """The number that stands for a history in the tables; none equals it where it is gone."""
        if history not in self._histories:
            row = self._one("SELECT h FROM agents WHERE history = ?", history)
            self._histories[history] = row[0] if row else None
        return self._histories[history]

    def _run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)

    def _stream(self, statement: str, *values: Any) -> sqlite3.Cursor:
        """Rows that whoever asked for them may leave unread."""
        return self._connection.stream(statement, values)

    def _all(self, statement: str, *values: Any) -> list[Any]:
        return self._run(statement, *values).fetchall()

    def _one(self, statement: str, *values: Any) -> Any:
        return self._run(statement, *values).fetchone()

    def _in_chunks(self, statement: str, history: str, values: Sequence[Any]) -> Iterator[Any]:
        """Rows of a statement that ends in ``IN``, for more values than SQLite takes at once."""
        for start in range(0, len(values), _CHUNK):
            chunk = values[start : start + _CHUNK]
            yield from self._stream(f"{statement} ({','.join('?' * len(chunk))})", self._h(history), *chunk)

    def _refs_by_id(self, history: str, ids: Sequence[str]) -> list[RefRecord]:
        rows = self._in_chunks(f"SELECT {_REF} FROM nodes WHERE h = ? AND id IN", history, ids)
        return [RefRecord(*row) for row in rows]

    def _commits(self, statement: str, history: str, *values: Any) -> list[CommitRecord]:
        rows = self._all(statement, self._h(history), *values)
        if not rows:
            return []
        frontiers: dict[int, list[int]] = {row[0]: [] for row in rows}
        for revision, sequence in self._stream(
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


def _sequences(text: str | None) -> tuple[int, ...]:
    """The numbers that ``group_concat`` put together, in order."""
    return () if text is None else tuple(sorted(map(int, text.split(","))))
