"""JSON as text: reading it strictly, writing it compactly.

Reading is RFC 8259 to the letter (format.md, *Import*, rules ``json`` and ``size``); writing keeps what
was read (format.md, *Given back*): keys in their order, integers with all their digits, lone surrogates
escaped, everything else as itself.

orjson reads whatever it reads as we do; the rest, and every error message, is the standard library's.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any, NoReturn

import orjson

HARD_MAX_DEPTH = 512
"""No limit on nesting may be set above this: what walks a value recurses once a level."""


def _class_of(byte: int) -> bytes:
    """A digit or minus as ``0``, what may stand before a number as a comma, all else as ``x``."""
    return b"0" if byte in b"0123456789-" else b"," if byte in b",:[ \t\n\r" else b"x"


_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_TO_ONE_KIND_OF_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NEITHER_BRACKET_NOR_QUOTE = bytes(set(range(256)) - set(b'[]{}"'))
_STEP = {ord("["): 1, ord("]"): -1}
_LEVELS_TAKEN_OFF = 8
_DIGITS_AND_WHAT_COMES_BEFORE = b"".join(map(_class_of, range(256)))
_BEYOND_64_BITS = b"," + b"0" * 20
_MANY_DIGITS = re.compile(r"[0-9]{310}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_INTEGER_DIGITS = 309
_SHOWN_CHARACTERS = 80


class JsonTextError(ValueError):
    """The text is not one RFC 8259 value; the message says where and why."""


def depth_of_text(text: str | bytes) -> int:
    """The nesting of arrays and objects in a JSON text, found without parsing it; the root counts as 1."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if b"\\" in data:
        data = _ESCAPE.sub(b"", data)
    # Two quotes that come to stand side by side can go: what is inside a string stays inside.
    skeleton = data.translate(_TO_ONE_KIND_OF_BRACKETS, _NEITHER_BRACKET_NOR_QUOTE).replace(b'""', b"")
    brackets = b"".join(skeleton.split(b'"')[::2])
    return max(_depth_of_brackets(brackets), 1)


def depth_exceeds(value: Any, limit: int) -> bool:
    """Whether a Python value is nested deeper than ``limit``; a value that contains itself always is."""
    level = [value] if isinstance(value, (Mapping, list, tuple)) else []
    depth = 0
    seen: set[int] = set()
    while level:
        depth += 1
        if depth > limit:
            return True
        below: list[Any] = []
        seen.clear()
        for container in level:
            if id(container) in seen:
                continue  # a value shared by many places on one level is walked once
            seen.add(id(container))
            children = container.values() if isinstance(container, Mapping) else container
            below.extend(child for child in children if isinstance(child, (Mapping, list, tuple)))
        level = below
    return False


def parse(text: str | bytes) -> Any:
    """Parse one JSON value.

    Integers keep all their digits; an integer with more digits than a double can reach is read as an
    infinite float, as is ``1e999``: the rule ``payload`` refuses both. Of a key written twice the last
    value stays, in the first place. Two halves of a character that stand side by side are that character.

    Args:
        text: the text, or its UTF-8 bytes.

    Raises:
        JsonTextError: the text is not one RFC 8259 value, or the bytes are not UTF-8.
    """
    try:
        data = text.encode("utf-8") if isinstance(text, str) else text
        if not _may_hold_integers_beyond_64_bits(data):
            return orjson.loads(data)
    except (UnicodeEncodeError, orjson.JSONDecodeError):
        pass  # a lone surrogate, a number beyond a double, nested very deep, or broken
    return parse_plainly(text if isinstance(text, str) else decode(text))


def parse_plainly(text: str) -> Any:
    """What ``parse`` does, by the standard library alone: for what orjson reads otherwise or not at all.

    Raises:
        JsonTextError: the text is not one RFC 8259 value.
    """
    text = escape_surrogates(text)
    try:
        if _MANY_DIGITS.search(text):
            return json.loads(text, parse_constant=_refuse_constant, parse_int=_bounded_int)
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise JsonTextError(f"not a JSON value: {error.msg} at {where}") from None


def parse_own(text: str) -> Any:
    """Parse JSON text that ``dumps`` wrote: what ``parse`` gives, without its care for what others write."""
    return _DECODER.decode(text)


def decode(data: bytes) -> str:
    """UTF-8 bytes as text.

    Raises:
        JsonTextError: the bytes are not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonTextError(f"not UTF-8: {error.reason} at byte {error.start}") from None


def dumps(value: Any) -> str:
    """Compact JSON text of a plain JSON value, in the order given (design.md, *Exact bytes*).

    Raises:
        ValueError: a number is NaN or infinite.
        TypeError: something is not a JSON value.
    """
    return escape_surrogates(_ENCODER.encode(value))


def escape_surrogates(text: str) -> str:
    r"""JSON text with lone surrogates written as ``\udxxx``, so that it is valid UTF-8.

    Two halves that stand side by side are one character, as in JavaScript.
    """
    if not has_lone_surrogate(text):
        return text
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", join_halves(text))


def join_halves(text: str) -> str:
    """A text in which two surrogates that stand side by side are the one character that they make up."""
    if not has_lone_surrogate(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def has_lone_surrogate(text: str) -> bool:
    """Whether a text holds half a character, which no UTF-8 and so no database keeps."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def quoted(text: str) -> str:
    """A text for messages: in quotes, printable, and cut where it is long."""
    if len(text) <= _SHOWN_CHARACTERS:
        return repr(text)
    return f"{text[:_SHOWN_CHARACTERS]!r}… ({len(text)} characters)"


def member_path(path: str, name: str) -> str:
    """The JSON path of an object's member, printable and not much longer than that of the object.

    >>> member_path("$", "payload"), member_path("$", "no name")
    ('$.payload', "$['no name']")
    """
    if len(name) <= _SHOWN_CHARACTERS and name.isascii() and name.isidentifier():
        return f"{path}.{name}"
    return f"{path}[{quoted(name)}]"


def _depth_of_brackets(brackets: bytes) -> int:
    """The nesting of a text of ``[`` and ``]`` alone, which need not match."""
    # The innermost pairs of each level are most of a text, and taking them off is quicker than to count.
    rest, taken_off = brackets, 0
    while taken_off < _LEVELS_TAKEN_OFF and b"[]" in rest:
        rest = rest.replace(b"[]", b"")
        taken_off += 1
    if 2 * rest.count(b"[") != len(rest) or min(_levels(rest), default=0) < 0:
        return max(_levels(brackets), default=0)
    return taken_off + max(_levels(rest), default=0)


def _levels(brackets: bytes) -> Iterator[int]:
    return accumulate(map(_STEP.__getitem__, brackets))


def _may_hold_integers_beyond_64_bits(data: bytes) -> bool:
    """Whether somewhere a number may begin that has so many digits; orjson would read it as a float."""
    # One table and one search for fixed bytes: a regular expression takes five times as long, and a search
    # from the left is held up by every digit.
    shape = data.translate(_DIGITS_AND_WHAT_COMES_BEFORE)
    return shape.startswith(_BEYOND_64_BITS[1:]) or shape.rfind(_BEYOND_64_BITS) >= 0


def _refuse_constant(name: str) -> NoReturn:
    raise JsonTextError(
        f"not a JSON value: {name} is not JSON, though a lenient reader takes it for a number"
    )


def _bounded_int(digits: str) -> int | float:
    if len(digits.lstrip("-")) > _MAX_INTEGER_DIGITS:
        return -math.inf if digits.startswith("-") else math.inf
    return int(digits)


_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False)
