"""What a repository reads: units of work on a store's reader, and the records turned into results."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from stateweave_graph.errors import InvalidRequestError, NotFoundError, StoreError, VocabularyError
from stateweave_graph.jsontext import has_lone_surrogate, parse
from stateweave_graph.mapper import from_records, key_hash, node_from_record
from stateweave_graph.model import CausalNode, NodeKind
from stateweave_graph.records import (
    AgentRecord,
    CommitRecord,
    FailedRunRecord,
    HeadRecord,
    NodeRecord,
    OutlineRecord,
    RefRecord,
    ResourceKeyRecord,
)
from stateweave_graph.repository import causality
from stateweave_graph.results import (
    AgentSummary,
    FailedRun,
    Head,
    LogEntry,
    Memory,
    NodeRef,
    ResourceVersion,
    Stored,
)
from stateweave_graph.stores.base import StoreReader
from stateweave_graph.timestamps import iso_text
from stateweave_graph.validation import shorten
from stateweave_graph.vocabulary import normalise_key, normalise_type

_TOLD_CHARACTERS = 200
NODES_AT_ONCE = 2_000
"""How many nodes with their edges are held where a history is read page by page."""

_PREFIX = re.compile(r"cw_[0-9a-f]{4,23}")
_CANDIDATES = 5


def stored(tx: StoreReader, agent_id: str, revision: int | None, at_ms: int | None = None) -> Stored:
    """An agent's state at a revision, or at an instant; None for the newest."""
    agent = agent_there(tx, agent_id)
    commit = _commit_wanted(tx, agent, revision, at_ms)
    state = from_records(tx.nodes(agent.history, 1, commit.last_sequence), commit.frontier)
    return Stored(agent_id=agent_id, history=agent.history, revision=commit.revision, state=state)


def node_pages(tx: StoreReader, history: str, first: int, last: int) -> Iterator[NodeRecord]:
    """Nodes of a span in order, read a page at a time: other reads may come between."""
    for start in range(first, last + 1, NODES_AT_ONCE):
        yield from list(tx.nodes(history, start, min(start + NODES_AT_ONCE - 1, last)))


def _commit_wanted(
    tx: StoreReader, agent: AgentRecord, revision: int | None, at_ms: int | None
) -> CommitRecord:
    if at_ms is not None:
        found = tx.commit_at(agent.history, at_ms)
        if found is None:
            raise NotFoundError(f"agent {agent.agent_id!r}: no commit was made until {iso_text(at_ms)}")
        return found
    refuse_later(agent, revision)
    commit = tx.commit(agent.history, agent.revision if revision is None else revision)
    if commit is None:
        raise StoreError(f"agent {agent.agent_id!r}: a commit is missing; restore the store from a backup")
    return commit


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
    spans = [(commit.first_sequence, commit.last_sequence) for commit in commits]
    told = tx.outlines(agent.history, spans)
    outlines = {commit.revision: outline for commit, outline in zip(commits, told, strict=True)}
    failures: dict[int, list[FailedRun]] = {}
    for failure in tx.failures(agent.history):
        failures.setdefault(failure.revision, []).insert(0, failed_run(failure))
    entries: list[LogEntry | FailedRun] = []
    for commit in commits:
        entries += [*failures.get(commit.revision, ()), _log_entry(commit, ids, outlines[commit.revision])]
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


def resolve(tx: StoreReader, agent_id: str, prefix: str) -> str:
    """The id of the one node whose id begins so."""
    history = agent_there(tx, agent_id).history
    found = tx.ids(history, prefix, _CANDIDATES + 1) if _PREFIX.fullmatch(prefix) else [prefix]
    if not found:
        raise NotFoundError(f"agent {agent_id!r}: there is no node whose id begins with {shorten(prefix)}")
    if len(found) > 1:
        more = ", …" if len(found) > _CANDIDATES else ""
        raise InvalidRequestError(
            f"agent {agent_id!r}: more than one id begins with {shorten(prefix)}: "
            f"{', '.join(found[:_CANDIDATES])}{more}; say more of it"
        )
    return found[0]


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
    tx: StoreReader,
    agent_id: str,
    node_id: str,
    *,
    up: bool,
    depth: int | None,
    kinds: Collection[NodeKind] | None,
) -> tuple[str, list[int]]:
    """The history of an agent, and the sequences of the nodes above or below one of its nodes."""
    history = agent_there(tx, agent_id).history
    start = node_record(tx, agent_id, history, node_id)
    sequences = causality.reached(tx, history, start.sequence, up=up, depth=depth)
    if kinds is not None:
        sequences = [ref.sequence for ref in causality.node_refs(tx.refs_at(history, sequences), kinds)]
    return history, sequences


def refs_at(tx: StoreReader, agent_id: str, history: str, sequences: Sequence[int]) -> list[NodeRef]:
    """Nodes without their content, of a history that must still be the agent's."""
    _refuse_deleted(tx, agent_id, history)
    return causality.node_refs(tx.refs_at(history, sequences))


