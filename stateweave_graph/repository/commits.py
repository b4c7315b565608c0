"""Commits decided: what may be written, and with which records.

Each function runs inside a store's unit of work, on the records that the store gives, and may be run again
from its beginning. The order is: the commit id (a request made before is answered again), the expected
revision, the rules of appending or of the import, and then one batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from stateweave_graph.errors import CommitIdReusedError, NotFoundError
from stateweave_graph.hashing import CHAIN_START, commit_hash, extend_digest
from stateweave_graph.mapper import node_record, resource_records
from stateweave_graph.model import Append, CausalNode
from stateweave_graph.records import AgentRecord, Batch, CommitRecord, HeadRecord, Known
from stateweave_graph.repository.ground import Draft, Ground, Need
from stateweave_graph.repository.requests import (
    Asked,
    Expectation,
    Said,
    append_request_hash,
    save_request_hash,
)
from stateweave_graph.repository.snapshots import Snapshot, check_extends
from stateweave_graph.results import Commit
from stateweave_graph.stores.base import StoreReader, StoreWriter
from stateweave_graph.timestamps import iso_text, judged_instant_ms, now_ms
from stateweave_graph.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True)
class Request(ABC):
    """What every commit is asked with.

    Attributes:
        agent_id: the agent.
        expected: the revision that the caller expects.
        commit_id: its id, by which it is known whether it has been made.
        repeatable: whether the caller gave the id, and so may say the same again.
        metadata: JSON text, or None.
        committed_at: a time to the letter, for imports; None for now.
    """

    agent_id: str
    expected: Expectation
    commit_id: str
    repeatable: bool = True
    metadata: str | None = None
    committed_at: str | None = None

    @abstractmethod
    def request_hash(self) -> str:
        """What tells this request from another one that has the same commit id."""


@dataclass(frozen=True, kw_only=True)
class AppendRequest(Request):
    """Appends to commit.

    Attributes:
        appends: what to append.
        said: the same as the caller said it.
        base: the heads that a turn was begun on, where they were chosen.
    """

    appends: Sequence[Append]
    said: Sequence[Said]
    base: Asked = None

    def request_hash(self) -> str:
        """The hash over appends and metadata."""
        return append_request_hash(self.said, self.base, self.metadata)


@dataclass(frozen=True, kw_only=True)
class SaveRequest(Request):
    """A whole snapshot to commit."""

    snapshot: Snapshot

    def request_hash(self) -> str:
        """The hash over digest, frontier and metadata."""
        return save_request_hash(self.snapshot.digest, self.snapshot.frontier, self.metadata)


class Settled(NamedTuple):
    """How a request came out.

    Attributes:
        commit: what the caller gets.
        ground: what is known of the history after it; None where that was not worked out.
        made: whether a commit was made now.
    """

    commit: Commit
    ground: Ground | None
    made: bool


def settle_append(tx: StoreWriter, request: AppendRequest, draft: Draft | None) -> Settled:
    """Commit appends.

    Args:
        tx: the unit of work.
        request: what is asked for.
        draft: the same appends tried out on a ground that may still be the head; None to begin afresh.

    Raises:
        CommitIdReusedError: the commit id was another request's.
        ConflictError: the expected revision is not there.
        NotFoundError: there is no such agent, and nothing to make it of.
        UnknownParentError: a parent is not in the history.
    """
    need = Need() if draft is None else draft.missing()
    held = None if draft is None else draft.ground.head
    locked = tx.lock_head(request.agent_id, need.wanted(request.commit_id), held)
    replayed = _replayed(tx, request, locked)
    if replayed is not None:
        return Settled(replayed, None, made=False)
    head, known = (None, None) if locked is None else locked
    agent = None if head is None else head.agent
    request.expected.check(request.agent_id, agent)
    if head is None and not request.appends:
        raise NotFoundError(f"agent {request.agent_id!r}: there is none, and no append to begin it with")
    if draft is None or not draft.ground.stands_at(agent):
        draft = Draft(Ground(head), request.appends)
    elif known is not None:
        draft.learn(need, known)
    while need := draft.missing():
        draft.learn(need, tx.lookup(draft.ground.history, need.wanted()))
    ids = [node.id for node in draft.nodes]
    return _write(tx, request, draft.ground, draft.new, ids)


def settle_save(tx: StoreWriter, request: SaveRequest, ground: Ground | None) -> Settled:
    """Commit what a snapshot adds to what is stored.

    Raises:
        CommitIdReusedError: the commit id was another request's.
        ConflictError: the expected revision is not there.
        DivergedError: the snapshot does not extend what is stored.
        InvalidStateError: what it adds breaks import rules.
    """
    held = None if ground is None else ground.head
    locked = tx.lock_head(request.agent_id, Need().wanted(request.commit_id), held)
    replayed = _replayed(tx, request, locked)
    if replayed is not None:
        return Settled(replayed, None, made=False)
    head = None if locked is None else locked[0]
    agent = None if head is None else head.agent
    request.expected.check(request.agent_id, agent)
    if ground is None or not ground.stands_at(agent):
        ground = Ground(head)
    return save_on(tx, request, ground)


def save_on(tx: StoreWriter, request: SaveRequest, ground: Ground) -> Settled:
    """The same, when the head is locked, known, and the one that was expected."""
    snapshot, head, mirror = request.snapshot, ground.head, ground.mirror
    if head is not None:
        check_extends(tx, head, snapshot)
    new = snapshot.behind(ground.node_count)
    if head is not None:
        referred = chain(snapshot.frontier, *(node.parents for node in new))
        mirror.learn(snapshot.chain.refs(referred, before=ground.node_count))
        need = ground.unknown((), {node.resource_key for node in new if node.resource_key})
        if need:
            ground.learn(need, tx.lookup(ground.history, need.wanted()))
    mirror.extend(new, snapshot.frontier)
    return _write(tx, request, ground, new, [node.id for node in new])


def head_commit(head: HeadRecord, ids: Sequence[str] = ()) -> Commit:
    """The newest commit, as the answer to a request that changes nothing."""
    return Commit(
        agent_id=head.agent.agent_id,
        history=head.agent.history,
        revision=head.agent.revision,
        commit_id=head.commit.commit_id,
        committed_at=head.commit.committed_at,
        added=[],
        ids=list(ids),
        frontier=[ref.id for ref in head.frontier],
    )


def commit_as_made(tx: StoreReader, agent: AgentRecord, record: CommitRecord, replayed: bool) -> Commit:
    """A stored commit as it was given back when it was made."""
    appended = record.appended
    added = range(record.first_sequence, record.last_sequence + 1)
    ids = {
        ref.sequence: ref.id
        for ref in tx.refs_at(agent.history, [*added, *record.frontier, *(appended or ())])
    }
    return Commit(
        agent_id=agent.agent_id,
        history=agent.history,
        revision=record.revision,
        commit_id=record.commit_id,
        committed_at=record.committed_at,
        added=[ids[sequence] for sequence in added],
        ids=[ids[sequence] for sequence in (added if appended is None else appended)],
        frontier=[ids[sequence] for sequence in record.frontier],
        replayed=replayed,
    )


def _replayed(tx: StoreReader, request: Request, locked: tuple[HeadRecord, Known] | None) -> Commit | None:
    if locked is None or locked[1].commit is None:
        return None
    agent, made = locked[0].agent, locked[1].commit
    if made.request_hash != request.request_hash():
        raise CommitIdReusedError(agent.agent_id, made.commit_id, made.revision)
    return commit_as_made(tx, agent, made, replayed=request.repeatable)


def _write(
    tx: StoreWriter, request: Request, ground: Ground, new: Sequence[CausalNode], ids: Sequence[str]
) -> Settled:
    """Write what stands on the ground's mirror and not in the store; nothing where they are the same."""
    head = ground.head
    if head is not None and not new and ground.mirror.frontier == [ref.id for ref in head.frontier]:
        return Settled(head_commit(head, ids), ground, made=False)
    if head is not None and head.agent.vocabulary is not None:
        vocabulary = Vocabulary.from_text(head.agent.vocabulary)
        for node in new:
            vocabulary.check(node)
    history = tx.new_history(request.agent_id) if head is None else head.agent.history
    batch = _batch(request, ground, history, new, ids)
    tx.write(batch)
    after = ground.advance(batch)
    commit = Commit(
        agent_id=request.agent_id,
        history=batch.agent.history,
        revision=batch.agent.revision,
        commit_id=batch.commit.commit_id,
        committed_at=batch.commit.committed_at,
        added=[node.id for node in new],
        ids=list(ids),
        frontier=after.mirror.frontier,
    )
    return Settled(commit, after, made=True)


