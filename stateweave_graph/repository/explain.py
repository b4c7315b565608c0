"""Questions about a history: what moved between revisions, why an answer was given, what was known when."""

from __future__ import annotations

from collections.abc import Iterable

from stateweave_graph.errors import InvalidRequestError
from stateweave_graph.model import CausalNode, NodeKind
from stateweave_graph.records import AgentRecord, CommitRecord, ResourceKeyRecord
from stateweave_graph.repository import reads
from stateweave_graph.repository.causality import node_refs
from stateweave_graph.results import Diff, Known, Moved, Why
from stateweave_graph.stores.base import StoreReader


def diff(tx: StoreReader, agent_id: str, first: int, second: int) -> Diff:
    """What moved from a revision (0 for the beginning) to a later one."""
    agent = reads.agent_there(tx, agent_id)
    if first > second:
        raise InvalidRequestError(f"a diff goes from a revision to a later one, not from {first} to {second}")
    reads.refuse_later(agent, second)
    before, after = _commit(tx, agent, first), _commit(tx, agent, second)
    start = 0 if before is None else before.last_sequence
    end = 0 if after is None else after.last_sequence
    heads = [_frontier(tx, agent.history, commit) for commit in (before, after)]
    resources = [
        {record.key: record for record in tx.resources(agent.history, semantic_only=False, last=last)}
        for last in (start, end)
    ]
    moved = _moved(*resources)
    return Diff(
        agent_id=agent_id,
        from_revision=first,
        to_revision=second,
        added=node_refs(tx.refs(agent.history, start + 1, end)),
        left=[node_id for node_id in heads[0] if node_id not in heads[1]],
        joined=[node_id for node_id in heads[1] if node_id not in heads[0]],
        resources=[move for move in moved if move.type is None],
        memory=[move for move in moved if move.type is not None],
    )


def why(tx: StoreReader, agent_id: str, node_id: str) -> Why:
    """What a node rests on, newest first, by what it is."""
    agent = reads.agent_there(tx, agent_id)
    node = reads.node_record(tx, agent_id, agent.history, node_id)
    refs = tx.refs_at(agent.history, tx.ancestors(agent.history, node.sequence))
    chosen = [ref for ref in refs if ref.kind in _TOLD or ref.resource_key]
    nodes = reads.nodes_at(tx, agent_id, agent.history, [ref.sequence for ref in chosen])[::-1]
    asked = [found for found in nodes if found.kind is NodeKind.GOAL]
    return Why(
        node=reads.node(tx, agent_id, node_id),
        goals=asked,
        tool_results=[found for found in nodes if found.kind is NodeKind.TOOL_RESULT],
        resources=[found for found in nodes if found.resource_key and not _is_memory(found)],
        memory=[found for found in nodes if _is_memory(found)],
    )


def known_at(tx: StoreReader, agent_id: str, node_id: str) -> Known:
    """The versions of resources and memories that were current when a node was appended."""
    agent = reads.agent_there(tx, agent_id)
    node = reads.node_record(tx, agent_id, agent.history, node_id)
    records = tx.resources(agent.history, semantic_only=False, last=node.sequence)
    by_sequence = {record.head_sequence: record for record in records}
    nodes = reads.nodes_at(tx, agent_id, agent.history, list(by_sequence))
    return Known(
        resources={
            by_sequence[found.sequence].key: found
            for found in nodes
            if by_sequence[found.sequence].semantic_type is None
        },
        memory=reads.memories_of(
            [record for record in records if record.semantic_type is not None],
            {found.sequence: found for found in nodes},
        ),
    )


_TOLD = frozenset({NodeKind.GOAL.value, NodeKind.TOOL_RESULT.value})


def _is_memory(node: CausalNode) -> bool:
    return node.resource_key is not None and node.resource_key.startswith("semantic:")


def _commit(tx: StoreReader, agent: AgentRecord, revision: int) -> CommitRecord | None:
    return tx.commit(agent.history, revision) if revision else None


def _frontier(tx: StoreReader, history: str, commit: CommitRecord | None) -> list[str]:
    if commit is None:
        return []
    ids = {ref.sequence: ref.id for ref in tx.refs_at(history, commit.frontier)}
    return [ids[sequence] for sequence in commit.frontier]


def _moved(before: dict[str, ResourceKeyRecord], after: dict[str, ResourceKeyRecord]) -> Iterable[Moved]:
    moved = []
    for key, now in after.items():
        then = before.get(key)
        if then is None or then.head_id != now.head_id:
            moved.append(
                Moved(
                    resource_key=key,
                    type=now.semantic_type,
                    key=now.semantic_key,
                    before=None if then is None else then.head_id,
                    after=now.head_id,
                    versions=now.versions - (0 if then is None else then.versions),
                )
            )
    return moved
