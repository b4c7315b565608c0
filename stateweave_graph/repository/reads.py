"""What a repository reads: units of work on a store's reader, and the records turned into results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from stateweave_graph.errors import NotFoundError, StoreError, VocabularyError
from stateweave_graph.jsontext import has_lone_surrogate, parse
from stateweave_graph.mapper import from_records, key_hash, node_from_record
from stateweave_graph.model import CausalNode, NodeKind
from stateweave_graph.records import (
    AgentRecord,
    CommitRecord,
    FailedRunRecord,
    HeadRecord,
    NodeRecord,
    RefRecord,
    ResourceKeyRecord,
)
from stateweave_graph.results import AgentSummary, FailedRun, Head, LogEntry, Memory, NodeRef, Stored
from stateweave_graph.stores.base import StoreReader
from stateweave_graph.vocabulary import normalise_type


def stored(tx: StoreReader, agent_id: str, revision: int | None) -> Stored:
    """An agent's state at a revision; None for the newest."""
    agent = agent_there(tx, agent_id)
    refuse_later(agent, revision)
    commit = tx.commit(agent.history, agent.revision if revision is None else revision)
    if commit is None:
        raise StoreError(f"agent {agent_id!r}: a commit is missing; restore the store from a backup")
    state = from_records(tx.nodes(agent.history, 1, commit.last_sequence), commit.frontier)
    return Stored(agent_id=agent_id, history=agent.history, revision=commit.revision, state=state)


def agent_there(tx: StoreReader, agent_id: str) -> AgentRecord:
    """An agent's record.

    Raises:
        NotFoundError: there is no such agent.
    """
    agent = tx.agent(agent_id)
    if agent is None:
        raise no_agent(agent_id)
    return agent


def refuse_later(agent: AgentRecord, revision: int | None) -> None:
    """Refuse a revision that is not there yet.

    Raises:
        NotFoundError: it is not.
    """
    if revision is not None and revision > agent.revision:
        raise NotFoundError(
            f"agent {agent.agent_id!r}: there is no revision {revision}; there are 1 to {agent.revision}"
        )


def no_agent(agent_id: str) -> NotFoundError:
    """The error for an agent that is not there."""
    return NotFoundError(f"there is no agent {agent_id!r} in this store; look at agents() for those that are")


def summary(agent: AgentRecord) -> AgentSummary:
    """An agent's record as a result."""
    return AgentSummary(**_summary_fields(agent))


def head_result(head: HeadRecord) -> Head:
    """A head's record as a result."""
    return Head(
        **_summary_fields(head.agent),
        frontier=[ref.id for ref in head.frontier],
        system_id=head.agent.system_id,
    )


def log(tx: StoreReader, agent_id: str, before: int | None, limit: int) -> list[LogEntry | FailedRun]:
    """Commits, newest first, each after the runs that failed on it."""
    agent = agent_there(tx, agent_id)
    commits = tx.commits(agent.history, before, limit)
    ids = _ids(tx, agent.history, (sequence for commit in commits for sequence in commit.frontier))
    failures: dict[int, list[FailedRun]] = {}
    for failure in tx.failures(agent.history):
        failures.setdefault(failure.revision, []).insert(0, failed_run(failure))
    entries: list[LogEntry | FailedRun] = []
    for commit in commits:
        entries += [*failures.get(commit.revision, ()), _log_entry(commit, ids)]
    if commits and commits[-1].revision == 1:
        entries += failures.get(0, ())
    return entries


def failed_run(record: FailedRunRecord) -> FailedRun:
    """A failed run's record as a result."""
    return FailedRun(
        at=record.at,
        input=record.input,
        error=record.error,
        run_id=record.run_id,
        usage=_parsed(record.usage),
        revision=record.revision,
    )


def node(tx: StoreReader, agent_id: str, node_id: str) -> CausalNode:
    """One node with its content."""
    history = agent_there(tx, agent_id).history
    return _with_parents(tx, history, [node_record(tx, agent_id, history, node_id)])[0]


def node_record(tx: StoreReader, agent_id: str, history: str, node_id: str) -> NodeRecord:
    """The record of one node.

    Raises:
        NotFoundError: the history has no such node.
    """
    there = isinstance(node_id, str) and not has_lone_surrogate(node_id)
    record = tx.node(history, node_id) if there else None
    if record is None:
        raise NotFoundError(f"agent {agent_id!r} has no node {node_id!r}")
    return record


