"""Canonical text and ids, beyond the vectors."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import unicodedata

import pytest

from stateweave_graph import InvalidAppendError, NodeKind, node_id
from stateweave_graph.collation import javascript_key_order, sorted_keys
from stateweave_graph.identity import canonical, number_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0, "0"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345678901234, "1.2345678901234569e+23"),
        (9007199254740993, "9007199254740992"),
        (-9007199254740993, "-9007199254740992"),
        (1e-7, "1e-7"),
        (0.000001, "0.000001"),
        (1.5e-10, "1.5e-10"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (0.1 + 0.2, "0.30000000000000004"),
        (100, "100"),
        (-1.25, "-1.25"),
    ],
)
def test_numbers_as_javascript_prints_them(number, text):
    assert number_text(number) == text


def test_strings_as_json_stringify_writes_them():
    assert (
        canonical('"\\/\b\t\n\f\r\x00\x1f\x7f\u2028é😀')
        == '"\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u001f\x7f\u2028é😀"'
    )
    assert canonical("a\ud800b\udfff") == '"a\\ud800b\\udfff"'
    assert canonical("\ud83d\ude00") == '"😀"'


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["b", "A", "a", "B", "1", "-", "_"], ["_", "-", "1", "a", "A", "b", "B"]),
        (["ab", "a b", "a-b", "a_b", "aB"], ["a b", "a_b", "a-b", "ab", "aB"]),
        (["z", "é", "e", "f"], ["e", "é", "f", "z"]),
        (["名前", "最大"], ["最大", "名前"]),
        (["10", "9", "1"], ["1", "10", "9"]),
        (["e\u0301", "\u00e9"], ["e\u0301", "\u00e9"]),  # equal: the order given
        (["\u00e9", "e\u0301"], ["\u00e9", "e\u0301"]),
        (["\u0001", "2", "1", "\u0000"], ["\u0001", "\u0000", "1", "2"]),  # controls are ignorable
        (["", "a"], ["", "a"]),
    ],
)
def test_key_order(keys, expected):
    assert list(sorted_keys(keys)) == expected


def test_ascii_table_agrees_with_icu():
    icu = pytest.importorskip("icu")  # a dependency of the base install: always there in CI
    collator = icu.Collator.createInstance(icu.Locale.getRoot())
    collator.setAttribute(icu.UCollAttribute.NORMALIZATION_MODE, icu.UCollAttributeValue.ON)
    source = random.Random(7)
    letters = [chr(code) for code in range(128)]
    for _ in range(2_000):
        keys = list({"".join(source.choices(letters, k=source.randint(0, 6))) for _ in range(8)})
        expected = sorted(javascript_key_order(keys), key=collator.getSortKey)
        assert list(sorted_keys(keys)) == expected


def test_integer_like_keys_come_first_where_keys_are_equal():
    assert javascript_key_order(["b", "10", "9", "a", "01", "4294967295", "4294967294"]) == [
        "9",
        "10",
        "4294967294",
        "b",
        "a",
        "01",
        "4294967295",
    ]


def test_node_id_is_the_hash_of_the_canonical_text():
    text = (
        '{"kind":"tool_call","parents":["cw_a","cw_b"],"payload":{"a":1,"b":[true,null]},"resourceKey":"k"}'
    )
    expected = "cw_" + hashlib.sha256(text.encode()).hexdigest()[:24]
    payload = {"b": (True, None), "a": 1.0}
    assert node_id(NodeKind.TOOL_CALL, ["cw_b", "cw_a"], payload, "k") == expected
    assert node_id("tool_call", ["cw_b", "cw_a"], payload, "k") == expected
    assert node_id("tool_call", ["cw_b", "cw_a"], payload) != expected


@pytest.mark.parametrize(
    "payload", [float("nan"), float("inf"), {1: 2}, {"a": object()}, b"bytes", {1, 2}, 10**400]
)
def test_what_is_no_json_has_no_identity(payload):
    with pytest.raises(InvalidAppendError):
        node_id("goal", [], payload)


def test_a_payload_that_contains_itself_is_refused():
    payload: list[object] = []
    payload.append(payload)
    with pytest.raises(InvalidAppendError, match="contains itself"):
        node_id("goal", [], payload)


def test_composed_and_decomposed_texts_are_different_nodes():
    composed = unicodedata.normalize("NFC", "é")
    assert node_id("goal", [], composed) != node_id("goal", [], unicodedata.normalize("NFD", composed))


WITHOUT_ICU = """
import sys, json
sys.modules["icu"] = None
from stateweave_graph import MissingExtraError, node_id
print(node_id("goal", [], {"b": 1, "A": 2, "a": 3}))
print(node_id("goal", [], {"only": "é is a value"}))
try:
    node_id("goal", [], {"é": 1, "e": 2})
except MissingExtraError as error:
    print(error)
"""


def test_without_icu_ascii_keys_still_work_and_others_say_what_is_missing():
    done = subprocess.run([sys.executable, "-c", WITHOUT_ICU], capture_output=True, text=True, check=True)
    first, second, error = done.stdout.splitlines()
    assert first == node_id("goal", [], {"b": 1, "A": 2, "a": 3})
    assert second == node_id("goal", [], {"only": "é is a value"})
    assert "pyicu-wheels" in error
    assert "pip install" in error


def test_canonical_text_is_json_of_the_same_value():
    value = {"z": [1, 2.5, "x"], "a": {"ü": None, "u": False}}
    assert json.loads(canonical(value)) == value
