"""The import rules, each broken on purpose, alone and together."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import OrderedDict
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from stateweave_graph import (
    AgentState,
    InvalidRequestError,
    InvalidStateError,
    LimitExceededError,
    node_id,
    validate,
)
from stateweave_graph.validation import KINDS, NodeJudge, shorten
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
        ({"kind": 5}, "kind", "$.nodes[0].kind"),
        ({"kind": ["goal"]}, "kind", "$.nodes[0].kind"),
        ({"id": None}, "shape", "$.nodes[0].id"),
        ({"id": 5}, "shape", "$.nodes[0].id"),
        ({"id": "cw_0"}, "identity", "$.nodes[0].id"),
        ({"parents": None}, "shape", "$.nodes[0].parents"),
        ({"parents": "cw_0"}, "shape", "$.nodes[0].parents"),
        ({"parents": {}}, "shape", "$.nodes[0].parents"),
        ({"parents": [1]}, "shape", "$.nodes[0].parents[0]"),
        ({"parents": [[]]}, "shape", "$.nodes[0].parents[0]"),
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
        ({"sequence": 1.5}, "sequence", "$.nodes[0].sequence"),
        ({"sequence": 0}, "sequence", "$.nodes[0].sequence"),
        ({"sequence": 10**400}, "sequence", "$.nodes[0].sequence"),
        ({"sequence": float("nan")}, "sequence", "$.nodes[0].sequence"),
        ({"resourceKey": 5}, "resource_key", "$.nodes[0].resourceKey"),
        ({"resourceKey": []}, "resource_key", "$.nodes[0].resourceKey"),
        ({"resourceKey": "\ud800"}, "resource_key", "$.nodes[0].resourceKey"),
    ],
)
def test_a_field_of_a_node(fields, rule, path):
    found = validate(broken(**fields))
    assert (rule, path) in [(violation.rule, violation.path) for violation in found]


@pytest.mark.parametrize("kind", KINDS)
def test_the_ten_kinds(kind):
    assert validate(broken(kind=kind, id=node_id(kind, [], "g"))) == []
    assert rules(broken(kind=kind.upper(), id=node_id(kind.upper(), [], "g"))) == ["kind"]


@pytest.mark.parametrize("value", [True, "1", 2, 1.5, [1], None, 10**400, float("inf")])
def test_version(value):
    assert rules({"version": value, "nodes": [], "frontier": []}) == ["version"]


@pytest.mark.parametrize(
    ("field", "rule"),
    [
        ("id", "shape"),
        ("kind", "kind"),
        ("parents", "shape"),
        ("createdAt", "created_at"),
        ("sequence", "sequence"),
        ("resourceKey", "resource_key"),
    ],
)
def test_null_is_not_absent(field, rule):
    state = broken()
    state["nodes"][0][field] = None
    assert [(v.path, v.value) for v in validate(state) if v.rule == rule] == [(f"$.nodes[0].{field}", "null")]


def test_null_is_a_payload():
    state = broken(id=node_id("goal", [], None))
    state["nodes"][0]["payload"] = None
    assert validate(state) == []


@pytest.mark.parametrize("value", [None, [], 5, "text", True, 1.5])
def test_a_state_is_an_object(value):
    assert [(v.rule, v.path) for v in validate(json.dumps(value))] == [("shape", "$")]


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("nodes", {}, "shape"),
        ("nodes", None, "shape"),
        ("nodes", "", "shape"),
        ("frontier", {}, "shape"),
        ("frontier", None, "shape"),
        ("frontier", "cw_0", "shape"),
    ],
)
def test_a_field_of_the_state(field, value, rule):
    state = {"version": 1, "nodes": [], "frontier": [], field: value}
    assert [(v.rule, v.path) for v in validate(state)] == [(rule, f"$.{field}")]


@pytest.mark.parametrize("node", [None, 5, "text", [], True])
def test_a_node_is_an_object(node):
    found = validate({"version": 1, "nodes": [node, node], "frontier": []})
    assert [(v.rule, v.path) for v in found] == [("shape", "$.nodes[0]"), ("shape", "$.nodes[1]")]


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


@pytest.mark.parametrize(
    "payload",
    [
        OrderedDict(a=1),
        [OrderedDict(a=float("inf"))],
        type("Text", (str,), {})("g"),
        [type("Number", (float,), {})(1.5)],
        [type("Count", (int,), {})(1)],
        (1, 2),
        {"a": {1, 2}},
        b"g",
        [date(2026, 9, 1)],
        Decimal(1),
    ],
    ids=lambda payload: repr(payload)[:30],
)
def test_an_object_is_made_of_what_json_gives_and_nothing_else(payload):
    found = validate(broken(payload=payload))
    assert "json" in {v.rule for v in found}
    assert all(v.path.startswith("$.nodes[0].payload") for v in found)
    assert [v.rule for v in validate(broken(mine=payload))] == [v.rule for v in found]


def test_keys_of_an_object_are_texts():
    assert [(v.rule, v.path) for v in validate(broken(payload={"a": {5: 1}}))] == [
        ("json", "$.nodes[0].payload.a")
    ]
    state = broken()
    state["nodes"][0][5] = 1
    assert [(v.rule, v.path, v.value) for v in validate(state)] == [("json", "$.nodes[0]", "5")]
    top = {"version": 1, "nodes": [], "frontier": [], 5: 1, None: 2}
    assert [(v.rule, v.path) for v in validate(top)] == [("shape", "$[5]"), ("shape", "$[null]")]


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


def test_several_violations_of_one_node_are_told_in_its_order_with_place_and_value():
    state = broken(kind="Goal", parents=["b", "a", "a"], createdAt=5, sequence="1", resourceKey=["k"])
    state["nodes"][0]["id"] = "x" * 200
    assert [(v.rule, v.path, v.value) for v in validate(state)] == [
        ("kind", "$.nodes[0].kind", "'Goal'"),
        ("created_at", "$.nodes[0].createdAt", "5"),
        ("sequence", "$.nodes[0].sequence", "'1'"),
        ("resource_key", "$.nodes[0].resourceKey", "an array of 1"),
        ("parents", "$.nodes[0].parents[0]", "'b'"),
        ("parents", "$.nodes[0].parents[1]", "'a'"),
        ("parents", "$.nodes[0].parents[2]", "'a'"),
        ("parents", "$.nodes[0].parents", "an array of 3"),
    ]
    state["nodes"][0]["resourceKey"] = "k"
    (identity,) = [v for v in validate(state) if v.rule == "identity"]
    assert identity.value == f"'{'x' * 80}'… (200 characters)"
    assert node_id("Goal", ["b", "a", "a"], "g", "k") not in identity.message  # the order given is hashed


def test_violations_come_in_the_same_order_in_every_process():
    script = (
        "from stateweave_graph import validate\n"
        "names = {f'field {n}': float('inf') for n in range(20)}\n"
        "print([v.path for v in validate({'nodes': [dict(names)], **names})])"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }
    (only,) = told
    places = [only.index(f"$['field {number}']") for number in range(20)]
    assert places == sorted(places)


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


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        (2**255, str(2**255)),
        (2**400, "an integer of 401 bits"),
        ([1, 2], "an array of 2"),
        ({}, "an object of 0"),
        ("é\n\ud800", "'é\\n\\ud800'"),
        ((1,) * 1_000_000, "of type tuple"),
        (b"x" * 1_000_000, "of type bytes"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_how_values_are_shown(value, shown):
    assert shorten(value) == shown


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no words")


def test_a_value_of_a_strange_type_is_told_all_the_same():
    found = validate({"version": Unspeakable(), "nodes": [Unspeakable()], "frontier": [Unspeakable()]})
    assert [v.rule for v in found] == ["version", "shape", "frontier"]
    assert {v.value for v in found} == {"of type Unspeakable"}


@pytest.mark.parametrize(
    "limits",
    [
        {"max_depth": 0},
        {"max_depth": 513},
        {"max_depth": "9"},
        {"max_depth": True},
        {"max_bytes": 0},
        {"max_bytes": 1.5},
        {"max_nodes": -1},
        {"max_nodes": None},
    ],
)
def test_limits_have_limits(limits):
    (name,) = limits
    for attempt in (validate, AgentState.from_json):
        with pytest.raises(InvalidRequestError, match=name):
            attempt("{}", **limits)


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


def test_a_number_out_of_range_is_found_at_every_depth_that_may_be_read():
    levels = 509
    state = json.dumps(broken()).replace('"payload": "g"', f'"payload": {"[" * levels}1e999{"]" * levels}')
    assert [(v.rule, v.path) for v in validate(state, max_depth=512)] == [
        ("payload", "$.nodes[0].payload" + "[0]" * levels)
    ]
    payload = "[" * levels + "1" + "]" * levels
    deep = json.dumps(broken(id="?")).replace('"payload": "g"', f'"payload": {payload}')
    valid = deep.replace('"?"', f'"{node_id("goal", [], json.loads(payload))}"')
    assert rules(deep, max_depth=512) == ["identity"]
    assert payload in AgentState.from_json(valid, max_depth=512).to_json()


def test_many_violations_under_a_long_key_are_told_shortly():
    numbers = ",".join(["1e999"] * 100_000)
    payload = f'{{"{"k" * 1_000_000}": [{numbers}]}}'
    found = validate(json.dumps(broken()).replace('"payload": "g"', f'"payload": {payload}'))
    assert len(found) == 100_000
    assert {v.rule for v in found} == {"payload"}
    assert sum(len(v.path) for v in found) < 100_000 * 200


def test_a_node_with_many_wrong_parents_is_judged():
    parents = [f"cw_{number % 50_000}" for number in range(100_000)]
    found = validate(broken(parents=parents))
    assert [v.rule for v in found] == ["parents"] * 100_001 + ["identity"]


def test_a_judge_goes_on_from_the_nodes_it_knows():
    nodes = wire(1)["nodes"]
    judge = NodeJudge({node["id"] for node in nodes[:3]}, 3)
    assert [v for node in nodes[3:] for v in judge.judge(node, "$.node")] == []
    assert judge.count == len(nodes)
    assert [v.rule for v in judge.judge({**nodes[0], "sequence": len(nodes) + 1}, "$.node")] == [
        "duplicate_id"
    ]
    assert [v.rule for v in NodeJudge().judge({**nodes[-1], "sequence": 1}, "$.node")] == ["parents"] * len(
        nodes[-1]["parents"]
    )


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
