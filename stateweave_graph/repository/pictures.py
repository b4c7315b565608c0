"""What a picture of a part of a history shows."""

from __future__ import annotations

from stateweave_graph.model import CausalNode
from stateweave_graph.repository import causality, reads
from stateweave_graph.stores.base import StoreReader


def part(
    tx: StoreReader, agent_id: str, node_id: str | None, depth: int | None, limit: int
) -> tuple[list[CausalNode], list[str]]:
    """A node (None for all heads) and the newest of those that it rests on, and the ids of the heads.

    Args:
        tx: the unit of work.
        agent_id: the agent.
        node_id: the node.
        depth: the most edges from the node; None for any number.
        limit: the most nodes.
    """
    head = tx.head(agent_id)
    if head is None:
        raise reads.no_agent(agent_id)
    history = head.agent.history
    if node_id is None:
        starts = list(head.commit.frontier)
    else:
        starts = [reads.node_record(tx, agent_id, history, node_id).sequence]
    shown = set(starts)
    for start in starts:
        shown.update(causality.reached(tx, history, start, up=True, depth=depth))
    nodes = reads.nodes_at(tx, agent_id, history, sorted(shown)[-limit:])
    return nodes, [ref.id for ref in head.frontier]
