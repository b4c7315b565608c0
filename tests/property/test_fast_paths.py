"""What is quick gives what the plain way gives, on texts and values of every sort, broken ones too."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stateweave_graph import validate
from stateweave_graph.identity import canonical, canonical_plainly, identity_of
from stateweave_graph.jsontext import decode, depth_of_text, dumps, parse, parse_plainly
from stateweave_graph.testing.strategies import json_values

SINGLE = '[]{}",:\\ \n-+.eE019ué\x00\x7f\ud83d\ude00😀\ufeff\ufffe'
TOKENS = (
    'null true NaN Infinity \\" \\ud83d \\ude00 \\u0000 "a": 1e999 -0.0 1e-400 0e400 {"a":1,"a":[]} '
    "9999999999999999999 -9223372036854775809 18446744073709551616 1000000000000000000000 0.33333333333333333"
)
PIECES = st.sampled_from([*SINGLE, *TOKENS.split(" ")])
TEXTS = st.one_of(
    st.lists(PIECES, max_size=12).map("".join),
    st.builds(
        lambda value, indent, ascii_only: json.dumps(value, indent=indent, ensure_ascii=ascii_only),
        json_values(),
        st.sampled_from([None, 0, "\t"]),
        st.booleans(),
    ),
)


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A JSON text with a piece put in, or a part left out."""
    text = draw(TEXTS)
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(st.just("") | PIECES) + text[start + draw(st.integers(0, 3)) :]


def exact(value: Any) -> Any:
    """A value that is equal to another only where types, digits and the order of keys are equal too."""
    if isinstance(value, dict):
        return [(key, exact(item)) for key, item in value.items()]
    return list(map(exact, value)) if isinstance(value, list) else (type(value), repr(value))


def outcome(function: Any, *arguments: Any) -> Any:
    """What comes of a call: an exact value, or an error and what it says."""
    try:
        return exact(function(*arguments))
    except (ValueError, TypeError, KeyError) as error:
        return type(error), str(error)


@given(TEXTS | broken())
@example("123456789012345678901")
@example("-12345678901234567890")
@example("[" * 1100 + "]" * 1100)
@example('"\ud800"')
@example('{"\ud83d\ude00":1}')
def test_a_text_is_read_as_the_plain_way_reads_it(text):
    expected = outcome(parse_plainly, text)
    assert outcome(parse, text) == expected
    data = text.encode("utf-8", "surrogatepass")
    assert outcome(parse, data) == outcome(lambda: parse_plainly(decode(data)))


@given(st.binary(max_size=12) | TEXTS.map(lambda text: text.encode("utf-16-le", "surrogatepass")))
def test_bytes_that_are_no_text_are_refused_as_the_plain_way_refuses_them(data):
    assert outcome(parse, data) == outcome(lambda: parse_plainly(decode(data)))


@pytest.mark.parametrize("before", ["", " ", "[", "[1,", '{"a":', "\n", "\t", "\r", "-", "[-", "[[-"])
@pytest.mark.parametrize("digits", ["9223372036854775808", "9223372036854775809", "18446744073709551616"])
def test_no_digit_of_an_integer_is_lost_wherever_it_stands(before, digits):
    text = before + digits + {"[": "]", "{": "}"}.get(before.strip()[:1], "") * max(before.count("["), 1)
    assert dumps(parse(text)) == text.strip()


STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)


def slow_depth(text: str) -> int:
    steps = ({"[": 1, "{": 1, "]": -1, "}": -1}.get(character, 0) for character in STRING.sub("", text))
    return max(1, *accumulate(steps, initial=0))


@given(
    st.lists(st.sampled_from([*"[]{}a,", '"a"', '"["', '"\\""', '"\\\\"', '"]\\u005b\\n"']), max_size=30)
    | st.lists(st.sampled_from('[]{}"a'), max_size=30)
    | st.lists(st.sampled_from("[]"), max_size=60)
)
def test_depth_is_that_of_a_count_by_hand_also_in_broken_texts(pieces):
    text = "".join(pieces)
    assert depth_of_text(text) == depth_of_text(text.encode()) == slow_depth(text)


