"""The order of object keys in canonical text: JavaScript's ``localeCompare`` in the root locale.

The rule is format.md, *Identity*: ICU's root collation with normalization on; keys that compare equal
keep the order a JavaScript object gives them. ASCII keys need no ICU: a small table does it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any

from stateweave_graph.errors import MissingExtraError
from stateweave_graph.jsontext import has_lone_surrogate

# CLDR root collation of ASCII below the letters; the characters missing here (controls) are ignorable.
_PUNCTUATION_AND_DIGITS = "\t\n\x0b\x0c\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789"
_PRIMARY: dict[int, int | None] = dict.fromkeys(range(128))
_PRIMARY.update({ord(char): weight for weight, char in enumerate(_PUNCTUATION_AND_DIGITS, start=1)})
_PRIMARY.update({ord("a") + i: 70 + i for i in range(26)})
_PRIMARY.update({ord("A") + i: 70 + i for i in range(26)})
_TERTIARY: dict[int, int | None] = {
    char: None if weight is None else int(65 <= char <= 90) for char, weight in _PRIMARY.items()
}

_ARRAY_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")
_MAX_ARRAY_INDEX = 2**32 - 2

_CACHE_SIZE = 4096
_CACHED_WEIGHTS = 16_384
_CACHED_KEYS = 64
_CACHED_CHARACTERS = 2048


class _Orders(dict[tuple[str, ...], tuple[str, ...]]):
    """Key sets as given, and each in the order of canonical text, worked out when it is first asked for."""

    def __missing__(self, given: tuple[str, ...]) -> tuple[str, ...]:
        small = sum(map(len, given)) <= _CACHED_CHARACTERS
        order = _sort(given, small) if len(given) > 1 else given
        if small and len(given) <= _CACHED_KEYS:
            if len(self) >= _CACHE_SIZE:
                self.clear()
            self[given] = order
        return order


key_orders = _Orders()
"""The order of a key set, as ``key_orders[tuple(keys)]``: what ``sorted_keys`` gives, without a call."""


def sorted_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """Keys in the order of canonical text.

    Raises:
        MissingExtraError: a key is not ASCII and ICU can't be imported.
    """
    return key_orders[tuple(keys)]


def javascript_key_order(keys: Iterable[str]) -> list[str]:
    """Keys as a JavaScript object lists them: array indexes first, ascending, then the order given."""
    given = list(keys)
    if not any(map(str.isdecimal, given)):
        return given
    indexes = [key for key in given if _is_array_index(key)]
    return sorted(indexes, key=int) + [key for key in given if not _is_array_index(key)]


def _sort(keys: tuple[str, ...], small: bool) -> tuple[str, ...]:
    weight = _ascii_weight if all(map(str.isascii, keys)) else _icu_weight
    return tuple(sorted(javascript_key_order(keys), key=weight if small else weight.__wrapped__))


def _is_array_index(key: str) -> bool:
    return _ARRAY_INDEX.match(key) is not None and int(key) <= _MAX_ARRAY_INDEX


@lru_cache(maxsize=_CACHED_WEIGHTS)
def _ascii_weight(key: str) -> Any:
    # No weight is zero, so that a key stands before the longer ones that begin with it.
    return f"{key.translate(_PRIMARY)}\0{key.translate(_TERTIARY)}"


@lru_cache(maxsize=_CACHED_WEIGHTS)
def _icu_weight(key: str) -> Any:
    return _icu_sort_key()(key)


@cache
def _icu_sort_key() -> Callable[[str], Any]:
    try:
        import icu
    except ImportError:
        raise MissingExtraError(
            "the identity of a payload with keys beyond ASCII", "icu", "pip install pyicu-wheels"
        ) from None
    collator = icu.Collator.createInstance(icu.Locale.getRoot())
    collator.setAttribute(icu.UCollAttribute.NORMALIZATION_MODE, icu.UCollAttributeValue.ON)

    def sort_key(key: str) -> Any:
        return collator.getSortKey(_code_units(key, icu.UnicodeString()) if has_lone_surrogate(key) else key)

    return sort_key


def _code_units(text: str, into: Any) -> Any:
    """A text as JavaScript holds it, code unit by code unit, in an ICU string that is still empty.

    PyICU converts a str that has an astral character as UTF-32, where a lone surrogate is an error or becomes
    U+FFFD.
    """
    data = text.encode("utf-16-le", "surrogatepass")
    for place in range(0, len(data), 2):
        into.append(int.from_bytes(data[place : place + 2], "little"))
    return into
