"""A state that is read node by node is judged as one that is parsed whole, whatever its text looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateweave_graph import AgentState, InvalidStateError, LimitExceededError, node_id, validate
from stateweave_graph.jsontext import JsonTextError, decode, dumps, parse_plainly
from stateweave_graph.statetext import NodeTexts, split_state
from stateweave_graph.testing.strategies import states
from tests.support.states import story

SEAMS = [
    '},{"id":"cw_',
    '}],"frontier":[',
    ',{"id":"cw_0"}',
    '],"frontier":[]}',
    '{"version":1,"nodes":[',
    "]",
]
PIECES = st.sampled_from(
    [*SEAMS, *'[]{}",:\\ \n0', '"nodes":[],', '"a":1,', "null", "1e999", "9" * 21, "\ud800"]
)


def judged_whole(text: str | bytes) -> Any:
    """The violations of a text by way of the standard library's parser and of the parsed object."""
    try:
        return validate(parse_plainly(decode(text) if isinstance(text, bytes) else text))
    except JsonTextError as error:
        return [("json", "$", str(error), "")]


@given(states(), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 3), st.just("") | PIECES), max_size=2))
def test_violations_are_those_of_the_whole_in_broken_texts_too(state, changes):
    text = state.to_json()
    for where, length, piece in changes:
        start = int(where * len(text))
        text = text[:start] + piece + text[start + length :]
    data = text.encode("utf-8", "surrogatepass")
    assert validate(text) == judged_whole(text)
    assert validate(data) == judged_whole(data)


@given(states(), st.sampled_from(SEAMS), st.sampled_from(["", " ", "\n \t\r\n", "x", "\ufeff"]))
def test_payloads_may_hold_what_looks_like_a_seam(state, seam, after):
    wire = state.to_dict()
    last = wire["nodes"][-1]["id"]
    for payload in (seam, {seam: [seam]}, [{"a": 1}, {"id": last}], [{"nodes": [{"a": 1}], "frontier": []}]):
        number = len(wire["nodes"]) + 1
        added = {"id": node_id("goal", [], payload), "kind": "goal", "parents": [], "payload": payload}
        if added["id"] not in {node["id"] for node in wire["nodes"]}:
            wire["nodes"].append({**added, "createdAt": "2026-09-01", "sequence": number})
    text = dumps(wire) + after
    assert validate(text) == judged_whole(text)
    if after.isspace() or not after:
        assert AgentState.from_json(text) == AgentState.model_validate(wire)


@given(states())
def test_what_was_written_compactly_is_taken_apart(state):
    found = split_state(state.to_json().encode())
    assert found is not None
    assert isinstance(found["nodes"], NodeTexts)
    assert len(found["nodes"]) == len(state.nodes)
    assert {**found, "nodes": list(found["nodes"])} == state.to_dict()
    assert split_state(json.dumps(state.to_dict(), indent=1).encode()) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"version":1', '"version":1.0'),
        lambda text: text.replace('"version":1', '"version":2'),
        lambda text: text[:-1] + ',"nodes":[]}',
        lambda text: text[:-1] + ',"frontier":[]}',
        lambda text: text[:-1] + ',"more":[1]}',
        lambda text: text[:-2] + ',"\\u005d"]}',
        lambda text: text[:-2] + ",1,]}",
        lambda text: text[:-2] + ',"]"]}',
        lambda text: text.replace(',{"id"', ', {"id"', 2),
        lambda text: text.replace(',{"id"', ',,{"id"', 1),
        lambda text: text.replace('},{"id"', '}{"id"', 1),
        lambda text: text.replace('},{"id"', '},1,{"id"', 1),
        lambda text: text.replace("[{", "[[]{", 1),
        lambda text: text[: text.index("}],")] + '],"frontier":[]}',
        lambda text: '{"version":1,"nodes":[}],"frontier":[]}',
        lambda text: '{"version":1,"nodes":[{}],"frontier":[]}',
        lambda text: '{"version":1,"nodes":[],"frontier":[]}',
    ],
)
def test_other_layouts_and_what_is_nearly_a_state(change):
    text = change(story(2).to_json())
    assert validate(text) == validate(text.encode()) == judged_whole(text)


def test_limits_hold_and_nothing_is_made_of_what_is_refused():
    state = story(2)
    text, count = state.to_json(), len(state.nodes)
    assert AgentState.from_json(text, max_nodes=count) == state
    with pytest.raises(LimitExceededError) as caught:
        AgentState.from_json(text, max_nodes=count - 1)
    assert [violation.value for violation in caught.value.violations] == [f"{count} nodes"]
    changed = text.replace('"sequence":2', '"sequence":99', 1)
    with pytest.raises(InvalidStateError) as refused:
        AgentState.from_json(changed)
    assert [violation.path for violation in refused.value.violations] == ["$.nodes[1].sequence"]


def test_bytes_that_are_no_text_are_told_as_such_however_deep():
    for data in (b'{"version":1,"nodes":[{"id":"cw_\xff"}],"frontier":[]}', b"[" * 200 + b"\xff"):
        assert [(found.rule, "UTF-8" in found.message) for found in validate(data)] == [("json", True)]
    assert [found.rule for found in validate(b"[" * 200)] == ["size"]
