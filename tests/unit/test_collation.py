"""The order of keys: ICU's root collation, its ASCII table, and JavaScript's order where keys are equal."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import unicodedata

import icu
import pytest

from stateweave_graph import node_id
from stateweave_graph.collation import javascript_key_order, sorted_keys

COLLATOR = icu.Collator.createInstance(icu.Locale.getRoot())
COLLATOR.setAttribute(icu.UCollAttribute.NORMALIZATION_MODE, icu.UCollAttributeValue.ON)
ASCII = [chr(code) for code in range(128)]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["b", "A", "a", "B", "1", "-", "_"], ["_", "-", "1", "a", "A", "b", "B"]),
        (["ab", "a b", "a-b", "a_b", "aB"], ["a b", "a_b", "a-b", "ab", "aB"]),
        (["Ab", "aa", "aB", "AA"], ["aa", "AA", "aB", "Ab"]),
        (["z", "é", "e", "f"], ["e", "é", "f", "z"]),
        (["e2", "é1"], ["é1", "e2"]),
        (["checksum", "head", "ch", "i", "chair"], ["ch", "chair", "checksum", "head", "i"]),
        (["å", "z", "aa"], ["å", "aa", "z"]),
        (["名前", "最大"], ["最大", "名前"]),
        (["ж", "я", "z", "α"], ["z", "α", "ж", "я"]),
        (["10", "9", "1"], ["1", "10", "9"]),
        (["٣", "2", "4"], ["2", "٣", "4"]),
        (["e\u0301", "\u00e9"], ["e\u0301", "\u00e9"]),  # equal: the order given
        (["\u00e9", "e\u0301"], ["\u00e9", "e\u0301"]),
        (["b", "a\u200d", "a"], ["a\u200d", "a", "b"]),  # a joiner is ignorable
        (["\u0001", "2", "1", "\u0000"], ["\u0001", "\u0000", "1", "2"]),  # and so are controls
        (["1\u0000", "1"], ["1", "1\u0000"]),  # equal: an array index comes first
        (["9\u0000", "10", "9"], ["10", "9", "9\u0000"]),
        (["", "a"], ["", "a"]),
        (["\ud800", "a"], ["a", "\ud800"]),
        (["\ud83e😀a", "z", "é"], ["é", "z", "\ud83e😀a"]),  # UTF-16 code units: a half beside an astral one
        (["b\ud800😀", "b\ud800", "b😀"], ["b😀", "b\ud800", "b\ud800😀"]),
        (["\udfff", "\ud800", "\U0001d49c\udfff"], ["\U0001d49c\udfff", "\ud800", "\udfff"]),
        ([], []),
        (["only"], ["only"]),
    ],
)
def test_key_order(keys, expected):
    assert list(sorted_keys(keys)) == expected
    assert list(sorted_keys(iter(keys))) == expected


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ({"\ud83e😀a": 1, "z": 2, "é": 3}, "cw_55e424759c4694b8aa79735a"),
        ({"b\ud800😀": 1, "b\ud800": 2, "b😀": 3}, "cw_a0756f0278e8977d6a1a266f"),
    ],
)
def test_keys_with_half_a_character_beside_an_astral_one_give_the_id_of_node_20(payload, expected):
    assert node_id("goal", [], payload) == expected


def test_the_ascii_table_gives_every_pair_the_order_of_icu():
    for pair in itertools.permutations(ASCII, 2):
        first, second = sorted_keys(pair)
        order = COLLATOR.compare(first, second)
        assert order < 0 or (order == 0 and [first, second] == javascript_key_order(pair)), pair


def test_the_ascii_table_agrees_with_icu_on_longer_keys():
    source = random.Random(7)
    for alphabet in (ASCII, list("aAbB_- 19"), list("aA\0\t-")):
        for _ in range(1_000):
            keys = list({"".join(source.choices(alphabet, k=source.randint(0, 6))) for _ in range(8)})
            expected = sorted(javascript_key_order(keys), key=COLLATOR.getSortKey)
            assert list(sorted_keys(keys)) == expected


def test_the_order_of_marks_does_not_depend_on_their_spelling():
    words = ["a\u0323\u0302x", "ậx", "âz", "ạa", "é", "e\u0301a", "ệ"]
    plain = sorted_keys(words)
    for form in ("NFC", "NFD"):
        spelt = sorted_keys([unicodedata.normalize(form, word) for word in words])
        assert [unicodedata.normalize("NFC", word) for word in spelt] == [
            unicodedata.normalize("NFC", word) for word in plain
        ]


def test_the_order_is_the_same_when_it_is_asked_for_again_and_after_many_others():
    asked = (["b", "é", "a"], ["x\u0000", "x"], ["x", "x\u0000"])
    first = [sorted_keys(keys) for keys in asked]
    for number in range(5_000):
        sorted_keys([f"b{number}", f"a{number}"])
    assert [sorted_keys(keys) for keys in asked] == first
    many = [f"key {number:05}" for number in range(2_000)]
    assert list(sorted_keys(many[::-1])) == many


def test_integer_like_keys_come_first_as_in_a_javascript_object():
    keys = ["b", "10", "9", "a", "01", "-1", "1.5", "1e3", "4294967295", "4294967294", "0", "", "٣", "1\n"]
    assert javascript_key_order(keys) == [
        "0",
        "9",
        "10",
        "4294967294",
        "b",
        "a",
        "01",
        "-1",
        "1.5",
        "1e3",
        "4294967295",
        "",
        "٣",
        "1\n",
    ]


WITHOUT_ICU = """
import sys
sys.modules["icu"] = None
from stateweave_graph import AgentState, MissingExtraError, StateWeaveGraphError, node_id, validate
print(node_id("goal", [], {"b": 1, "A": 2, "a": 3}))
print(node_id("goal", [], {"only": "é is a value"}))
print(node_id("goal", [], {"é": "one key needs no order"}))
node = {"id": "cw_0", "kind": "goal", "parents": [], "payload": {"é": 1, "e": 2}}
state = {"version": 1, "nodes": [node | {"createdAt": "2026-09-01", "sequence": 1}], "frontier": []}
for attempt in (
    lambda: node_id("goal", [], node["payload"]),
    lambda: validate(state),
    lambda: AgentState.model_validate(state),
):
    try:
        attempt()
    except MissingExtraError as error:
        assert isinstance(error, StateWeaveGraphError) and error.package == "icu"
        print(error.command, "|", error)
"""


def test_without_icu_ascii_keys_still_work_and_others_say_what_is_missing():
    done = subprocess.run([sys.executable, "-c", WITHOUT_ICU], capture_output=True, text=True, check=True)
    first, second, third, *errors = done.stdout.splitlines()
    assert first == node_id("goal", [], {"b": 1, "A": 2, "a": 3})
    assert second == node_id("goal", [], {"only": "é is a value"})
    assert third == node_id("goal", [], {"é": "one key needs no order"})
    assert len(errors) == 3
    for error in errors:
        command, _, message = error.partition(" | ")
        assert command == "pip install pyicu-wheels"
        assert command in message
        assert "keys beyond ASCII" in message
