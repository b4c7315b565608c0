"""JSON text, canonical text and times against slow models written straight from the format."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from email.utils import format_datetime, parsedate_to_datetime
from functools import cmp_to_key
from typing import Any

import icu
from hypothesis import given
from hypothesis import strategies as st

from stateweave_graph import node_id
from stateweave_graph.identity import canonical, number_text
from stateweave_graph.javascript import javascript_json
from stateweave_graph.jsontext import depth_exceeds, depth_of_text, dumps, parse
from stateweave_graph.testing.strategies import json_values, times
from stateweave_graph.timestamps import instant_ms, iso_text

COLLATOR = icu.Collator.createInstance(icu.Locale.getRoot())
COLLATOR.setAttribute(icu.UCollAttribute.NORMALIZATION_MODE, icu.UCollAttributeValue.ON)
ASCII_KEYS = st.text(st.characters(max_codepoint=127), max_size=4)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def exact(value: Any) -> Any:
    """A value that is equal to another only where types, digits and the order of keys are equal too."""
    if isinstance(value, dict):
        return [(key, exact(item)) for key, item in value.items()]
    return list(map(exact, value)) if isinstance(value, list) else (type(value), repr(value))


@given(json_values())
def test_text_comes_back(value):
    text = dumps(value)
    text.encode()  # no lone surrogate is left
    assert exact(parse(text)) == exact(value) == exact(json.loads(text))
    assert dumps(parse(text)) == text


@given(json_values(), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_how_a_text_is_spelt_does_not_matter(value, indent, ascii_only):
    spelt = json.dumps(value, indent=indent, ensure_ascii=ascii_only, separators=(" , ", " : "))
    assert exact(parse(spelt)) == exact(value)


def slow_depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(slow_depth, value), default=0) if isinstance(value, list) else 0


@given(json_values())
def test_depth_is_found_without_parsing(value):
    depth = max(slow_depth(value), 1)
    assert depth_of_text(json.dumps(value)) == depth
    assert not depth_exceeds(value, depth)
    assert slow_depth(value) == 0 or depth_exceeds(value, depth - 1)


def slow_canonical(value: Any) -> str:
    """The table of format.md, *Identity*, a row a branch; for ASCII keys."""
    if isinstance(value, str):
        return '"' + "".join(map(slow_character, value)) + '"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return slow_number(float(value))
    if isinstance(value, list):
        return "[" + ",".join(map(slow_canonical, value)) + "]"
    indexes = [key for key in value if key.isdecimal() and str(int(key)) == key and int(key) < 2**32 - 1]
    own = sorted(indexes, key=int) + [key for key in value if key not in indexes]
    keys = sorted(own, key=cmp_to_key(COLLATOR.compare))
    return "{" + ",".join(f"{slow_canonical(key)}:{slow_canonical(value[key])}" for key in keys) + "}"


def slow_character(character: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
    code = ord(character)
    if character in short:
        return short[character]
    return f"\\u{code:04x}" if code < 0x20 or 0xD800 <= code <= 0xDFFF else character


def slow_number(number: float) -> str:
    """Number::toString of ECMA-262, with its k, n and s."""
    if number == 0:
        return "0"
    if number < 0:
        return "-" + slow_number(-number)
    _, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    s, k, n = "".join(map(str, digits)), len(digits), len(digits) + exponent
    if k <= n <= 21:
        return s + "0" * (n - k)
    if 0 < n <= 21:
        return s[:n] + "." + s[n:]
    if -6 < n <= 0:
        return "0." + "0" * -n + s
    fraction = "." + s[1:] if k > 1 else ""
    return f"{s[0]}{fraction}e{'+' if n > 0 else '-'}{abs(n - 1)}"


@given(json_values(keys=ASCII_KEYS))
def test_canonical_text_against_the_model(value):
    assert canonical(value) == slow_canonical(value)


@given(st.one_of(FINITE, st.integers(-(2**70), 2**70), st.sampled_from([10.0**n for n in range(-30, 30)])))
def test_numbers_against_the_model(number):
    text = number_text(number)
    assert text == slow_number(float(number))
    assert float(text) == float(number)


def reversed_where_the_order_is_free(value: Any) -> Any:
    """The same value with the keys of objects the other way round, unless some compare equal."""
    if isinstance(value, list):
        return list(map(reversed_where_the_order_is_free, value))
    if not isinstance(value, dict):
        return value
    keys = list(value)
    if len({COLLATOR.getSortKey(key) for key in keys}) == len(keys):
        keys.reverse()
    return {key: reversed_where_the_order_is_free(value[key]) for key in keys}


@given(json_values())
def test_canonical_text_does_not_depend_on_the_order_of_keys(value):
    text = canonical(value)
    assert canonical(reversed_where_the_order_is_free(value)) == text
    assert canonical(parse(text)) == text
    assert canonical(parse(dumps(value))) == text


@given(json_values(), st.permutations(["cw_a", "cw_b", "cw_c"]), st.none() | st.text(max_size=4))
def test_an_id_is_that_of_the_content(payload, parents, key):
    expected = node_id("goal", ["cw_a", "cw_b", "cw_c"], payload, key)
    assert node_id("goal", parents, parse(dumps(payload)), key) == expected
    assert node_id("goal", parents[1:], payload, key) != expected
    assert node_id("answer", parents, payload, key) != expected
    assert node_id("goal", parents, [payload], key) != expected
    assert node_id("goal", parents, payload, None if key is not None else "") != expected


@given(json_values())
def test_javascript_text_is_a_fixed_point(value):
    text = javascript_json(value)
    assert javascript_json(parse(text)) == text
    assert canonical(parse(text)) == canonical(value)


OFFSETS = st.integers(-(24 * 60 - 1), 24 * 60 - 1)


@given(st.datetimes(), st.sampled_from(["minutes", "seconds", "milliseconds", "microseconds"]), OFFSETS)
def test_iso_times_mean_what_python_takes_them_for(moment, precision, offset):
    text = moment.isoformat(timespec=precision)
    whole = datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
    expected = (whole - EPOCH) // timedelta(milliseconds=1)
    zone = f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
    assert instant_ms(text) == instant_ms(text + "Z") == expected
    assert instant_ms(text + zone) == instant_ms(text + zone.replace(":", "")) == expected - offset * 60_000
    assert instant_ms(text[:10]) == expected // 86_400_000 * 86_400_000


@given(st.datetimes(min_value=datetime(1000, 1, 1)), OFFSETS)
def test_rfc_dates_mean_what_python_takes_them_for(moment, offset):
    text = format_datetime(moment.replace(tzinfo=timezone(timedelta(minutes=offset))))
    expected = (moment.replace(microsecond=0, tzinfo=timezone.utc) - EPOCH) // timedelta(milliseconds=1)
    assert instant_ms(text) == instant_ms(text.partition(", ")[2]) == expected - offset * 60_000
    assert instant_ms(text[:-5] + "UTC") == expected


@given(times())
def test_every_time_has_an_instant(text):
    assert isinstance(instant_ms(text), int)


@given(times(), st.data())
def test_what_is_nearly_a_time_is_none_or_another(text, data):
    place = data.draw(st.integers(0, len(text)))
    other = text[:place] + data.draw(st.text(max_size=1)) + text[place + data.draw(st.integers(0, 1)) :]
    if instant_ms(other) is not None:
        assert other.isascii()
        day = other[:10] if other[4] == "-" else parsedate_to_datetime(other).date().isoformat()
        assert date.fromisoformat(day).isoformat() == day


@given(st.integers(-62135596800000, 253402300799999))
def test_an_instant_comes_back(ms):
    assert instant_ms(iso_text(ms)) == ms