def path(tx: StoreReader, agent_id: str, first: str, second: str) -> list[CausalNode]:
    """One shortest chain of edges between two nodes, from the first to the second."""
    history = agent_there(tx, agent_id).history
    one, other = (node_record(tx, agent_id, history, node_id).sequence for node_id in (first, second))
    chain = causality.shortest(tx, history, min(one, other), max(one, other))
    nodes = nodes_at(tx, agent_id, history, chain)
    return nodes if one <= other else nodes[::-1]


def extent(tx: StoreReader, agent_id: str, revision: int | None) -> tuple[str, int]:
    """The history of an agent, and how many nodes it has at a revision; None for the newest."""
    agent = agent_there(tx, agent_id)
    return agent.history, _commit_wanted(tx, agent, revision, None).last_sequence


def nodes_of_span(tx: StoreReader, agent_id: str, history: str, span: range) -> list[CausalNode]:
    """The nodes of sequences that follow each other, of a history that must still be the agent's."""
    _refuse_deleted(tx, agent_id, history)
    return _with_parents(tx, history, list(tx.nodes(history, span.start, span.stop - 1)))


def nodes_at(tx: StoreReader, agent_id: str, history: str, sequences: Sequence[int]) -> list[CausalNode]:
    """Nodes with their content, of a history that must still be the agent's."""
    _refuse_deleted(tx, agent_id, history)
    return _with_parents(tx, history, list(tx.nodes_at(history, sequences)))


def _refuse_deleted(tx: StoreReader, agent_id: str, history: str) -> None:
    agent = tx.agent(agent_id)
    if agent is None or agent.history != history:
        raise NotFoundError(f"agent {agent_id!r}: the history that these nodes are of has been deleted")


def versions(tx: StoreReader, agent_id: str, key: str) -> list[ResourceVersion]:
    """The versions of a resource, newest first, with the tool calls that made them."""
    history = agent_there(tx, agent_id).history
    there = isinstance(key, str) and not has_lone_surrogate(key)
    found = tx.versions(history, key_hash(key)) if there else []
    if not found:
        raise NotFoundError(f"agent {agent_id!r} has no resource {key!r}")
    calls = causality.actions(tx, history, found)
    nodes = {node.sequence: node for node in nodes_at(tx, agent_id, history, [*found, *calls.values()])}
    listed = []
    for version, sequence in enumerate(found, start=1):
        action = nodes[calls[sequence]] if sequence in calls else None
        listed.append(ResourceVersion.unchecked(**vars(nodes[sequence]), version=version, action=action))
    return listed[::-1]


def heads(tx: StoreReader, agent_id: str) -> list[CausalNode]:
    """The nodes of the frontier, in its order."""
    head = tx.head(agent_id)
    if head is None:
        raise no_agent(agent_id)
    found = nodes_at(tx, agent_id, head.agent.history, head.commit.frontier)
    nodes = {node.sequence: node for node in found}
    return [nodes[sequence] for sequence in head.commit.frontier]


def newest_versions(tx: StoreReader, agent_id: str) -> dict[str, CausalNode]:
    """The newest version of each resource, by key."""
    history = agent_there(tx, agent_id).history
    records = tx.resources(history, semantic_only=False)
    nodes = {node.id: node for node in nodes_at(tx, agent_id, history, [r.head_sequence for r in records])}
    return {record.key: nodes[record.head_id] for record in records}


def memories(
    tx: StoreReader, agent_id: str, type: str | None, key: str | None, at_revision: int | None
) -> list[Memory]:
    """The newest version of each semantic memory, by type and key, as it is or was at a revision."""
    agent = agent_there(tx, agent_id)
    last = None
    if at_revision is not None:
        last = _commit_wanted(tx, agent, at_revision, None).last_sequence
    resources = [
        record
        for record in tx.resources(agent.history, semantic_only=True, last=last)
        if (type is None or _is_of(record.semantic_type, type, normalise_type))
        and (key is None or _is_of(record.semantic_key, key, normalise_key))
    ]
    records = list(tx.nodes_at(agent.history, [record.head_sequence for record in resources]))
    return memories_of(resources, {node.sequence: node for node in _with_parents(tx, agent.history, records)})


def memories_of(resources: Iterable[ResourceKeyRecord], nodes: Mapping[int, CausalNode]) -> list[Memory]:
    """Memories of the records of their resources and of their newest nodes, by sequence."""
    found = [_memory(record, nodes[record.head_sequence]) for record in resources]
    return sorted(found, key=lambda memory: (memory.type, memory.key))


def _is_of(name: str | None, wanted: str, normalise: Callable[[str], str]) -> bool:
    """Whether a name is the one wanted, as it is spelled or normalised."""
    if name == wanted:
        return True
    try:
        return name == normalise(wanted)
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


def _log_entry(commit: CommitRecord, ids: dict[int, str], outline: OutlineRecord) -> LogEntry:
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
        kinds={kind.value: outline.kinds[kind.value] for kind in NodeKind if kind.value in outline.kinds},
        goal=_told(outline.goal),
        answer=_told(outline.answer),
    )


def _told(payload: str | None) -> str | None:
    """A payload as a short text."""
    if payload is None:
        return None
    value = parse(payload)
    text = " ".join((value if isinstance(value, str) else payload).split())
    return text if len(text) <= _TOLD_CHARACTERS else f"{text[: _TOLD_CHARACTERS - 1]}…"


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
