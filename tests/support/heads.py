"""The head of a history as a store would give it, made from a whole mirror."""

from __future__ import annotations

from stateweave_graph import CausalMirror
from stateweave_graph.records import AgentRecord, CommitRecord, HeadRecord

WHEN = "2026-09-01T12:00:00.000Z"


def head_of(mirror: CausalMirror) -> HeadRecord:
    """What a commit of everything on a mirror would leave as the head."""
    count, system = mirror.node_count, mirror.system_id
    frontier = tuple(map(mirror.ref, mirror.frontier))
    agent = AgentRecord("a", "h", 1, 0, count, system, None, None, WHEN, WHEN)
    sequences = tuple(ref.sequence for ref in frontier)
    commit = CommitRecord(1, "c", WHEN, 0, 1, count, "", "", "", None, sequences, None)
    return HeadRecord(agent, commit, frontier, None if system is None else mirror.ref(system), mirror.turn)


def part_of(mirror: CausalMirror, ids: set[str], keys: set[str]) -> CausalMirror:
    """A partial mirror of a whole one, told of these nodes where they are there, and of these resources."""
    heads = {key: mirror.resource_heads.get(key) for key in keys}
    return CausalMirror.partial(
        head_of(mirror),
        [mirror.ref(node_id) for node_id in sorted(ids) if node_id in mirror],
        {key: None if head is None else mirror.ref(head) for key, head in heads.items()},
    )
