"""JSON text as a JavaScript engine's ``JSON.stringify`` writes it.

The SDK compares nodes and hashes states by that text (format.md, *Given back* and *The SDK's session
log*). From canonical text (identity.py) it differs in the order of keys alone: the order given,
integer-like keys first.
"""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any

from stateweave_graph.collation import javascript_key_order
from stateweave_graph.identity import number_text
from stateweave_graph.jsontext import escape_surrogates


def javascript_json(value: Any) -> str:
    """The text that ``JSON.stringify`` gives for a plain JSON value.

    Raises:
        ValueError: a number is not finite as a double.

    >>> javascript_json({"b": 1.0, "10": 1e21, "9": "é"})
    '{"9":"é","10":1e+21,"b":1}'
    """
    return escape_surrogates(_stringify(value))


def _stringify(value: Any) -> str:
    # Loops, since map or a comprehension takes a second level of the interpreter's stack for each level here.
    kind = type(value)
    if kind is dict:
        members = []
        for key in javascript_key_order(value):
            item = value[key]
            text = encode_basestring(item) if type(item) is str else _stringify(item)
            members.append(f"{encode_basestring(key)}:{text}")
        return "{" + ",".join(members) + "}"
    if kind is list:
        items = []
        for item in value:
            items.append(encode_basestring(item) if type(item) is str else _stringify(item))
        return "[" + ",".join(items) + "]"
    return _SCALARS[kind](value)


_SCALARS: dict[type, Callable[[Any], str]] = {
    str: encode_basestring,
    int: number_text,
    float: number_text,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _: "null",
}
