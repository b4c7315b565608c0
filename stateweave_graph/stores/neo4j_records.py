"""Records to nodes and edges of Neo4j and back, inside a transaction that is open already.

The graph and its property names are design.md, *The graph*; the statements are in ``cypher/store``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from neo4j import ManagedTransaction

from stateweave_graph.cyphertext import statement
from stateweave_graph.errors import StoreError
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

_FETCH_AT_ONCE = 2_000
"""Sequences sent with one statement."""

_PATIENCE = 1_000
"""How often an agent is read again while a commit is being applied, which takes milliseconds."""


class Neo4jReader:
    """Reads records (see ``StoreReader``)."""

    def __init__(self, transaction: ManagedTransaction) -> None:
        self._transaction = transaction
        self._looked_up: dict[str, str] = {}
        self._since = 0

    def agent_gone(self) -> str | None:
        """An agent that was looked up here, and was deleted since; None where all are there.

        Neo4j isolates at read-committed: each statement sees what is there by then. Histories only grow, so
        one that is there at the end was whole all the time.
        """
        if not self._looked_up or self._since == 0:
            return None
        there = {row["agent_id"]: row["history"] for row in self._run("there", agent_ids=[*self._looked_up])}
        return next((name for name, history in self._looked_up.items() if there.get(name) != history), None)

    def agents(self, after: str | None, limit: int) -> list[AgentRecord]:
        """Agents in the byte order of their ids, from behind ``after`` on."""
        rows = self._run("agents", after=after or "", limit=limit)
        return [agent_record(row["agent"]) for row in rows if is_there(row)]

    def agent(self, agent_id: str) -> AgentRecord | None:
        """An agent's record."""
        for _ in range(_PATIENCE):
            row = self._one("agent", agent_id=agent_id)
            if row is None or not is_there(row):
                return None
            if row["settled"]:
                return self._found(agent_record(row["agent"]))
        raise StoreError(
            f"agent {agent_id!r} and its newest commit don't fit together: the database was changed by "
            "another program; restore it from a backup"
        )

    def head(self, agent_id: str) -> HeadRecord | None:
        """An agent's newest commit and what the next one must know; no more is read."""
        while self.agent(agent_id) is not None:
            row = self._one("head", agent_id=agent_id)
            if (
                row is not None and is_there(row) and row["agent"] == row["after"]
            ):  # else a commit moves it now
                head = _head(row)
                self._found(head.agent)
                return head
        return None

    def lookup(self, history: str, wanted: Wanted) -> Known:
        """Those of the nodes, resources and the commit wanted that are there."""
        row = self._one("lookup", history=history, **wanted_parameters(wanted))
        return _known(row or {})

    def commit(self, history: str, revision: int) -> CommitRecord | None:
        """One commit."""
        row = self._one("commit", history=history, revision=revision)
        return None if row is None else _commit(row["commit"], row["frontier"])

    def commits(self, history: str, before: int | None, limit: int) -> list[CommitRecord]:
        """Commits, newest first, of revisions below ``before``."""
        rows = self._run("commits", history=history, before=2**62 if before is None else before, limit=limit)
        return [_commit(row["commit"], row["frontier"]) for row in rows]

    def nodes(self, history: str, first: int, last: int) -> Iterator[NodeRecord]:
        """Nodes of these sequences, both included, in order, one at a time."""
        for row in self._run("nodes", history=history, first=first, last=last):
            yield _node(row["node"], row["parents"])

    def nodes_at(self, history: str, sequences: Sequence[int]) -> Iterator[NodeRecord]:
        """Nodes of chosen sequences, in order of sequence."""
        for chunk in _chunks(sequences):
            for row in self._run("nodes_at", history=history, sequences=chunk):
                yield _node(row["node"], row["parents"])

    def refs(self, history: str, first: int, last: int) -> Iterator[RefRecord]:
        """The same as ``nodes`` without payloads and parents."""
        for row in self._run("refs", history=history, first=first, last=last):
            yield RefRecord(**row)

    def texts(self, history: str, before: int | None, kinds: Collection[str] | None) -> Iterator[TextRecord]:
        """What is searched of nodes, newest first, one at a time."""
        below = 2**62 if before is None else before
        rows = self._run("texts", history=history, before=below, kinds=None if kinds is None else [*kinds])
        return (TextRecord(**row) for row in rows)

    def refs_at(self, history: str, sequences: Sequence[int]) -> list[RefRecord]:
        """Nodes of chosen sequences without payloads and parents, in order of sequence."""
        wanted = set(sequences)
        if len(wanted) > _FETCH_AT_ONCE / 4 and len(wanted) * 4 > max(wanted) - min(wanted):
            return [ref for ref in self.refs(history, min(wanted), max(wanted)) if ref.sequence in wanted]
        return [
            RefRecord(**row)
            for chunk in _chunks(sequences)
            for row in self._run("refs_at", history=history, sequences=chunk)
        ]

    def node(self, history: str, node_id: str) -> NodeRecord | None:
        """One node."""
        row = self._one("node", history=history, id=node_id)
        return None if row is None else _node(row["node"], row["parents"])

    def ids(self, history: str, prefix: str, limit: int) -> list[str]:
        """The ids of nodes that begin with a prefix, ascending."""
        return [row["id"] for row in self._run("ids", history=history, prefix=prefix, limit=limit)]

    def resources(
        self, history: str, semantic_only: bool, last: int | None = None
    ) -> list[ResourceKeyRecord]:
        """Resources, in the byte order of their keys, as they are or were (see ``StoreReader``)."""
        if last is None:
            rows = self._run("resources", history=history, semantic_only=semantic_only)
            return [_resource(row["resource"], row["head_sequence"]) for row in rows]
        return [
            _resource(
                {**row["resource"], "headId": row["head_id"], "versions": row["versions"]},
                row["head_sequence"],
            )
            for row in self._run("resources_at", history=history, semantic_only=semantic_only, last=last)
        ]

    def commit_at(self, history: str, ms: int) -> CommitRecord | None:
        """The newest commit that was not made after an instant."""
        row = self._one("commit_at", history=history, ms=ms)
        return None if row is None else _commit(row["commit"], row["frontier"])

    def parents_of(self, history: str, sequences: Collection[int]) -> list[tuple[int, int]]:
        """The edges out of some nodes, as pairs of child and parent, by sequence."""
        return self._edges("parents_of", history, sequences)

    def children_of(self, history: str, sequences: Collection[int]) -> list[tuple[int, int]]:
        """The edges into some nodes, as pairs of child and parent, by sequence."""
        return self._edges("children_of", history, sequences)

    def outlines(self, history: str, spans: Sequence[tuple[int, int]]) -> list[OutlineRecord]:
        """What spans of sequences hold, both ends included; empty for an empty span."""
        asked = [list(span) for span in spans if span[0] <= span[1]]
        found: dict[int, dict[str, tuple[int, str | None]]] = {}
        for row in self._run("outlines", history=history, spans=asked):
            found.setdefault(row["first"], {})[row["kind"]] = (row["count"], row["payload"])
        outlines = []
        for first, last in spans:
            kinds = found.get(first, {}) if first <= last else {}
            told = [kinds.get(kind, (0, None))[1] for kind in ("goal", "answer")]
            outlines.append(OutlineRecord({kind: count for kind, (count, _) in kinds.items()}, *told))
        return outlines

    def _edges(self, name: str, history: str, sequences: Collection[int]) -> list[tuple[int, int]]:
        return [
            (row["child"], row["parent"])
            for chunk in _chunks(sequences)
            for row in self._run(name, history=history, sequences=chunk)
        ]

    def versions(self, history: str, key_hash: str) -> list[int]:
        """Sequences of the versions of a resource, oldest first."""
        return [row["sequence"] for row in self._run("versions", history=history, key_hash=key_hash)]

    def ancestors(self, history: str, sequence: int) -> list[int]:
        """Sequences of all nodes that a node rests on, ascending, without itself."""
        return self._reached("ancestors", history, sequence)

    def descendants(self, history: str, sequence: int) -> list[int]:
        """Sequences of all nodes that rest on a node, ascending, without itself."""
        return self._reached("descendants", history, sequence)

    def failures(self, history: str) -> list[FailedRunRecord]:
        """Failed runs, in the order in which they were recorded."""
        return [_failure(row["failure"]) for row in self._run("failures", history=history)]

    def _reached(self, name: str, history: str, sequence: int) -> list[int]:
        row = self._one(name, history=history, sequence=sequence)
        return sorted(row["sequences"]) if row else []

    def _found(self, agent: AgentRecord) -> AgentRecord:
        self._looked_up.setdefault(agent.agent_id, agent.history)
        self._since = 0
        return agent

    def _run(self, name: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """The rows of a statement of ``cypher/store``."""
        self._since += 1
        return (dict(record) for record in self._transaction.run(statement(name), parameters))

    def _consume(self, name: str, **parameters: Any) -> None:
        """Run a statement of ``cypher/store`` that has no rows."""
        self._transaction.run(statement(name), parameters).consume()

    def _one(self, name: str, **parameters: Any) -> dict[str, Any] | None:
        rows = list(self._run(name, **parameters))
        return rows[0] if rows else None


def is_there(row: Mapping[str, Any]) -> bool:
    """Whether the agent of a row is there; a statement may find one that is deleted before it is read."""
    return "agentId" in row["agent"]


def node_row(history: str, record: NodeRecord) -> dict[str, Any]:
    """A node as ``write.cypher`` takes it: properties, the label of its kind, and its parents."""
    joined = frozenset(record.resource_parents)
    properties = {
        "history": history,
        "id": record.id,
        "kind": record.kind,
        "payload": record.payload,
        "payloadHash": record.payload_hash,
        "createdAt": record.created_at,
        "createdAtMs": record.created_at_ms,
        "sequence": record.sequence,
        "turn": record.turn,
        "resourceKey": record.resource_key,
        "extra": record.extra,
        "semanticType": record.semantic_type,
        "semanticKey": record.semantic_key,
        "tool": record.tool,
        "operation": record.operation,
        "succeeded": record.succeeded,
    }
    return {
        "label": "".join(word.capitalize() for word in record.kind.split("_")),
        "sequence": record.sequence,
        "properties": present(properties),
        "parents": [[parent, record.resource_key if parent in joined else None] for parent in record.parents],
    }


def agent_properties(record: AgentRecord) -> dict[str, Any]:
    """The properties of ``(:AgentState)``."""
    return present(
        {
            "agentId": record.agent_id,
            "history": record.history,
            "version": 1,
            "revision": record.revision,
            "generation": record.generation,
            "nodeCount": record.node_count,
            "systemId": record.system_id,
            "vocabulary": record.vocabulary,
            "metadata": record.metadata,
            "createdAt": record.created_at,
            "updatedAt": record.updated_at,
        }
    )


def commit_properties(history: str, record: CommitRecord) -> dict[str, Any]:
    """The properties of ``(:Commit)``; its frontier is edges."""
    return present(
        {
            "history": history,
            "revision": record.revision,
            "commitId": record.commit_id,
            "committedAt": record.committed_at,
            "committedAtMs": record.committed_at_ms,
            "firstSequence": record.first_sequence,
            "lastSequence": record.last_sequence,
            "digest": record.digest,
            "hash": record.hash,
            "requestHash": record.request_hash,
            "metadata": record.metadata,
            "appended": None if record.appended is None else list(record.appended),
        }
    )


def resource_properties(history: str, record: ResourceKeyRecord) -> dict[str, Any]:
    """The properties of ``(:ResourceKey)``."""
    return present(
        {
            "history": history,
            "key": record.key,
            "keyHash": record.key_hash,
            "headId": record.head_id,
            "versions": record.versions,
            "semanticType": record.semantic_type,
            "semanticKey": record.semantic_key,
        }
    )


def failure_properties(record: FailedRunRecord) -> dict[str, Any]:
    """The properties of ``(:FailedRun)``, but for those that its history gives it."""
    return present(
        {
            "at": record.at,
            "runId": record.run_id,
            "input": record.input,
            "error": record.error,
            "usage": record.usage,
            "revision": record.revision,
        }
    )


def present(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Properties without those that are not there: Neo4j keeps no null."""
    return {name: value for name, value in properties.items() if value is not None}


def wanted_parameters(wanted: Wanted) -> dict[str, Any]:
    """What is wanted, as the statements take it."""
    return {"ids": list(wanted.ids), "key_hashes": list(wanted.key_hashes), "commit_id": wanted.commit_id}


def locked_head(row: Mapping[str, Any]) -> tuple[HeadRecord, Known]:
    """What ``lock_head.cypher`` gives."""
    return _head(row), _known(row)


def agent_record(found: Mapping[str, Any]) -> AgentRecord:
    """An agent's record from its properties."""
    return AgentRecord(
        agent_id=found["agentId"],
        history=found["history"],
        revision=found["revision"],
        generation=found["generation"],
        node_count=found["nodeCount"],
        system_id=found.get("systemId"),
        vocabulary=found.get("vocabulary"),
        metadata=found.get("metadata"),
        created_at=found["createdAt"],
        updated_at=found["updatedAt"],
    )


def _head(row: Mapping[str, Any]) -> HeadRecord:
    frontier = tuple(RefRecord(*ref) for ref in row["frontier"])
    return HeadRecord(
        agent=agent_record(row["agent"]),
        commit=_commit(row["commit"], [ref.sequence for ref in frontier]),
        frontier=frontier,
        system=None if row["system"][0] is None else RefRecord(*row["system"]),
        turn=row["turn"] or 0,
    )


def _known(row: Mapping[str, Any]) -> Known:
    refs = [RefRecord(*ref) for ref in row.get("refs", ())]
    resources = []
    for properties, head in row.get("resources", ()):
        ref = RefRecord(*head)
        refs.append(ref)
        resources.append(_resource(properties, ref.sequence))
    made = row.get("made")
    return Known(
        refs={ref.id: ref for ref in refs},
        resources={record.key: record for record in resources},
        commit=None if made is None else _commit(made, row["made_frontier"]),
    )


def _commit(found: Mapping[str, Any], frontier: Iterable[int]) -> CommitRecord:
    appended = found.get("appended")
    return CommitRecord(
        revision=found["revision"],
        commit_id=found["commitId"],
        committed_at=found["committedAt"],
        committed_at_ms=found["committedAtMs"],
        first_sequence=found["firstSequence"],
        last_sequence=found["lastSequence"],
        digest=found["digest"],
        hash=found["hash"],
        request_hash=found["requestHash"],
        metadata=found.get("metadata"),
        frontier=tuple(frontier),
        appended=None if appended is None else tuple(appended),
    )


def _node(found: Mapping[str, Any], parents: Iterable[tuple[int, bool]]) -> NodeRecord:
    edges = sorted((sequence, joins) for sequence, joins in parents)
    return NodeRecord(
        id=found["id"],
        kind=found["kind"],
        payload=found["payload"],
        payload_hash=found["payloadHash"],
        created_at=found["createdAt"],
        created_at_ms=found["createdAtMs"],
        sequence=found["sequence"],
        turn=found["turn"],
        resource_key=found.get("resourceKey"),
        extra=found.get("extra"),
        semantic_type=found.get("semanticType"),
        semantic_key=found.get("semanticKey"),
        tool=found.get("tool"),
        operation=found.get("operation"),
        succeeded=found.get("succeeded"),
        parents=tuple(sequence for sequence, _ in edges),
        resource_parents=tuple(sequence for sequence, joins in edges if joins),
    )


def _resource(found: Mapping[str, Any], head_sequence: int) -> ResourceKeyRecord:
    return ResourceKeyRecord(
        key=found["key"],
        key_hash=found["keyHash"],
        head_id=found["headId"],
        head_sequence=head_sequence,
        versions=found["versions"],
        semantic_type=found.get("semanticType"),
        semantic_key=found.get("semanticKey"),
    )


def _failure(found: Mapping[str, Any]) -> FailedRunRecord:
    return FailedRunRecord(
        at=found["at"],
        run_id=found.get("runId"),
        input=found["input"],
        error=found["error"],
        usage=found.get("usage"),
        revision=found["revision"],
    )


def _chunks(sequences: Collection[int]) -> Iterator[list[int]]:
    ordered = sorted(set(sequences))
    for start in range(0, len(ordered), _FETCH_AT_ONCE):
        yield ordered[start : start + _FETCH_AT_ONCE]
