"""Canonical text and node ids (format.md, *Identity*)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from enum import Enum
from hashlib import sha256
from json.encoder import encode_basestring
from typing import Any

import orjson

from stateweave_graph.collation import key_orders
from stateweave_graph.errors import InvalidAppendError
from stateweave_graph.jsontext import (
    HARD_MAX_DEPTH,
    depth_exceeds,
    escape_surrogates,
    join_halves,
    member_path,
)

ID_PREFIX = "cw_"
_MAX_SAFE_INTEGER = 2**53
_AS_IS = frozenset({str, int, bool, type(None)})
# orjson writes fractions as JavaScript does where neither needs an exponent; these bounds are of the square.
_LEAST_SQUARE, _SQUARES_END = 1e-4**2, 1e15**2


def node_id(kind: str | Enum, parents: Iterable[str], payload: Any, resource_key: str | None = None) -> str:
    """The id of the node with this content: ``cw_`` and 24 hex digits.

    Parents are sorted first; nothing else is checked (not that they exist, nor the kind).

    Raises:
        InvalidAppendError: the payload is not a JSON value, or something else is no text.

    >>> node_id("system", [], "hello")
    'cw_0314bab460e030b07dc7b36c'
    """
    kind_text = kind.value if isinstance(kind, Enum) else kind
    plain = plain_json(payload)
    try:
        ordered = sorted(parents)
        "".join([kind_text, *ordered, "" if resource_key is None else resource_key])  # takes texts alone
        return identity_of(kind_text, ordered, plain, resource_key)
    except TypeError:
        raise InvalidAppendError("kind, each of parents and resource_key must be texts") from None


def identity_of(kind: str, parents: list[str], payload: Any, resource_key: str | None) -> str:
    """The id of a node whose parents are in the order to be hashed and whose payload is plain JSON.

    Raises:
        ValueError: the payload holds a number that is not finite as a double.
        TypeError, KeyError: the payload is not plain JSON.
    """
    # The fields stand here in the order of canonical text.
    content = {"kind": kind, "parents": parents, "payload": payload}
    if resource_key is not None:
        content["resourceKey"] = resource_key
    try:
        content["payload"] = _ordered(payload)
        text = orjson.dumps(content, option=orjson.OPT_STRICT_INTEGER)
    except orjson.JSONEncodeError:  # a lone surrogate, an integer beyond 53 bits, or nested very deep
        content["payload"] = payload
        text = canonical_plainly(content).encode()
    return ID_PREFIX + sha256(text).hexdigest()[:24]


def canonical(value: Any) -> str:
    """Canonical text of a plain JSON value, as a JavaScript engine writes it.

    Raises:
        ValueError: a number is not finite as a double.
    """
    try:
        return orjson.dumps(_ordered(value), option=orjson.OPT_STRICT_INTEGER).decode()
    except orjson.JSONEncodeError:
        return canonical_plainly(value)


def canonical_plainly(value: Any) -> str:
    """What ``canonical`` gives, by the standard library alone: for what orjson does not write.

    Raises:
        ValueError: a number is not finite as a double.
    """
    return escape_surrogates(_canonical(value))


def plain_json(value: Any, where: str = "payload") -> Any:
    """A copy of a value made of nothing but dict, list, str, int, float, bool and None.

    Tuples become lists and enums of texts or numbers their values, as in ``json.dumps``; two halves of a
    character that stand side by side become that character, as they would on their way through JSON text.

    Raises:
        InvalidAppendError: the value is not JSON: NaN, an infinity, a key that is no text, another type,
            or nested deeper than ``HARD_MAX_DEPTH``.
    """
    if depth_exceeds(value, HARD_MAX_DEPTH):
        raise InvalidAppendError(f"{where} is nested deeper than {HARD_MAX_DEPTH} levels, or contains itself")
    return _plain(value, where)


def is_finite_double(number: float) -> bool:
    """Whether a number, read as an IEEE double, is finite; integers of any size are taken."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def number_text(number: float) -> str:
    """A number as ECMAScript's Number::toString prints it, read as an IEEE double first.

    Raises:
        ValueError: the number is not finite as a double.
    """
    if isinstance(number, int) and -_MAX_SAFE_INTEGER <= number <= _MAX_SAFE_INTEGER:
        return str(number)
    if not is_finite_double(number):
        raise ValueError("a number outside the range of a double")
    double = float(number)
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    mantissa, _, exponent = repr(abs(double)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the power of point (the "n" of the specification).
    leading_zeros = len(whole + fraction) - len(digits)
    point = len(whole) - leading_zeros + int(exponent or 0)
    digits = digits.rstrip("0")
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    exponent = f"e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return (digits if count == 1 else f"{digits[0]}.{digits[1:]}") + exponent


def _ordered(value: Any) -> Any:
    """The same value, such that the text that orjson writes of it is canonical."""
    # One Python frame a level, and no call for most values: this is where most of a validation's time goes.
    kind = type(value)
    if kind is dict:
        members = {}
        for key in key_orders[tuple(value)]:
            item = value[key]
            kind = type(item)
            if kind in _AS_IS or (kind is float and _LEAST_SQUARE <= item * item < _SQUARES_END and item % 1):
                members[key] = item
            else:
                members[key] = _ordered(item)
        return members
    if kind is list:
        items = []
        for item in value:
            kind = type(item)
            if kind in _AS_IS or (kind is float and _LEAST_SQUARE <= item * item < _SQUARES_END and item % 1):
                items.append(item)
            else:
                items.append(_ordered(item))
        return items
    if kind is float:
        return orjson.Fragment(number_text(value))
    if kind not in _AS_IS:
        raise TypeError(f"{kind.__name__} is no plain JSON")
    return value


def _canonical(value: Any) -> str:
    kind = type(value)
    if kind is dict:
        members = []
        for key in key_orders[tuple(value)]:
            item = value[key]
            text = encode_basestring(item) if type(item) is str else _canonical(item)
            members.append(f"{encode_basestring(key)}:{text}")
        return "{" + ",".join(members) + "}"
    if kind is list:
        items = []
        for item in value:
            items.append(encode_basestring(item) if type(item) is str else _canonical(item))
        return "[" + ",".join(items) + "]"
    return _SCALARS[kind](value)


_SCALARS: dict[type, Callable[[Any], str]] = {
    str: encode_basestring,
    int: number_text,
    float: number_text,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _: "null",
}


def _plain(value: Any, where: str) -> Any:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return _plain_text(value)
    if isinstance(value, (int, float)):
        number = int(value) if isinstance(value, int) else float(value)
        if not is_finite_double(number):
            raise InvalidAppendError(
                f"{where} is a number that JSON can't carry: NaN, infinite or beyond a double"
            )
        return number
    if isinstance(value, (list, tuple)):
        items = []
        for index, item in enumerate(value):
            items.append(_plain(item, f"{where}[{index}]"))
        return items
    if isinstance(value, dict):
        members = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidAppendError(f"{where} has the key {key!r}, which is no text")
            name = _plain_text(key)
            members[name] = _plain(item, member_path(where, name))
        return members
    raise InvalidAppendError(f"{where} is a {type(value).__name__}, which is not a JSON value")


def _plain_text(text: str) -> str:
    return join_halves(str(text.value) if isinstance(text, Enum) else str(text))
