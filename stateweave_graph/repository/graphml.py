"""GraphML, which networkx, Gephi, yEd and others read: nodes by id, an edge from each child to each parent.

Written piece by piece, so that a history of any length goes through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from stateweave_graph.errors import InvalidRequestError
from stateweave_graph.records import AgentRecord, NodeRecord

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class _Attribute(NamedTuple):
    of: str
    name: str
    type: str


_ATTRIBUTES = [
    _Attribute("graph", "agentId", "string"),
    _Attribute("graph", "revision", "long"),
    _Attribute("node", "kind", "string"),
    _Attribute("node", "sequence", "long"),
    _Attribute("node", "turn", "long"),
    _Attribute("node", "createdAt", "string"),
    _Attribute("node", "frontier", "boolean"),
    _Attribute("node", "payload", "string"),
    _Attribute("node", "resourceKey", "string"),
    _Attribute("node", "extra", "string"),
    _Attribute("node", "semanticType", "string"),
    _Attribute("node", "semanticKey", "string"),
    _Attribute("node", "tool", "string"),
    _Attribute("node", "operation", "string"),
    _Attribute("node", "succeeded", "boolean"),
    _Attribute("edge", "sequence", "long"),
    _Attribute("edge", "resourceKey", "string"),
]
_KEYS = {(attribute.of, attribute.name): f"d{number}" for number, attribute in enumerate(_ATTRIBUTES)}


def graphml(
    agent: AgentRecord, nodes: Iterable[NodeRecord], ids: Sequence[str], frontier: frozenset[int]
) -> Iterator[str]:
    """The pieces of the document.

    Args:
        agent: the agent.
        nodes: its nodes, in order.
        ids: the ids of the nodes so far, by sequence.
        frontier: the sequences of the heads.

    Raises:
        InvalidRequestError: a text holds a character that XML can't carry.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for of, name, kind in _ATTRIBUTES:
        yield f'<key id="{_KEYS[of, name]}" for="{of}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield f'<graph id="history" edgedefault="directed">{_data("graph", "agentId", agent.agent_id)}'
    yield f"{_data('graph', 'revision', agent.revision)}\n"
    for node in nodes:
        yield f'<node id="{node.id}">{_properties(node, node.sequence in frontier)}</node>\n'
        joined = frozenset(node.resource_parents)
        for parent in node.parents:
            key = node.resource_key if parent in joined else None
            yield (
                f'<edge source="{node.id}" target="{ids[parent - 1]}">'
                f"{_data('edge', 'sequence', node.sequence)}{_data('edge', 'resourceKey', key)}</edge>\n"
            )
    yield "</graph>\n</graphml>\n"


def _properties(node: NodeRecord, on_frontier: bool) -> str:
    return "".join(
        _data("node", name, value)
        for name, value in {
            "kind": node.kind,
            "sequence": node.sequence,
            "turn": node.turn,
            "createdAt": node.created_at,
            "frontier": on_frontier,
            "payload": _json_text(node.payload),
            "resourceKey": node.resource_key,
            "extra": None if node.extra is None else _json_text(node.extra),
            "semanticType": node.semantic_type,
            "semanticKey": node.semantic_key,
            "tool": node.tool,
            "operation": node.operation,
            "succeeded": node.succeeded,
        }.items()
    )


def _data(of: str, name: str, value: Any) -> str:
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    unfit = _NOT_XML.search(text)
    if unfit:
        raise InvalidRequestError(
            f"XML can't carry the character U+{ord(unfit.group()):04X} in {name} {text[:80]!r}; export the "
            "history as jsonl or parquet instead"
        )
    # A reader of XML takes a bare carriage return for a line feed.
    return f'<data key="{_KEYS[of, name]}">{escape(text, {chr(13): "&#13;"})}</data>'


def _json_text(text: str) -> str:
    """JSON text without characters that XML can't carry: JSON has an escape for each."""
    return _NOT_XML.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
