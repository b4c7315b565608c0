"""JSON texts: what is taken, what is written, and how values are told in messages."""

from __future__ import annotations

from collections import OrderedDict
from types import MappingProxyType

import pytest

from stateweave_graph.jsontext import (
    HARD_MAX_DEPTH,
    JsonTextError,
    decode,
    depth_exceeds,
    depth_of_text,
    dumps,
    escape_surrogates,
    has_lone_surrogate,
    join_halves,
    member_path,
    parse,
    quoted,
)


def nested(levels):
    value: object = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_what_is_written_is_what_was_read():
    text = '{"b":[1,2.5,12345678901234567890123,true,null],"a":"é\\u0000\\ud800😀/\\"","10":{}}'
    assert dumps(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1.0", "1.0"),
        ("1.50", "1.5"),
        ("1E3", "1000.0"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("9007199254740993", "9007199254740993"),
        (' { "a" :\t[ ] } \r\n', '{"a":[]}'),
        (r'"\u00e9\/\u007f\u2028"', '"é/\x7f\u2028"'),
        (r'"\ud83d\ude00 \ud83d \ude00"', r'"😀 \ud83d \ude00"'),
    ],
)
def test_the_value_is_kept_and_not_its_spelling(text, written):
    assert dumps(parse(text)) == written
    assert dumps(parse(written)) == written


def test_a_key_written_twice_keeps_its_first_place_and_last_value():
    assert dumps(parse('{"a":1,"b":2,"a":3}')) == '{"a":3,"b":2}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [-float("inf")]])
def test_what_json_has_no_number_for_is_not_written(value):
    with pytest.raises(ValueError, match="JSON"):
        dumps(value)


def test_halves_that_stand_together_are_one_character():
    assert escape_surrogates("\ud83d\ude00\ude00") == "😀\\ude00"
    assert join_halves("\ud83d\ude00\ude00") == "😀\ude00"
    assert join_halves("é") == "é"
    assert not has_lone_surrogate("é😀")
    assert has_lone_surrogate("\udfff")


@pytest.mark.parametrize("text", ['"\ud83d\ude00"', '"\ud83d\\ude00"', '"\\ud83d\ude00"', r'"\ud83d\ude00"'])
def test_halves_come_together_however_they_are_written(text):
    assert parse(text) == "😀"
    assert parse(f'{{"😀":1,{text}:2}}') == {"😀": 2}


@pytest.mark.parametrize(
    "text",
    ["NaN", "-Infinity", "[1,]", '{"a":1,}', "'a'", "01", "1 2", "\ufeff1", '"\n"', "", "\ud800", "+1", ".5"],
)
def test_what_is_not_one_value(text):
    with pytest.raises(JsonTextError, match="not a JSON value"):
        parse(text)


def test_where_a_text_is_broken_is_said():
    with pytest.raises(JsonTextError, match="line 2 column 3"):
        parse('{"a":1,\n  b}')
    with pytest.raises(JsonTextError, match=r"not UTF-8.*byte 2"):
        decode(b'"a\xff"')


def test_integers_of_many_digits():
    assert parse("9" * 309) == 10**309 - 1
    assert parse("-" + "9" * 310) == float("-inf")
    assert parse("[" + "9" * 1_000_000 + "]") == [float("inf")]


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("1", 1),
        ("[]", 1),
        ('{"a":[{}]}', 3),
        ('[[],[[]],"]]"]', 3),
        ('"[[["', 1),
        ('["\\"[["]', 1),
        ('["\\\\",[]]', 2),
        ('["[', 1),
        ("", 1),
    ],
)
def test_depth_of_a_text(text, depth):
    assert depth_of_text(text) == depth


def test_depth_of_a_text_of_many_brackets_and_escapes():
    assert depth_of_text("[" * 1_000_000) == 1_000_000
    assert depth_of_text('["' + '\\"' * 1_000_000) == 1


def test_depth_of_a_value():
    assert not depth_exceeds("[[", 1)
    assert not depth_exceeds(nested(5), 5)
    assert depth_exceeds(nested(6), 5)
    assert depth_exceeds(nested(100_000), HARD_MAX_DEPTH)
    assert depth_exceeds({"a": ({"b": MappingProxyType(OrderedDict(c=[]))},)}, 4)
    assert not depth_exceeds({"a": ({"b": MappingProxyType(OrderedDict(c=[]))},)}, 5)


def test_a_value_that_contains_itself_is_too_deep():
    value: dict[str, object] = {}
    value["a"] = [value, value]
    assert depth_exceeds(value, HARD_MAX_DEPTH)


def test_a_value_shared_by_many_places_is_walked_once_a_level():
    value: object = [1]
    for _ in range(200):
        value = [value, value]
    assert depth_exceeds(value, 200)
    assert not depth_exceeds(value, 201)


def test_the_deepest_value_that_may_be_read_comes_back():
    text = "[" * HARD_MAX_DEPTH + "]" * HARD_MAX_DEPTH
    assert dumps(parse(text)) == text


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("payload", "$.payload"),
        ("a b", "$['a b']"),
        ("", "$['']"),
        ("10", "$['10']"),
        ("é", "$['é']"),
        ("\ud800", "$['\\ud800']"),
        ("x" * 1000, "$['" + "x" * 80 + "'… (1000 characters)]"),
    ],
)
def test_paths_can_be_printed_and_stay_short(name, path):
    assert member_path("$", name) == path


def test_texts_in_messages():
    assert quoted("it's\n") == '"it\'s\\n"'
    assert quoted("\ud800" * 81) == "'" + "\\ud800" * 80 + "'… (81 characters)"
