"""The records of the graph model (design.md, *The graph*), the same for every store.

Text and numbers only. Nodes of one history refer to each other by ``sequence``; a store may keep the
references as it likes. ``None`` is a property that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class AgentRecord(NamedTuple):
    """``(:AgentState)``: an agent, its history, and the counters that a commit moves."""

    agent_id: str
    history: str
    revision: int
    generation: int
    node_count: int
    system_id: str | None
    vocabulary: str | None
    metadata: str | None
    created_at: str
    updated_at: str


class CommitRecord(NamedTuple):
    """``(:Commit)`` with its ``FRONTIER`` edges.

    Attributes:
        first_sequence: of the nodes added; one more than ``last_sequence`` where none was.
        last_sequence: the number of nodes after this commit.
        frontier: sequences of the heads, in their order.
        appended: sequences of the nodes of its appends, where they are not just the nodes added.
    """

    revision: int
    commit_id: str
    committed_at: str
    committed_at_ms: int
    first_sequence: int
    last_sequence: int
    digest: str
    hash: str
    request_hash: str
    metadata: str | None
    frontier: tuple[int, ...]
    appended: tuple[int, ...] | None


class NodeRecord(NamedTuple):
    """``(:CausalNode)`` with its ``PARENT`` edges.

    Attributes:
        payload: JSON text.
        extra: JSON text of the unknown fields.
        parents: sequences of the parents, ascending.
        resource_parents: those of them that are versions of the same resource; their ``PARENT`` edges
            bear ``resourceKey``.
    """

    id: str
    kind: str
    payload: str
    payload_hash: str
    created_at: str
    created_at_ms: int
    sequence: int
    turn: int
    resource_key: str | None
    extra: str | None
    semantic_type: str | None
    semantic_key: str | None
    tool: str | None
    operation: str | None
    succeeded: bool | None
    parents: tuple[int, ...]
    resource_parents: tuple[int, ...]


class RefRecord(NamedTuple):
    """A node without its payload, lifted properties and parents: what a later commit must know of it."""

    id: str
    sequence: int
    kind: str
    turn: int
    created_at: str
    resource_key: str | None
    extra: str | None


class TextRecord(NamedTuple):
    """What is searched of a node, and shown of one that is found; ``payload`` is JSON text."""

    id: str
    sequence: int
    kind: str
    turn: int
    created_at: str
    resource_key: str | None
    payload: str


class ResourceKeyRecord(NamedTuple):
    """``(:ResourceKey)``: a logical resource and where its versions stand."""

    key: str
    key_hash: str
    head_id: str
    head_sequence: int
    versions: int
    semantic_type: str | None
    semantic_key: str | None


class VersionRecord(NamedTuple):
    """``VERSION_OF``: the node of this sequence is version number ``version`` of the resource."""

    key_hash: str
    version: int
    sequence: int


class OutlineRecord(NamedTuple):
    """What a span of nodes holds, without reading them all.

    Attributes:
        kinds: how many nodes of each kind.
        goal: JSON text of the payload of its last goal.
        answer: the same of its last answer.
    """

    kinds: Mapping[str, int]
    goal: str | None
    answer: str | None


class FailedRunRecord(NamedTuple):
    """``(:FailedRun)``: a run that added nothing; ``usage`` is JSON text."""

    at: str
    run_id: str | None
    input: str
    error: str
    usage: str | None
    revision: int


class HeadRecord(NamedTuple):
    """An agent with its newest commit, and what the next commit must know of the nodes.

    Attributes:
        frontier: the nodes on the frontier, in their order.
        system: the latest system node.
        turn: the number of goals so far.
    """

    agent: AgentRecord
    commit: CommitRecord
    frontier: tuple[RefRecord, ...]
    system: RefRecord | None
    turn: int


class Wanted(NamedTuple):
    """What a decision asks a store for, beside the head: nodes by id, resources by the hash of their key."""

    ids: frozenset[str] = frozenset()
    key_hashes: frozenset[str] = frozenset()
    commit_id: str | None = None

    def __or__(self, other: object) -> Wanted:
        if not isinstance(other, Wanted):
            return NotImplemented
        return Wanted(
            self.ids | other.ids, self.key_hashes | other.key_hashes, self.commit_id or other.commit_id
        )


class Known(NamedTuple):
    """A store's answer: what is there of what was wanted; the rest is not there.

    Attributes:
        refs: nodes by id, the heads of the resources among them.
        resources: resources by key.
        commit: the commit of the id wanted.
    """

    refs: Mapping[str, RefRecord]
    resources: Mapping[str, ResourceKeyRecord]
    commit: CommitRecord | None


class Batch(NamedTuple):
    """One commit, ready to be written: new records, and the counters as they are after it."""

    agent: AgentRecord
    commit: CommitRecord
    nodes: tuple[NodeRecord, ...]
    resources: tuple[ResourceKeyRecord, ...]
    versions: tuple[VersionRecord, ...]
    begins: bool
