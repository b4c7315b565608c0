"""Causes and effects on a store's reader: level by level, never path by path.

Real histories are dense: between two nodes there are more paths than can be counted, while the nodes are few.
So nodes are walked once, breadth first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from stateweave_graph.model import NodeKind
from stateweave_graph.records import RefRecord
from stateweave_graph.results import NodeRef
from stateweave_graph.stores.base import StoreReader


def reached(tx: StoreReader, history: str, sequence: int, *, up: bool, depth: int | None) -> list[int]:
    """Sequences of the nodes that a node rests on (up), or that rest on it, ascending, without itself."""
    if depth is None:
        return tx.ancestors(history, sequence) if up else tx.descendants(history, sequence)
    seen = {sequence}
    level: set[int] = {sequence}
    for _ in range(depth):
        level = _step(tx, history, level, up) - seen
        if not level:
            break
        seen |= level
    return sorted(seen - {sequence})


def shortest(tx: StoreReader, history: str, cause: int, effect: int) -> list[int]:
    """Sequences of one shortest chain from a cause to what rests on it, both included; empty if none does."""
    came_by: dict[int, int] = {}
    level: Collection[int] = {effect}
    while level and cause not in level:
        edges = tx.parents_of(history, level)
        level = set()
        for child, parent in sorted(edges):
            if parent >= cause and parent != effect and parent not in came_by:
                came_by[parent] = child
                level.add(parent)
    if cause != effect and cause not in came_by:
        return []
    chain = [cause]
    while chain[-1] != effect:
        chain.append(came_by[chain[-1]])
    return chain


def node_refs(refs: Iterable[RefRecord], kinds: Collection[NodeKind] | None = None) -> list[NodeRef]:
    """References as results, of some kinds or of all."""
    found = [NodeRef(ref.id, ref.sequence, NodeKind(ref.kind), ref.turn) for ref in refs]
    return found if kinds is None else [ref for ref in found if ref.kind in kinds]


def _step(tx: StoreReader, history: str, level: Collection[int], up: bool) -> set[int]:
    if up:
        return {parent for _, parent in tx.parents_of(history, level)}
    return {child for child, _ in tx.children_of(history, level)}


def actions(tx: StoreReader, history: str, sequences: Collection[int]) -> dict[int, int]:
    """The tool call behind each of some nodes, by sequence: whose result it rests on, or that it rests on.

    Nodes that rest on none are left out; of several, the latest counts.
    """
    results = _latest_parents(tx, history, sequences, NodeKind.TOOL_RESULT)
    calls = _latest_parents(tx, history, {*sequences, *results.values()}, NodeKind.TOOL_CALL)
    found = {}
    for sequence in sequences:
        call = calls.get(results.get(sequence, sequence), calls.get(sequence))
        if call is not None:
            found[sequence] = call
    return found


def _latest_parents(
    tx: StoreReader, history: str, sequences: Collection[int], kind: NodeKind
) -> dict[int, int]:
    edges = tx.parents_of(history, sequences)
    parents = tx.refs_at(history, sorted({parent for _, parent in edges}))
    of_kind = {ref.sequence for ref in parents if ref.kind == kind.value}
    latest: dict[int, int] = {}
    for child, parent in edges:
        if parent in of_kind:
            latest[child] = max(parent, latest.get(child, 0))
    return latest
