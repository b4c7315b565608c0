"""States, nodes and appends: strict on the way in, lossless on the way out."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

import stateweave_graph.errors as errors
from stateweave_graph import (
    AgentState,
    Append,
    CausalMirror,
    CausalNode,
    InvalidAppendError,
    InvalidStateError,
    NodeKind,
    SemanticPayload,
    StateWeaveGraphError,
    node_id,
)
from tests.support.states import append, story, wire


def test_a_state_is_judged_however_it_is_made():
    good = wire(1)
    assert AgentState(**good).to_dict() == good
    assert AgentState.model_validate(good).to_dict() == good
    assert AgentState(version=1, nodes=story(1).nodes, frontier=story(1).frontier).to_dict() == good
    bad = {**good, "frontier": ["cw_nowhere"]}
    for make in (lambda: AgentState(**bad), lambda: AgentState.model_validate(bad)):
        with pytest.raises(InvalidStateError):
            make()
    with pytest.raises(InvalidStateError):
        AgentState.model_validate("no object")


def test_states_and_nodes_are_read_only():
    state = story(1)
    for change in (lambda: setattr(state, "frontier", []), lambda: setattr(state.nodes[0], "payload", 1)):
        with pytest.raises(ValueError, match="frozen"):
            change()


def test_order_of_keys_and_digits_come_back():
    text = json.dumps(wire(1), separators=(",", ":"))
    payload = '{"z":1,"a":{"10":1,"9":2},"n":123456789012345678901234567890,"f":1.5,"e":"\\ud800"}'
    identity = node_id("goal", [], json.loads(payload))
    state = (
        f'{{"version":1,"nodes":[{{"id":"{identity}","kind":"goal","parents":[],"payload":{payload},'
        f'"createdAt":"2026-09-01","sequence":1,"zz":1,"aa":[{{"b":1,"a":2}}]}}],"frontier":[]}}'
    )
    assert AgentState.from_json(state).to_json() == state
    assert AgentState.from_json(text).to_json() == text


def test_bytes_of_all_kinds_are_taken():
    text = story(1).to_json()
    for source in (text, text.encode(), bytearray(text.encode()), memoryview(text.encode())):
        assert AgentState.from_json(source).to_json() == text


def test_a_node_takes_both_spellings_and_is_strict():
    node = story(1).nodes[1]
    assert CausalNode(**node.to_dict()) == node
    assert CausalNode.model_validate({**node.to_dict(), "mine": 1}).extra == {"mine": 1}
    for field, value in [
        ("sequence", True),
        ("sequence", "1"),
        ("id", 5),
        ("parents", ("a",)),
        ("kind", "Goal"),
    ]:
        with pytest.raises(InvalidStateError):
            CausalNode.model_validate({**node.to_dict(), field: value})


def test_fields_come_back_in_the_order_of_the_format():
    node = story(1).nodes[4]
    wire_node = {"zz": 1, **dict(reversed(node.to_dict().items())), "aa": 2}
    assert list(CausalNode.model_validate(wire_node).to_dict()) == [
        "id",
        "kind",
        "parents",
        "payload",
        "createdAt",
        "sequence",
        "resourceKey",
        "zz",
        "aa",
    ]
    assert list(CausalNode.from_valid(wire_node).to_dict()) == list(
        CausalNode.model_validate(wire_node).to_dict()
    )
    state = {"frontier": [], "nodes": [], "version": 1.0}
    assert AgentState.from_json(json.dumps(state)).to_json() == '{"version":1,"nodes":[],"frontier":[]}'


def test_null_is_no_resource_key():
    node = story(1).nodes[0]
    assert node.resource_key is None
    assert "resourceKey" not in node.to_dict()
    with pytest.raises(InvalidStateError, match="null is not absent") as caught:
        CausalNode.model_validate({**node.to_dict(), "resourceKey": None})
    assert [v.rule for v in caught.value.violations] == ["resource_key"]


def test_unknown_fields_named_like_those_of_this_package_are_kept():
    node = {**story(1).nodes[1].to_dict(), "created_at": 1, "resource_key": None, "extra": {"extra": []}}
    assert CausalNode.model_validate(node).to_dict() == node
    state = {"version": 1, "nodes": [{**wire(1)["nodes"][0], "extra": 5, "created_at": "x"}], "frontier": []}
    assert AgentState.model_validate(state).to_dict() == state
    assert AgentState.from_json(json.dumps(state)).to_dict() == state
    assert AgentState.from_json(json.dumps(state)).nodes[0].extra_text == '{"extra":5,"created_at":"x"}'
    assert story(1).nodes[0].extra_text is None


def test_a_node_that_is_no_node_says_where():
    with pytest.raises(InvalidStateError) as caught:
        CausalNode.model_validate({"id": 5, "createdAt": "2026-09-01"})
    found = {v.path: v.value for v in caught.value.violations}
    assert found["$.id"] == "5"
    assert found["$.kind"] == "nothing"


def test_equal_states_are_equal_and_can_be_pickled():
    assert story(2) == story(2)
    assert story(2) != story(3)
    assert pickle.loads(pickle.dumps(story(2))) == story(2)


def test_an_append_copies_its_payload():
    payload: dict[str, Any] = {"list": [1], "pair": (1, 2)}
    asked = Append(kind="goal", payload=payload)
    payload["list"].append(2)
    assert asked.payload == {"list": [1], "pair": [1, 2]}
    assert asked.kind is NodeKind.GOAL


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "Goal", "payload": 1},
        {"kind": "goal"},
        {"kind": "goal", "payload": float("nan")},
        {"kind": "goal", "payload": {1: 2}},
        {"kind": "goal", "payload": object()},
        {"kind": "goal", "payload": 1, "resource_key": ""},
        {"kind": "goal", "payload": 1, "resource_key": "\ud800"},
        {"kind": "goal", "payload": 1, "resource_key": 5},
        {"kind": "goal", "payload": 1, "created_at": "yesterday"},
        {"kind": "goal", "payload": 1, "advance": 1},
        {"kind": "goal", "payload": 1, "parents": "cw_0"},
        {"kind": "goal", "payload": 1, "parents": [5]},
        {"kind": "goal", "payload": 1, "parents": [None]},
        {"kind": "goal", "payload": 1, "parents": 5},
        {"kind": "goal", "payload": 1, "created_at": 5},
        {"kind": 5, "payload": 1},
        {"kind": "goal", "payload": 1, "parent": []},
    ],
)
def test_what_no_append_can_be_made_of(fields):
    with pytest.raises(InvalidAppendError):
        Append(**fields)


def test_a_payload_can_be_as_deep_as_a_reader_takes_it_back():
    def nested(levels):
        value: object = []
        for _ in range(levels - 1):
            value = [value]
        return value

    mirror = CausalMirror()
    mirror.append(append("goal", nested(125)))
    assert AgentState.from_json(mirror.state().to_json()).to_json() == mirror.state().to_json()
    with pytest.raises(InvalidAppendError, match="deeper"):
        append("goal", nested(126))
    with pytest.raises(InvalidAppendError):
        append("goal", nested(100_000))


def test_parents_are_taken_in_any_sequence():
    first = append("goal", "g")
    assert Append(kind="answer", payload="a", parents=("cw_0", first)).parents == ["cw_0", first]
    assert Append(kind="answer", payload="a").parents is None
    assert Append(kind="answer", payload="a", parents=()).parents == []


def test_an_append_is_read_only_and_says_what_is_wrong_with_it():
    asked = append("goal", "g")
    with pytest.raises(ValueError, match="frozen"):
        setattr(asked, "payload", 1)  # noqa: B010  (a type checker refuses the plain spelling)
    with pytest.raises(InvalidAppendError, match=r"\$\.kind.*'Goal'"):
        Append(kind="Goal", payload=1)
    with pytest.raises(InvalidAppendError, match=r"\$\.payload.*nothing"):
        Append(kind="goal")  # type: ignore[call-arg]
    with pytest.raises(InvalidAppendError, match="leave it out"):
        Append(kind="goal", payload=1, resource_key="")
    with pytest.raises(InvalidAppendError, match="YYYY-MM-DD"):
        Append(kind="goal", payload=1, created_at="2026-02-30")


def test_semantic_payload():
    assert SemanticPayload(type="memory", key="a", content=1).resource_key == "semantic:memory:a"


def test_every_error_is_under_one_root():
    kinds = [
        value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)
    ]
    assert len(kinds) > 15
    for kind in kinds:
        assert issubclass(kind, StateWeaveGraphError)
        assert kind.__doc__
        assert kind.__name__ in (errors.__doc__ or "")
