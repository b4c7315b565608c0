"""States: in and out, as records and back, and what is found where one is changed."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stateweave_graph import AgentState, CausalNode, InvalidStateError, node_id, validate
from stateweave_graph.identity import canonical
from stateweave_graph.javascript import javascript_json
from stateweave_graph.jsontext import dumps
from stateweave_graph.mapper import from_records, to_records
from stateweave_graph.testing.strategies import json_values, states
from stateweave_graph.validation import KINDS

RULES = {
    "json",
    "version",
    "shape",
    "kind",
    "payload",
    "created_at",
    "sequence",
    "resource_key",
    "duplicate_id",
    "parents",
    "identity",
    "frontier",
}


@given(states())
def test_states_come_back(state):
    text = state.to_json()
    assert validate(text) == []
    again = AgentState.from_json(text)
    assert again == state
    assert again.to_json() == text == dumps(state.to_dict())
    assert json.loads(text) == state.to_dict()
    assert javascript_json(again.to_dict()) == javascript_json(state.to_dict())
    assert AgentState.from_json(text.encode()).to_json() == text
    assert AgentState.model_validate(json.loads(text)).to_json() == text
    assert [CausalNode.model_validate(node) for node in state.to_dict()["nodes"]] == again.nodes


@given(states())
def test_records_are_the_whole_state(state):
    records = to_records(state)
    again = from_records(records.nodes, records.frontier)
    assert again.to_json() == state.to_json()
    assert again == state
    assert to_records(again) == records
    for record in (*records.nodes, *records.resources):
        "".join(text for text in record if isinstance(text, str)).encode()  # no half of a character is left


@given(states())
def test_records_stand_where_the_state_has_them(state):
    records = to_records(state)
    place = {node.id: node.sequence for node in state.nodes}
    assert [record.sequence for record in records.nodes] == list(range(1, len(state.nodes) + 1))
    for node, record in zip(state.nodes, records.nodes, strict=True):
        assert list(record.parents) == sorted(place[parent] for parent in node.parents)
        same = [
            parent
            for parent in node.parents
            if state.nodes[place[parent] - 1].resource_key == node.resource_key
        ]
        assert sorted(record.resource_parents) == (
            sorted(place[parent] for parent in same) if node.resource_key else []
        )
    versions: dict[str, list[int]] = {}
    for node in state.nodes:
        if node.resource_key:
            versions.setdefault(node.resource_key, []).append(node.sequence)
    hashes = {record.key: record.key_hash for record in records.resources}
    assert {r.key: (r.versions, r.head_sequence) for r in records.resources} == {
        key: (len(found), found[-1]) for key, found in versions.items()
    }
    assert sorted(records.versions) == sorted(
        (hashes[key], number, sequence)
        for key, found in versions.items()
        for number, sequence in enumerate(found, start=1)
    )
    assert [place[head] for head in state.frontier] == list(records.frontier)


@given(states(), st.data())
def test_a_changed_node_is_found(state, data):
    wire = state.to_dict()
    node = data.draw(st.sampled_from(wire["nodes"]))
    field = data.draw(st.sampled_from(["payload", "kind", "parents", "resourceKey"]))
    other: Any = {
        "payload": lambda: data.draw(json_values(max_leaves=3)),
        "kind": lambda: data.draw(st.sampled_from(KINDS)),
        "parents": lambda: sorted(data.draw(st.sets(st.sampled_from([n["id"] for n in wire["nodes"]])))),
        "resourceKey": lambda: data.draw(st.text(st.characters(codec="utf-8"), max_size=3)),
    }[field]()
    assume(canonical(other) != canonical(node.get(field)))
    node[field] = other
    assert "identity" in {violation.rule for violation in validate(wire)}
    assert validate(dumps(wire)) == validate(wire)


def nodes_of(wire: dict[str, Any]) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = wire["nodes"]
    return nodes


def no_sequence(wire: dict[str, Any], node: dict[str, Any]) -> None:
    node["sequence"] += 1


def twice(wire: dict[str, Any], node: dict[str, Any]) -> None:
    nodes_of(wire).append({**node, "sequence": len(nodes_of(wire)) + 1})


def on_itself(wire: dict[str, Any], node: dict[str, Any]) -> None:
    node["parents"] = sorted([*node["parents"], node["id"]])


def parent_from_nowhere(wire: dict[str, Any], node: dict[str, Any]) -> None:
    node["parents"] = sorted([*node["parents"], "cw_nowhere"])


def parents_upside_down(wire: dict[str, Any], node: dict[str, Any]) -> None:
    node["parents"] = ["cw_z", "cw_a"]


def frontier_twice(wire: dict[str, Any], node: dict[str, Any]) -> None:
    wire["frontier"] = [node["id"], node["id"]]


def frontier_from_nowhere(wire: dict[str, Any], node: dict[str, Any]) -> None:
    wire["frontier"] = [*wire["frontier"], "cw_nowhere"]


def null_key(wire: dict[str, Any], node: dict[str, Any]) -> None:
    node["resourceKey"] = None


def no_payload(wire: dict[str, Any], node: dict[str, Any]) -> None:
    del node["payload"]


def half_a_character(wire: dict[str, Any], node: dict[str, Any]) -> None:
    node["resourceKey"] = "\ud800"


def more_at_the_top(wire: dict[str, Any], node: dict[str, Any]) -> None:
    wire["hello"] = 1


def infinite(wire: dict[str, Any], node: dict[str, Any]) -> None:
    node["mine"] = [10**400]


BREAKS = {
    no_sequence: "sequence",
    twice: "duplicate_id",
    on_itself: "parents",
    parent_from_nowhere: "parents",
    parents_upside_down: "parents",
    frontier_twice: "frontier",
    frontier_from_nowhere: "frontier",
    null_key: "resource_key",
    no_payload: "shape",
    half_a_character: "resource_key",
    more_at_the_top: "shape",
    infinite: "payload",
}


@given(states(), st.lists(st.sampled_from(list(BREAKS)), min_size=1, unique=True), st.data())
def test_every_break_is_told_however_many_there_are(state, breaks, data):
    wire = copy.deepcopy(state.to_dict())
    for break_rule in breaks:
        break_rule(wire, data.draw(st.sampled_from(nodes_of(wire)[: len(state.nodes)])))
    found = validate(wire)
    assert {BREAKS[break_rule] for break_rule in breaks} <= {violation.rule for violation in found} <= RULES
    with pytest.raises(InvalidStateError) as caught:
        AgentState.model_validate(wire)
    assert caught.value.violations == found
    str(caught.value).encode()


FIELDS: dict[str, st.SearchStrategy[Any]] = {
    name: json_values(max_leaves=3)
    for name in ("id", "kind", "parents", "payload", "createdAt", "sequence", "resourceKey", "other")
}
NODES = st.lists(st.one_of(st.fixed_dictionaries({}, optional=FIELDS), json_values(max_leaves=2)))
ANYTHING = st.one_of(
    json_values().filter(lambda value: not isinstance(value, str)),  # a text is read as JSON
    st.fixed_dictionaries(
        {}, optional={"version": st.just(1) | json_values(max_leaves=1), "nodes": NODES, "frontier": NODES}
    ),
)


@given(ANYTHING)
def test_anything_is_judged_alike_as_text_as_bytes_and_as_an_object(value):
    found = validate(value)
    assert validate(dumps(value)) == validate(dumps(value).encode()) == found
    assert {violation.rule for violation in found} <= RULES
    if not found:
        assert AgentState.model_validate(value).to_dict() == value
    assert all(str(violation).encode() and violation.path.startswith("$") for violation in found)


@given(states())
def test_ids_are_those_of_the_contents(state):
    for node in state.nodes:
        assert node.id == node_id(node.kind, node.parents, node.payload, node.resource_key)