NUMBERS = st.one_of(
    st.floats(),
    st.integers(-(2**70), 2**70),
    st.integers(-400, 400).flatmap(
        lambda power: st.sampled_from([1, -1, 1.5, -2.5]).map(lambda n: (n, power))
    ),
    st.sampled_from(
        [2**53, 2**53 - 1, -(2**53), 1e15, 1e16, 1e-4, 1e-5, 9.999e-5, 999999999999999.9, 0.0, -0.0]
    ),
).map(lambda number: float(f"{number[0]}e{number[1]}") if isinstance(number, tuple) else number)
VALUES = st.recursive(
    json_values(max_leaves=6) | NUMBERS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=4),
    max_leaves=8,
)


@given(VALUES)
@example([1.0, -1.5, 1e21, 1e-7, 5e-324, 123456789.5])
@example({"\ud800": 1})
def test_canonical_text_is_that_of_the_plain_way(value):
    assert outcome(canonical, value) == outcome(canonical_plainly, value)


@given(VALUES, st.none() | st.text(st.characters(codec=None, exclude_categories=()), max_size=3))
def test_an_id_is_that_of_the_plain_text(payload, key):
    content = {"kind": "goal", "parents": ["cw_1", "cw_2"], "payload": payload}
    if key is not None:
        content["resourceKey"] = key
    assert outcome(identity_of, "goal", content["parents"], payload, key) == outcome(
        lambda: "cw_" + sha256(canonical_plainly(content).encode()).hexdigest()[:24]
    )


def test_what_is_nested_deeper_than_the_quick_way_goes_is_written_too():
    value: Any = 1.5
    for number in range(400):
        value = [value] if number % 2 else {"b": value, "a": 1}
    assert canonical(value) == canonical_plainly(value)
    assert parse(canonical(value)) == value


@pytest.mark.parametrize("value", [{1: 2}, {1: 2, "a": 3}, [object()], {"a": (1,)}, b"a", {"a": {2}}])
def test_what_is_no_json_has_no_canonical_text(value):
    for text_of in (canonical, canonical_plainly):
        with pytest.raises((TypeError, KeyError)):
            text_of(value)


IDS = ["cw_1", "cw_2", "cw_10", "", "\uffff", "\U00010000", "\ud800"]


def parents_broken(given: list[tuple[str, list[Any]]]) -> list[str]:
    """Where the rule ``parents`` is broken, each parent looked at by itself."""
    places, before = [], set()
    for index, (node_id, parents) in enumerate(given):
        path = f"$.nodes[{index}].parents"
        texts = [parent for parent in parents if isinstance(parent, str)]
        for number, parent in enumerate(parents):
            again = parent in parents[:number]
            if isinstance(parent, str) and (again or parent not in before):
                places.append(f"{path}[{number}]")
        if texts != sorted(texts, key=lambda text: text.encode("utf-16-be", "surrogatepass")):
            places.append(path)
        before.add(node_id)
    return places


@given(
    st.lists(
        st.tuples(st.sampled_from(IDS), st.lists(st.sampled_from([*IDS, None, 1, True]), max_size=4)),
        max_size=6,
    )
)
@example([("\uffff", []), ("\U00010000", []), ("cw_1", ["\uffff", "\U00010000"])])
@example([("\uffff", []), ("\U00010000", []), ("cw_1", ["\U00010000", "\uffff"])])
@example([("cw_1", []), ("cw_2", []), ("cw_10", ["cw_1", "cw_2"])])
def test_parents_are_judged_as_one_by_one_whatever_ids_look_like(given):
    nodes = [
        {"id": node_id, "kind": "goal", "parents": parents, "payload": 0, "createdAt": "2026", "sequence": 0}
        for node_id, parents in given
    ]
    found = validate({"version": 1, "nodes": nodes, "frontier": []})
    assert [violation.path for violation in found if violation.rule == "parents"] == parents_broken(given)