def _batch(
    request: Request, ground: Ground, history: str, new: Sequence[CausalNode], ids: Sequence[str]
) -> Batch:
    mirror, before = ground.mirror, ground.head
    nodes = tuple(node_record(node, mirror.ref) for node in new)
    resources, versions = resource_records(new, ground.resources)
    now = max(now_ms(), 0 if before is None else before.commit.committed_at_ms)
    committed_at = request.committed_at or iso_text(now)
    agent = AgentRecord(
        agent_id=request.agent_id,
        history=history,
        revision=1 if before is None else before.agent.revision + 1,
        generation=0 if before is None else before.agent.generation,
        node_count=mirror.node_count,
        system_id=mirror.system_id,
        vocabulary=None if before is None else before.agent.vocabulary,
        metadata=None if before is None else before.agent.metadata,
        created_at=iso_text(now) if before is None else before.agent.created_at,
        updated_at=iso_text(now),
    )
    digest = CHAIN_START if before is None else before.commit.digest
    for node in nodes:
        digest = extend_digest(digest, node.id, node.created_at, node.extra)
    commit = CommitRecord(
        revision=agent.revision,
        commit_id=request.commit_id,
        committed_at=committed_at,
        committed_at_ms=judged_instant_ms(committed_at),
        first_sequence=ground.node_count + 1,
        last_sequence=mirror.node_count,
        digest=digest,
        hash=commit_hash(
            CHAIN_START if before is None else before.commit.hash,
            digest,
            mirror.frontier,
            agent.revision,
            request.commit_id,
            committed_at,
            request.metadata,
            [node.payload_hash for node in nodes],
        ),
        request_hash=request.request_hash(),
        metadata=request.metadata,
        frontier=tuple(mirror.ref(node_id).sequence for node_id in mirror.frontier),
        appended=None
        if list(ids) == [node.id for node in new]
        else tuple(mirror.ref(node_id).sequence for node_id in ids),
    )
    return Batch(agent, commit, nodes, resources, versions, begins=before is None)
