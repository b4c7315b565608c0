"""Canonical text and ids, beyond the vectors."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections import OrderedDict
from decimal import Decimal
from enum import Enum, IntEnum

import pytest

from stateweave_graph import InvalidAppendError, NodeKind, node_id
from stateweave_graph.identity import canonical, is_finite_double, number_text, plain_json
from stateweave_graph.jsontext import HARD_MAX_DEPTH


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345678901234, "1.2345678901234569e+23"),
        (999999999999999934463, "999999999999999900000"),
        (999999999999999934465, "1e+21"),
        (9007199254740992, "9007199254740992"),
        (9007199254740993, "9007199254740992"),
        (-9007199254740993, "-9007199254740992"),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (1.5e-6, "0.0000015"),
        (1.5e-10, "1.5e-10"),
        (5e-324, "5e-324"),
        (1e23, "1e+23"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (2**1024 - 2**970 - 1, "1.7976931348623157e+308"),
        (0.1 + 0.2, "0.30000000000000004"),
        (100, "100"),
        (-1.25, "-1.25"),
        (123456.789, "123456.789"),
        (1e16, "10000000000000000"),
    ],
)
def test_numbers_as_javascript_prints_them(number, text):
    assert number_text(number) == text


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 2**1024, -(10**400), 2**1024 - 2**970])
def test_numbers_that_are_no_double_have_no_text(number):
    assert not is_finite_double(number)
    with pytest.raises(ValueError, match="range of a double"):
        canonical([number])


def test_strings_as_json_stringify_writes_them():
    assert (
        canonical('"\\/\b\t\n\f\r\x00\x1f\x7f\u2028é😀')
        == '"\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u001f\x7f\u2028é😀"'
    )
    assert canonical("a\ud800b\udfff") == '"a\\ud800b\\udfff"'
    assert canonical("\ud83d\ude00") == '"😀"'
    assert canonical({"\ud800": 1}) == '{"\\ud800":1}'


def test_booleans_are_no_numbers():
    assert canonical([True, 1, False, 0, None]) == "[true,1,false,0,null]"
    assert node_id("goal", [], True) != node_id("goal", [], 1)
    assert node_id("goal", [], None) != node_id("goal", [], False)


def test_canonical_text_is_json_of_the_same_value():
    value = {"z": [1, 2.5, "x"], "a": {"ü": None, "u": False}}
    assert json.loads(canonical(value)) == value


def test_node_id_is_the_hash_of_the_canonical_text():
    text = (
        '{"kind":"tool_call","parents":["cw_a","cw_b"],"payload":{"a":1,"b":[true,null]},"resourceKey":"k"}'
    )
    expected = "cw_" + hashlib.sha256(text.encode()).hexdigest()[:24]
    payload = {"b": (True, None), "a": 1.0}
    assert node_id(NodeKind.TOOL_CALL, ["cw_b", "cw_a"], payload, "k") == expected
    assert node_id("tool_call", ["cw_b", "cw_a"], payload, "k") == expected
    assert node_id("tool_call", ["cw_b", "cw_a"], payload) != expected


def test_an_empty_resource_key_is_not_an_absent_one():
    text = '{"kind":"goal","parents":[],"payload":1,"resourceKey":""}'
    assert node_id("goal", [], 1, "") == "cw_" + hashlib.sha256(text.encode()).hexdigest()[:24]
    assert node_id("goal", [], 1, "") != node_id("goal", [], 1)


def test_composed_and_decomposed_texts_are_different_nodes():
    composed = unicodedata.normalize("NFC", "é")
    assert node_id("goal", [], composed) != node_id("goal", [], unicodedata.normalize("NFD", composed))


def test_the_order_of_keys_that_are_equal_counts():
    assert node_id("goal", [], {"é": 1, "e\u0301": 2}) != node_id("goal", [], {"e\u0301": 2, "é": 1})
    assert node_id("goal", [], {"e": 1, "f": 2}) == node_id("goal", [], {"f": 2, "e": 1})


class Colour(str, Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


def test_plain_json_is_a_copy_of_exact_types():
    inner = [1, 2.5]
    value = OrderedDict(b=(inner, Colour.RED), a={Colour.RED: Level.HIGH, "t": True, "n": None})
    plain = plain_json(value)
    assert plain == {"b": [[1, 2.5], "red"], "a": {"red": 3, "t": True, "n": None}}
    assert list(plain) == ["b", "a"]
    assert [type(part) for part in (plain, plain["b"], plain["b"][1], plain["a"]["red"])] == [
        dict,
        list,
        str,
        int,
    ]
    assert [type(key) for key in plain["a"]] == [str, str, str]
    assert plain["a"]["t"] is True
    inner.append(3)
    assert plain["b"][0] == [1, 2.5]


def test_halves_of_a_character_are_joined_as_on_their_way_through_text():
    assert plain_json(["\ud83d\ude00", "\ude00\ud83d"]) == ["😀", "\ude00\ud83d"]
    plain = plain_json({"\ud83d\ude00": 1, "a": 2, "😀": 3})
    assert list(plain.items()) == [("😀", 3), ("a", 2)]


@pytest.mark.parametrize(
    ("payload", "place"),
    [
        (math.nan, "payload"),
        ({"a": [1, math.inf]}, r"payload\.a\[1\]"),
        ({"a b": -math.inf}, r"payload\['a b'\]"),
        ({"\ud800": math.nan}, r"payload\['\\ud800'\]"),
        ({1: 2}, "payload has the key 1"),
        ({None: 2}, "payload has the key None"),
        ({"a": {(1, 2): 2}}, r"payload\.a has the key \(1, 2\)"),
        ({"a": object()}, r"payload\.a is a object"),
        (b"bytes", "payload is a bytes"),
        ([{1, 2}], r"payload\[0\] is a set"),
        (Decimal("1.5"), "payload is a Decimal"),
        ([10**400], r"payload\[0\] is a number"),
    ],
)
def test_what_is_no_json_has_no_identity(payload, place):
    with pytest.raises(InvalidAppendError, match=f"^{place}") as caught:
        node_id("goal", [], payload)
    str(caught.value).encode()


def test_a_message_stays_short_however_long_the_keys_are():
    with pytest.raises(InvalidAppendError) as caught:
        node_id("goal", [], {"k" * 1_000_000: math.nan})
    assert len(str(caught.value)) < 300


def test_a_payload_that_contains_itself_is_refused():
    payload: list[object] = []
    payload.append(payload)
    with pytest.raises(InvalidAppendError, match="contains itself"):
        node_id("goal", [], payload)


def test_depth_of_payloads():
    value: object = 1
    for _ in range(HARD_MAX_DEPTH):
        value = {"a": value}
    assert node_id("goal", [], value).startswith("cw_")
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InvalidAppendError, match="512"):
        node_id("goal", [], value)


@pytest.mark.parametrize(
    ("kind", "parents", "key"),
    [(5, [], None), ("goal", [1], None), ("goal", ["a", 1], None), ("goal", [], 5)],
)
def test_what_is_no_text_has_no_identity(kind, parents, key):
    with pytest.raises(InvalidAppendError, match="must be texts"):
        node_id(kind, parents, 1, key)
