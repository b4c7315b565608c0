"""A history as one HTML page that needs nothing else: no network, no other file.

The page is ``page.html`` with its style, its scripts and the history put in. What a history holds came from
anywhere, so the page takes none of it for markup: it stands in a JSON block in which no ``<`` is left, the
scripts show it as text only, and a Content-Security-Policy lets nothing run but these scripts (by their
hash), and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import html
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

from stateweave_graph.jsontext import dumps
from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import NodeKind
from stateweave_graph.results import Stored

_FOLDER = Path(__file__).parent
_SCRIPTS = ("text.js", "history.js", "graph.js", "details.js", "page.js")
"""In the order in which they build on each other."""

_KINDS = list(NodeKind)
_IN_HTML = {ord("<"): "\\u003c", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def history_page(stored: Stored) -> str:
    """The page for a state as it was loaded.

    Args:
        stored: what ``load`` gave.

    Returns:
        An HTML document, to be written as UTF-8.
    """
    style = _file("page.css")
    script = "\n".join(map(_file, _SCRIPTS))
    parts = {
        "title": html.escape(f"{stored.agent_id}, revision {stored.revision}"),
        "policy": _policy(style, script),
        "style": style,
        "script": script,
        "history": dumps(_history(stored)).translate(_IN_HTML),
    }
    pieces = _file("page.html").split("@@")  # text, name, text, name, … text
    return "".join(parts[piece] if index % 2 else piece for index, piece in enumerate(pieces))


def _history(stored: Stored) -> dict[str, Any]:
    """What the page's scripts read: a column for each field, nodes by sequence.

    Payloads and unknown fields go as JSON text, since a browser's numbers and order of keys are not ours.
    """
    nodes = stored.state.nodes
    mirror = CausalMirror(stored.state)
    refs = [mirror.ref(node.id) for node in nodes]
    return {
        "agent": stored.agent_id,
        "revision": stored.revision,
        "frontier": [mirror.ref(head).sequence for head in stored.state.frontier],
        "kindNames": [kind.value for kind in _KINDS],
        "ids": [node.id for node in nodes],
        "kinds": [_KINDS.index(node.kind) for node in nodes],
        "turns": [ref.turn for ref in refs],
        "times": [node.created_at for node in nodes],
        "parents": [[mirror.ref(parent).sequence for parent in node.parents] for node in nodes],
        "keys": [node.resource_key for node in nodes],
        "payloads": [dumps(node.payload) for node in nodes],
        "extras": {ref.sequence: ref.extra for ref in refs if ref.extra is not None},
        "folding": _folding(),
    }


@cache
def _folding() -> dict[str, str]:
    """Characters that case folding changes though lower-casing does not: what JavaScript has no function for.

    With it, lower-casing a text in form NFD and replacing these is ``str.casefold``.
    """
    characters = map(chr, range(0x110000))
    return {
        character: character.casefold()
        for character in characters
        if character.lower() == character != character.casefold()
        and unicodedata.normalize("NFD", character) == character
    }


def _policy(style: str, script: str) -> str:
    allowed = {"script-src": _hash(script), "style-src": _hash(style), "img-src": "data:"}
    sources = [f"{name} {source}" for name, source in allowed.items()]
    barred = ["default-src 'none'", "base-uri 'none'", "form-action 'none'"]
    return "; ".join([*barred, *sources, "require-trusted-types-for 'script'"])


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
