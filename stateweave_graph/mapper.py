"""``AgentState`` to the records of the graph and back; pure, the same for every store.

What is lifted out of payloads, and the text that payloads are kept as, are design.md, *The graph* and
*Exact bytes*; which payload fields mean what is format.md, *What the SDK's agent appends*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from stateweave_graph.collector import paused
from stateweave_graph.hashing import hash_fields
from stateweave_graph.jsontext import dumps, has_lone_surrogate, parse_own
from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import AgentState, CausalNode, NodeKind
from stateweave_graph.records import NodeRecord, RefRecord, ResourceKeyRecord, VersionRecord
from stateweave_graph.timestamps import judged_instant_ms

_SEMANTIC_KEY = re.compile(r"semantic:([^:]+):(.+)", re.DOTALL)


class StateRecords(NamedTuple):
    """A whole state as records.

    Attributes:
        nodes: in order of sequence.
        frontier: sequences of the heads, in their order.
        resources: one for each logical resource.
        versions: one for each node that is a version of one.
    """

    nodes: tuple[NodeRecord, ...]
    frontier: tuple[int, ...]
    resources: tuple[ResourceKeyRecord, ...]
    versions: tuple[VersionRecord, ...]


class Lifted(NamedTuple):
    """What queries filter on, taken from a payload where it is there with the type that the SDK gives it."""

    semantic_type: str | None = None
    semantic_key: str | None = None
    tool: str | None = None
    operation: str | None = None
    succeeded: bool | None = None


def to_records(state: AgentState) -> StateRecords:
    """All records of a state."""
    mirror = CausalMirror(state)
    resources, versions = resource_records(state.nodes, {})
    return StateRecords(
        nodes=tuple(node_record(node, mirror.ref) for node in state.nodes),
        frontier=tuple(mirror.ref(node_id).sequence for node_id in state.frontier),
        resources=resources,
        versions=versions,
    )


def from_records(nodes: Iterable[NodeRecord], frontier: Iterable[int]) -> AgentState:
    """A state from the records of all its nodes, in order of sequence, and its frontier."""
    ids = [""]  # so that a sequence is a place
    built = []
    with paused():
        for record in nodes:
            built.append(node_from_record(record, ids.__getitem__))
            ids.append(record.id)
    return AgentState.unchecked(built, [ids[sequence] for sequence in frontier])


def node_record(node: CausalNode, ref: Callable[[str], RefRecord]) -> NodeRecord:
    """The record of a node; ``ref`` gives what is known of the node itself and of its parents."""
    own = ref(node.id)
    parents = sorted(map(ref, node.parents), key=attrgetter("sequence"))
    payload = dumps(node.payload)
    key = node.resource_key
    return NodeRecord(
        id=node.id,
        kind=node.kind.value,
        payload=payload,
        payload_hash=hash_fields(payload),
        created_at=node.created_at,
        created_at_ms=judged_instant_ms(node.created_at),
        sequence=own.sequence,
        turn=own.turn,
        resource_key=key,
        extra=own.extra,
        **lift(node.kind, node.payload)._asdict(),
        parents=tuple(parent.sequence for parent in parents),
        resource_parents=tuple(parent.sequence for parent in parents if key and parent.resource_key == key),
    )


def node_from_record(record: NodeRecord, id_at: Callable[[int], str]) -> CausalNode:
    """The node of a record; ``id_at`` gives the id of the node of a sequence."""
    return CausalNode.unchecked(
        id=record.id,
        kind=NodeKind(record.kind),
        parents=sorted(map(id_at, record.parents)),
        payload=parse_own(record.payload),
        created_at=record.created_at,
        sequence=record.sequence,
        resource_key=record.resource_key,
        extra={} if record.extra is None else parse_own(record.extra),
    )


def node_text(record: NodeRecord, ids: Sequence[str]) -> str:
    """The JSON text of a record's node, as ``AgentState.to_json`` has it, without parsing what is stored.

    Args:
        record: the record.
        ids: the ids of the nodes before it, by sequence.
    """
    parents = dumps(sorted(ids[sequence - 1] for sequence in record.parents))
    key = "" if record.resource_key is None else f',"resourceKey":{dumps(record.resource_key)}'
    extra = "" if record.extra is None else f",{record.extra[1:-1]}"
    return (
        f'{{"id":"{record.id}","kind":"{record.kind}","parents":{parents},"payload":{record.payload},'
        f'"createdAt":{dumps(record.created_at)},"sequence":{record.sequence}{key}{extra}}}'
    )


def resource_records(
    nodes: Sequence[CausalNode | NodeRecord], known: Mapping[str, ResourceKeyRecord]
) -> tuple[tuple[ResourceKeyRecord, ...], tuple[VersionRecord, ...]]:
    """What new nodes make of the resources: their keys as they are then, and the new versions.

    Args:
        nodes: the new nodes, in order of sequence.
        known: the resources as they were, at least those that the nodes name.
    """
    after: dict[str, ResourceKeyRecord] = {}
    versions = []
    for node in nodes:
        key = node.resource_key
        if not key:  # an empty key names no resource
            continue
        before = after.get(key) or known.get(key) or _first_version(key)
        now = before._replace(head_id=node.id, head_sequence=node.sequence, versions=before.versions + 1)
        after[key] = now
        versions.append(VersionRecord(now.key_hash, now.versions, node.sequence))
    return tuple(after.values()), tuple(versions)


def key_hash(key: str) -> str:
    """What stands for a resource key in indexes, which can't hold long texts."""
    return hash_fields(key)


def split_semantic_key(key: str) -> tuple[str, str] | None:
    """Type and key of the semantic memory that a resource key names; None where it names none.

    >>> split_semantic_key("semantic:memory:build:flags")
    ('memory', 'build:flags')
    """
    match = _SEMANTIC_KEY.fullmatch(key)
    return (match[1], match[2]) if match else None


def lift(kind: NodeKind, payload: Any) -> Lifted:
    """The properties lifted out of a payload; one that would hold a lone surrogate is left out."""
    if not isinstance(payload, dict):
        return Lifted()
    if kind is NodeKind.SEMANTIC:
        return Lifted(semantic_type=_text(payload, "type"), semantic_key=_text(payload, "key"))
    if kind is NodeKind.TOOL_CALL:
        return Lifted(tool=_text(payload, "name"))
    if kind is NodeKind.TOOL_RESULT:
        succeeded = not tool_failed(payload["result"]) if "result" in payload else None
        return Lifted(tool=_text(payload, "tool"), succeeded=succeeded)
    if kind in (NodeKind.RESOURCE, NodeKind.VERIFICATION):
        succeeded = payload.get("succeeded")
        return Lifted(
            operation=_text(payload, "operation"),
            succeeded=succeeded if isinstance(succeeded, bool) else None,
        )
    return Lifted()


def tool_failed(result: Any) -> bool:
    """Whether a tool's result says that it failed (format.md, below *What the SDK's agent appends*)."""
    if not isinstance(result, dict):
        return False
    exit_code = result.get("exitCode")
    failed_exit = isinstance(exit_code, (int, float)) and not isinstance(exit_code, bool) and exit_code != 0
    return "error" in result or result.get("ok") is False or failed_exit


def _first_version(key: str) -> ResourceKeyRecord:
    semantic_type, semantic_key = split_semantic_key(key) or (None, None)
    return ResourceKeyRecord(key, key_hash(key), "", 0, 0, semantic_type, semantic_key)


def _text(payload: Mapping[str, Any], field: str) -> str | None:
    value = payload.get(field)
    return value if isinstance(value, str) and not has_lone_surrogate(value) else None
