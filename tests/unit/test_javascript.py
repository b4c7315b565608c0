"""JSON text as JavaScript writes it: what ``JSON.stringify(JSON.parse(text))`` gives."""

import json

import pytest

from stateweave_graph.javascript import javascript_json
from stateweave_graph.jsontext import parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"b":1,"a":2}', '{"b":1,"a":2}'),
        ('{"b":1,"10":2,"9":3,"a":4,"0":5}', '{"0":5,"9":3,"10":2,"b":1,"a":4}'),
        ('{"x":1,"4294967295":2,"4294967294":3}', '{"4294967294":3,"x":1,"4294967295":2}'),
        ('{"01":1,"-1":2,"1.5":3,"1":4}', '{"1":4,"01":1,"-1":2,"1.5":3}'),
        ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
        ('{"é":1,"Z":{"2":[],"1":{}}}', '{"é":1,"Z":{"1":{},"2":[]}}'),
        ("[1.0, -0.0, 1e21, 1e-7, 0.000001, 123e-20]", "[1,0,1e+21,1e-7,0.000001,1.23e-18]"),
        ("[9007199254740993, 100000000000000000000, 1.50]", "[9007199254740992,100000000000000000000,1.5]"),
        ("[true, false, null]", "[true,false,null]"),
        (r'"\u0000\u001f\u007f\b\f\/\"\\"', '"\\u0000\\u001f\x7f\\b\\f/\\"\\\\"'),
        (r'"\u2028\ud83d\ude00"', '"\u2028😀"'),
        (r'"\uD800x\uDC00"', r'"\ud800x\udc00"'),
    ],
)
def test_text_is_what_a_javascript_engine_writes(text, expected):
    assert javascript_json(parse(text)) == expected


def test_deepest_value_that_may_be_read_is_written():
    value = json.loads("[" * 512 + "]" * 512)
    assert javascript_json(value) == "[" * 512 + "]" * 512


@pytest.mark.parametrize("text", ["1e999", "-1e999", "1" + "0" * 309])
def test_a_number_beyond_a_double_is_refused(text):
    with pytest.raises(ValueError, match="range of a double"):
        javascript_json({"a": [parse(text)]})
