"""Rules with many inputs, against models written straight from the format."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateweave_graph import AgentState, Append, CausalMirror, UnknownParentError, node_id, validate
from stateweave_graph.identity import canonical
from stateweave_graph.javascript import javascript_json
from stateweave_graph.jsontext import dumps, parse
from stateweave_graph.mapper import from_records, to_records
from stateweave_graph.testing.strategies import append_lists, json_values, states
from stateweave_graph.timestamps import instant_ms, iso_text


@given(json_values())
def test_text_comes_back(value):
    text = dumps(value)
    text.encode()  # no lone surrogate is left
    again = parse(text)
    assert dumps(again) == text
    assert list(json.loads(text)) == list(again) if isinstance(again, dict) else True


@given(json_values())
def test_canonical_text_is_the_same_for_the_same_value(value):
    text = canonical(parse(dumps(value)))
    assert canonical(parse(text)) == text
    assert canonical(_shuffled(value)) == text or _has_equal_keys(value)
    assert node_id("goal", [], value) == node_id("goal", [], parse(text)) or _has_equal_keys(value)


@given(json_values())
def test_javascript_text_keeps_the_order_of_keys(value):
    text = javascript_json(parse(dumps(value)))
    assert javascript_json(parse(text)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_is_printed_so_that_it_reads_back(number):
    text = canonical(number)
    assert float(text) == number
    assert "." not in text or not text.partition("e")[0].endswith("0")
    assert math.copysign(1, float(text)) == 1 or number < 0


@given(st.integers(-62135596800000, 253402300799999))
def test_an_instant_comes_back(ms):
    assert instant_ms(iso_text(ms)) == ms


class Model:
    """Appending as the format puts it, rule by rule, on lists and dicts."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.frontier: list[str] = []
        self.heads: dict[str, str] = {}

    def append(self, kind, payload, parents, key, advance):
        chosen = list(self.frontier) if parents is None else list(dict.fromkeys(parents))
        assert all(parent in self.nodes for parent in chosen)
        previous = self.heads.get(key) if key is not None else None
        if previous is not None and previous not in chosen:
            chosen.append(previous)
        chosen.sort()
        identity = node_id(kind, chosen, payload, key)
        new = identity not in self.nodes
        if new:
            self.nodes[identity] = {"parents": chosen, "sequence": len(self.nodes) + 1}
        if advance:
            for parent in chosen:
                if parent in self.frontier:
                    self.frontier.remove(parent)
            if identity not in self.frontier:
                self.frontier.append(identity)
        if key is not None and new:
            self.heads[key] = identity
        return identity


@given(append_lists())
def test_appends_against_the_model(appends):
    mirror, model = CausalMirror(), Model()
    made: dict[int, str] = {}
    for append in appends:
        parents = None if append.parents is None else [made[id(parent)] for parent in append.parents]
        node = mirror.append(append.model_copy(update={"parents": parents}))
        expected = model.append(append.kind, append.payload, parents, append.resource_key, append.advance)
        made[id(append)] = node.id
        assert node.id == expected
        assert node.parents == model.nodes[node.id]["parents"]
        assert node.sequence == model.nodes[node.id]["sequence"]
        assert mirror.frontier == model.frontier
        assert mirror.resource_heads == model.heads
    together = CausalMirror()
    assert [node.id for node in together.append_all(appends)] == [made[id(append)] for append in appends]
    assert together.state() == mirror.state()
    assert validate(mirror.state().to_json()) == []
    mirror.check_order()


@given(append_lists(), append_lists())
def test_a_refused_list_leaves_no_trace(first, second):
    mirror = CausalMirror()
    mirror.append_all(first)
    before = (
        mirror.state(),
        mirror.resource_heads,
        mirror.turn,
        mirror.system_id,
        sorted(mirror.graph.edges),
    )
    with pytest.raises(UnknownParentError):
        mirror.append_all([*second, Append(kind="goal", payload=1, parents=["cw_nowhere"])])
    after = (mirror.state(), mirror.resource_heads, mirror.turn, mirror.system_id, sorted(mirror.graph.edges))
    assert after == before


@given(states())
def test_states_come_back(state):
    text = state.to_json()
    assert validate(text) == []
    again = AgentState.from_json(text)
    assert again.to_json() == text
    assert javascript_json(again.to_dict()) == javascript_json(state.to_dict())


@given(states())
def test_records_are_the_whole_state(state):
    records = to_records(state)
    assert from_records(records.nodes, records.frontier).to_json() == state.to_json()
    again = to_records(from_records(records.nodes, records.frontier))
    assert again == records


@given(states(), st.data())
def test_a_changed_node_is_found(state, data):
    wire = state.to_dict()
    node = data.draw(st.sampled_from(wire["nodes"]))
    other = data.draw(json_values(max_leaves=3))
    if node_id(node["kind"], node["parents"], other, node.get("resourceKey")) == node["id"]:
        return
    node["payload"] = other
    assert "identity" in {violation.rule for violation in validate(wire)}


def _shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shuffled(value[key]) for key in reversed(value)}
    return [_shuffled(item) for item in value] if isinstance(value, list) else value


def _has_equal_keys(value: Any) -> bool:
    """Whether some keys may compare equal, so that their order counts."""
    if isinstance(value, dict):
        plain = all(key.isascii() and key.isalnum() for key in value)
        return (len(value) > 1 and not plain) or any(map(_has_equal_keys, value.values()))
    return isinstance(value, list) and any(map(_has_equal_keys, value))