def reached(
    tx: StoreReader, agent_id: str, node_id: str, walk: Callable[[StoreReader, str, int], list[int]]
) -> tuple[str, list[NodeRef]]:
    """The history of an agent, and the nodes that a walk from one of its nodes reaches."""
    history = agent_there(tx, agent_id).history
    start = node_record(tx, agent_id, history, node_id)
    refs = tx.refs_at(history, walk(tx, history, start.sequence))
    return history, [NodeRef(ref.id, ref.sequence, NodeKind(ref.kind), ref.turn) for ref in refs]


def nodes_at(tx: StoreReader, agent_id: str, history: str, sequences: Sequence[int]) -> list[CausalNode]:
    """Nodes with their content, of a history that must still be the agent's."""
    agent = tx.agent(agent_id)
    if agent is None or agent.history != history:
        raise NotFoundError(f"agent {agent_id!r}: the history that these nodes are of has been deleted")
    return _with_parents(tx, history, list(tx.nodes_at(history, sequences)))


def versions(tx: StoreReader, agent_id: str, key: str) -> list[CausalNode]:
    """The versions of a resource, newest first."""
    history = agent_there(tx, agent_id).history
    there = isinstance(key, str) and not has_lone_surrogate(key)
    found = tx.versions(history, key_hash(key)) if there else []
    if not found:
        raise NotFoundError(f"agent {agent_id!r} has no resource {key!r}")
    return _with_parents(tx, history, list(tx.nodes_at(history, found)))[::-1]


def memories(tx: StoreReader, agent_id: str, type: str | None) -> list[Memory]:
    """The newest version of each semantic memory, by type and key."""
    history = agent_there(tx, agent_id).history
    resources = [
        record for record in tx.resources(history, semantic_only=True) if type is None or _is_of(record, type)
    ]
    records = list(tx.nodes_at(history, [record.head_sequence for record in resources]))
    nodes = {node.sequence: node for node in _with_parents(tx, history, records)}
    found = [_memory(record, nodes[record.head_sequence]) for record in resources]
    return sorted(found, key=lambda memory: (memory.type, memory.key))


def _is_of(record: ResourceKeyRecord, type: str) -> bool:
    if record.semantic_type == type:
        return True
    try:
        return record.semantic_type == normalise_type(type)
    except VocabularyError:
        return False


def _memory(record: ResourceKeyRecord, node: CausalNode) -> Memory:
    payload = node.payload
    return Memory(
        type=record.semantic_type or "",
        key=record.semantic_key or "",
        content=payload["content"] if isinstance(payload, dict) and "content" in payload else payload,
        node=node,
        versions=record.versions,
    )


def _with_parents(tx: StoreReader, history: str, records: Sequence[NodeRecord]) -> list[CausalNode]:
    ids = _ids(tx, history, (parent for record in records for parent in record.parents))
    return [node_from_record(record, ids.__getitem__) for record in records]


def _ids(tx: StoreReader, history: str, sequences: Iterable[int]) -> dict[int, str]:
    refs: list[RefRecord] = tx.refs_at(history, sorted(set(sequences)))
    return {ref.sequence: ref.id for ref in refs}


def _log_entry(commit: CommitRecord, ids: dict[int, str]) -> LogEntry:
    return LogEntry(
        revision=commit.revision,
        commit_id=commit.commit_id,
        committed_at=commit.committed_at,
        first_sequence=commit.first_sequence,
        last_sequence=commit.last_sequence,
        frontier=[ids[sequence] for sequence in commit.frontier],
        digest=commit.digest,
        hash=commit.hash,
        metadata=_parsed(commit.metadata),
    )


def _summary_fields(agent: AgentRecord) -> dict[str, Any]:
    return {
        "agent_id": agent.agent_id,
        "history": agent.history,
        "revision": agent.revision,
        "generation": agent.generation,
        "node_count": agent.node_count,
        "created_at": agent.created_at,
        "updated_at": agent.updated_at,
        "metadata": _parsed(agent.metadata),
    }


def _parsed(text: str | None) -> dict[str, Any] | None:
    return None if text is None else parse(text)
