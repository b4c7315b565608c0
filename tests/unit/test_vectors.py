"""Every case of the format's specification, through the public functions."""

from __future__ import annotations

import json

import pytest

from stateweave_graph import (
    AgentState,
    Append,
    CausalMirror,
    InvalidStateError,
    LimitExceededError,
    UnknownParentError,
    node_id,
    validate,
)
from stateweave_graph.identity import canonical
from stateweave_graph.jsontext import parse
from tests.support import vectors


def test_identities():
    for vector in vectors.identities():
        payload = parse(vector["payloadText"])
        key = vector.get("resourceKey")
        node = {"kind": vector["kind"], "parents": sorted(vector["parents"]), "payload": payload}
        if key is not None:
            node["resourceKey"] = key
        assert canonical(node) == vector["canonical"], vector["name"]
        assert node_id(vector["kind"], vector["parents"], payload, key) == vector["id"], vector["name"]
        assert node_id(vector["kind"], vector["parents"][::-1], payload, key) == vector["id"], vector["name"]


@pytest.mark.parametrize("path", vectors.VALID, ids=lambda path: path.stem)
def test_valid_states_come_back(path):
    data = path.read_bytes()
    assert validate(data) == []
    state = AgentState.from_json(data)
    assert json.loads(state.to_json()) == json.loads(data)
    assert AgentState.from_json(state.to_json()).to_json() == state.to_json()
    assert validate(json.loads(data)) == []


@pytest.mark.parametrize("path", vectors.INVALID, ids=lambda path: path.stem)
def test_invalid_states_are_refused_by_their_rule(path):
    data = path.read_bytes()
    rule = vectors.INVALID_RULES[path.stem]
    assert rule in {violation.rule for violation in validate(data)}
    with pytest.raises(InvalidStateError) as caught:
        AgentState.from_json(data)
    assert caught.value.violations == validate(data)
    assert isinstance(caught.value, LimitExceededError) == (rule == "size")


def test_every_invalid_state_has_a_rule():
    assert {path.stem for path in vectors.INVALID} == set(vectors.INVALID_RULES)


@pytest.mark.parametrize("case", vectors.APPENDS, ids=lambda case: case["name"])
def test_appends(case):
    mirror = CausalMirror()
    for step in case["steps"]:
        asked = step["append"]
        append = Append(
            kind=asked["kind"],
            payload=asked["payload"],
            parents=asked.get("parents"),
            resource_key=asked.get("resourceKey"),
            advance=asked.get("advance", True),
        )
        if "error" in step:
            before = (mirror.state().to_json(), mirror.resource_heads)
            with pytest.raises(UnknownParentError):
                mirror.append(append)
            assert (mirror.state().to_json(), mirror.resource_heads) == before
            continue
        count = mirror.node_count
        node = mirror.append(append)
        assert (node.id, node.parents, node.sequence) == (step["id"], step["parents"], step["sequence"])
        assert mirror.node_count - count == step["new"]
        assert mirror.frontier == step["frontier"]
        assert mirror.resource_heads == step["resourceHeads"]
    assert validate(mirror.state().to_json()) == []
    mirror.check_order()
