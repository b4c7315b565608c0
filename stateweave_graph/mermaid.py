"""Nodes of a history as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterable

from stateweave_graph.jsontext import dumps
from stateweave_graph.model import CausalNode, NodeKind

_LABEL_LENGTH = 40
_JOINERS = "\u200c\u200d"
"""Invisible, and needed to write Persian and families of emoji."""

_COLOURS = {
    NodeKind.SYSTEM: "#dddddd",
    NodeKind.GOAL: "#ffd166",
    NodeKind.INFERENCE: "#cdb4db",
    NodeKind.SEMANTIC: "#bde0fe",
    NodeKind.TOOL_CALL: "#a8dadc",
    NodeKind.TOOL_RESULT: "#7fc8a9",
    NodeKind.RESOURCE: "#e9c46a",
    NodeKind.VERIFICATION: "#b5e48c",
    NodeKind.ANSWER: "#90be6d",
    NodeKind.PROTOCOL_ERROR: "#f28482",
}


def mermaid(nodes: Iterable[CausalNode], frontier: Iterable[str] = ()) -> str:
    """A flowchart of these nodes and of the edges among them, causes above.

    Args:
        nodes: the nodes to draw.
        frontier: ids of the active heads, which get a thick border.
    """
    drawn = {node.id: node for node in nodes}
    heads = set(frontier)
    lines = ["flowchart TD"]
    for node in drawn.values():
        lines.append(f'    {_name(node)}["{node.sequence} {node.kind}<br>{_label(node)}"]:::{node.kind}')
    for node in drawn.values():
        lines += [
            f"    {_name(drawn[parent])} --> {_name(node)}" for parent in node.parents if parent in drawn
        ]
    for kind in sorted({node.kind for node in drawn.values()}):
        lines.append(f"    classDef {kind} fill:{_COLOURS[kind]},stroke:#555,color:#222")
    for node in drawn.values():
        if node.id in heads:
            lines.append(f"    style {_name(node)} stroke-width:4px")
    return "\n".join(lines) + "\n"


def _name(node: CausalNode) -> str:
    return f"n{node.sequence}"


def _label(node: CausalNode) -> str:
    text = node.payload if isinstance(node.payload, str) else dumps(node.payload)
    line = " ".join(text[: _LABEL_LENGTH * 8].split())
    if len(line) > _LABEL_LENGTH:
        line = line[: _LABEL_LENGTH - 1] + "…"
    return "".join(map(_written, line))


def _written(character: str) -> str:
    """A character so that Mermaid and a browser show it and take it for nothing else."""
    if character.isalnum() or character in " .,:!?+-/=_…":
        return character
    if not character.isprintable() and character not in _JOINERS:
        return "\ufffd"
    return f"#{ord(character)};"
