"""The import rules, each broken on purpose, alone and together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stateweave_graph import AgentState, InvalidStateError, LimitExceededError, node_id, validate
from tests.support.states import story, wire


def rules(source, **limits):
    return [violation.rule for violation in validate(source, **limits)]


def broken(**fields):
    """One valid goal node with some fields replaced; None takes a field away."""
    node: dict[str, Any] = {"id": node_id("goal", [], "g"), "kind": "goal", "parents": [], "payload": "g"}
    node |= {"createdAt": "2026-09-01", "sequence": 1}
    for name, value in fields.items():
        if value is None:
            del node[name]
        else:
            node[name] = value
    return {"version": 1, "nodes": [node], "frontier": []}


def test_a_valid_state_has_no_violations():
    assert validate(wire(3)) == []
    assert validate({"version": 1.0, "nodes": [], "frontier": []}) == []


@pytest.mark.parametrize(
    ("fields", "rule", "path"),
    [
        ({"kind": "Goal"}, "kind", "$.nodes[0].kind"),
        ({"kind": None}, "kind", "$.nodes[0].kind"),
        ({"id": None}, "shape", "$.nodes[0].id"),
        ({"id": 5}, "shape", "$.nodes[0].id"),
        ({"id": "cw_0"}, "identity", "$.nodes[0].id"),
        ({"parents": None}, "shape", "$.nodes[0].parents"),
        ({"parents": "cw_0"}, "shape", "$.nodes[0].parents"),
        ({"parents": [1]}, "shape", "$.nodes[0].parents[0]"),
        ({"parents": ["cw_unknown"]}, "parents", "$.nodes[0].parents[0]"),
        ({"payload": None}, "shape", "$.nodes[0].payload"),
        ({"payload": "other"}, "identity", "$.nodes[0].id"),
        ({"createdAt": None}, "created_at", "$.nodes[0].createdAt"),
        ({"createdAt": 5}, "created_at", "$.nodes[0].createdAt"),
        ({"createdAt": "2026-02-30"}, "created_at", "$.nodes[0].createdAt"),
        ({"sequence": None}, "sequence", "$.nodes[0].sequence"),
        ({"sequence": True}, "sequence", "$.nodes[0].sequence"),
        ({"sequence": 2}, "sequence", "$.nodes[0].sequence"),
        ({"sequence": "1"}, "sequence", "$.nodes[0].sequence"),
        ({"resourceKey": 5}, "resource_key", "$.nodes[0].resourceKey"),
        ({"resourceKey": "\ud800"}, "resource_key", "$.nodes[0].resourceKey"),
    ],
)
def test_a_field_of_a_node(fields, rule, path):
    found = validate(broken(**fields))
    assert (rule, path) in [(violation.rule, violation.path) for violation in found]


@pytest.mark.parametrize("value", [True, "1", 2, 1.5, [1]])
def test_version(value):
    assert rules({"version": value, "nodes": [], "frontier": []}) == ["version"]


def test_null_is_not_absent():
    state = broken()
    state["nodes"][0]["resourceKey"] = None
    assert "resource_key" in rules(state)


def test_an_integral_float_is_a_sequence():
    assert validate(broken(sequence=1.0)) == []
    assert AgentState.from_json(json.dumps(broken(sequence=1.0))).nodes[0].sequence == 1


@pytest.mark.parametrize("text", ['{"a": 1e400}', '{"a": [[-1e309]]}', '{"a": ' + "9" * 400 + "}"])
def test_numbers_beyond_a_double(text):
    state = json.dumps(broken()).replace('"payload": "g"', f'"payload": {text}')
    assert "payload" in rules(state)


def test_numbers_beyond_a_double_in_unknown_fields():
    state = json.dumps(broken()).replace('"payload": "g"', '"payload": "g", "mine": {"deep": [1e999]}')
    assert [(v.rule, v.path) for v in validate(state)] == [("payload", "$.nodes[0].mine.deep[0]")]


def test_unknown_fields():
    assert rules({"version": 1, "nodes": [], "frontier": [], "more": 1}) == ["shape"]
    state = broken(mine={"b": 1, "a": [True]})
    assert validate(state) == []
    assert AgentState.from_json(json.dumps(state)).to_dict() == state


def test_parents_twice_and_unsorted_and_from_the_future():
    state = wire(1)
    answer = state["nodes"][-1]
    first, second = sorted(node["id"] for node in state["nodes"][:2])
    answer["parents"] = [second, first, first, answer["id"], "cw_nowhere"]
    found = [(v.rule, v.path) for v in validate(state)]
    place = f"$.nodes[{len(state['nodes']) - 1}].parents"
    assert ("parents", f"{place}[2]") in found
    assert ("parents", f"{place}[3]") in found
    assert ("parents", f"{place}[4]") in found
    assert ("parents", place) in found
    assert "own parent" in next(v.message for v in validate(state) if v.path == f"{place}[3]")


def test_duplicate_ids():
    state = wire(1)
    state["nodes"].append({**state["nodes"][0], "sequence": len(state["nodes"]) + 1})
    assert rules(state) == ["duplicate_id"]


def test_frontier():
    state = wire(1)
    head = state["frontier"][0]
    state["frontier"] = [head, head, 5, "cw_nowhere"]
    assert [(v.rule, v.path) for v in validate(state)] == [
        ("frontier", "$.frontier[1]"),
        ("frontier", "$.frontier[2]"),
        ("frontier", "$.frontier[3]"),
    ]
    assert rules({"version": 1, "nodes": []}) == ["shape"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"version": NaN}',
        "{'a': 1}",
        "[1] []",
        "\ufeff{}",
        '{"a": 01}',
        '{"a": "\t"}',
        "nul",
        b"\xff{}",
    ],
)
def test_what_is_not_json(text):
    assert rules(text) == ["json"]


def test_all_violations_in_one_pass():
    state = wire(1)
    state["version"] = "1"
    state["nodes"][0]["kind"] = "Goal"
    state["nodes"][1]["createdAt"] = "yesterday"
    state["nodes"][2]["sequence"] = 7
    state["nodes"][3] = "no node"
    state["frontier"].append("cw_nowhere")
    found = rules(state)
    assert {"version", "kind", "created_at", "sequence", "shape", "frontier"} <= set(found)
    with pytest.raises(InvalidStateError) as caught:
        AgentState.from_json(json.dumps(state))
    assert [violation.rule for violation in caught.value.violations] == found
    assert "$.nodes[1].createdAt" in str(caught.value)


def test_an_identity_error_names_other_causes():
    (violation,) = validate(broken(payload="changed"))
    for cause in ("changed", "locale", "NaN", "ICU"):
        assert cause in violation.message


def test_violations_can_always_be_printed():
    lone = "\ud800"
    node = {
        "id": lone,
        "kind": lone,
        "parents": [lone, lone],
        "payload": 1,
        "createdAt": lone,
        "sequence": lone,
    }
    node |= {"resourceKey": lone, lone: {lone: float("inf")}}
    state = {"version": lone, "nodes": [node, node], "frontier": [lone, lone], lone: 1}
    found = validate(state)
    assert len(found) > 15
    str(InvalidStateError(found)).encode()
    "".join(map(str, found)).encode()


def test_values_are_shortened():
    (violation,) = validate(broken(createdAt="x" * 10_000))
    assert len(violation.value) < 200
    assert "10000 characters" in violation.value


def test_limits_are_checked_before_the_work_they_bound():
    text = story(2).to_json()
    size = len(text.encode())
    assert validate(text, max_bytes=size) == []
    assert rules(text, max_bytes=size - 1) == ["size"]
    assert rules("{" * 50 + "not json", max_bytes=10) == ["size"]
    assert rules("[" * 200 + " not json") == ["size"]
    assert rules(text, max_nodes=3) == ["size"]
    with pytest.raises(LimitExceededError):
        AgentState.from_json(text, max_nodes=3)


def test_a_long_text_is_measured_in_bytes():
    text = json.dumps({"version": 1, "nodes": [], "frontier": ["é" * 100]}, ensure_ascii=False)
    assert "size" in rules(text, max_bytes=len(text))
    assert "size" not in rules(text, max_bytes=len(text) + 100)


@pytest.mark.parametrize("levels", [124, 125])
def test_depth_counts_the_root_as_one(levels):
    payload = "[" * levels + "]" * levels
    node = node_id("goal", [], json.loads(payload))
    state = json.dumps(broken(id=node)).replace('"payload": "g"', f'"payload": {payload}')
    assert validate(state, max_depth=levels + 3) == []
    assert rules(state, max_depth=levels + 2) == ["size"]


@pytest.mark.parametrize("depth", [200, 100_000])
def test_deep_nesting_is_a_violation_and_no_crash(depth):
    assert rules("[" * depth + "]" * depth) == ["size"]
    assert rules('{"a":' * depth + "1" + "}" * depth) == ["size"]
    deep: object = 1
    for _ in range(depth):
        deep = [deep]
    assert rules({"version": 1, "nodes": [], "frontier": deep}) == ["size"]


def test_brackets_in_strings_are_no_nesting():
    text = json.dumps({"version": 1, "nodes": [], "frontier": ["[" * 500 + '\\"{{{' * 99]})
    assert rules(text) == ["frontier"]


def test_a_state_that_breaks_every_rule_many_times_is_judged():
    node = {
        "id": 1,
        "kind": "x",
        "parents": ["b", "a", 1],
        "createdAt": "x",
        "sequence": -1,
        "resourceKey": None,
    }
    state = {"version": 2, "nodes": [node] * 100_000, "frontier": ["x"] * 100_000, "more": 1}
    found = validate(state)
    assert len(found) > 900_000
    assert len(str(InvalidStateError(found))) < 5_000
