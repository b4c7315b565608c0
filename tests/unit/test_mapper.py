"""States to records and back; what is lifted out of payloads."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from stateweave_graph import AgentState, NodeKind, node_id
from stateweave_graph.mapper import (
    Lifted,
    from_records,
    key_hash,
    lift,
    resource_records,
    split_semantic_key,
    to_records,
    tool_failed,
)
from tests.support import vectors
from tests.support.states import story


@pytest.mark.parametrize("path", vectors.VALID, ids=lambda path: path.stem)
def test_records_are_the_whole_state(path):
    state = AgentState.from_json(path.read_bytes())
    records = to_records(state)
    assert from_records(records.nodes, records.frontier).to_json() == state.to_json()


def test_records_of_resources_and_versions():
    records = to_records(story(3))
    by_key = {record.key: record for record in records.resources}
    assert set(by_key) == {"a.txt", "semantic:memory:count"}
    memory = by_key["semantic:memory:count"]
    assert (memory.versions, memory.semantic_type, memory.semantic_key) == (3, "memory", "count")
    assert by_key["a.txt"].semantic_type is None
    chain = [v for v in records.versions if v.key_hash == key_hash("a.txt")]
    assert [v.version for v in chain] == [1, 2, 3]
    assert [v.sequence for v in chain] == sorted(v.sequence for v in chain)
    assert by_key["a.txt"].head_sequence == chain[-1].sequence
    head = records.nodes[by_key["a.txt"].head_sequence - 1]
    assert head.id == by_key["a.txt"].head_id
    assert head.resource_parents == (chain[-2].sequence,)
    assert [record.turn for record in records.nodes] == sorted(record.turn for record in records.nodes)
    assert records.nodes[-1].turn == 3


def state_of(*nodes: tuple[str, Any, dict[str, Any]]) -> AgentState:
    """A state of nodes without parents: each a kind, a payload, and further fields."""
    built = []
    for sequence, (kind, payload, fields) in enumerate(nodes, start=1):
        node: dict[str, Any] = {
            "id": node_id(kind, [], payload, fields.get("resourceKey")),
            "kind": kind,
            "parents": [],
        }
        node |= {"payload": payload, "createdAt": "2026-09-01", "sequence": sequence}
        built.append(node | fields)
    return AgentState.model_validate({"version": 1, "nodes": built, "frontier": []})


def test_texts_of_a_record():
    payload = {"b": 1.0, "a": [10**30, "\ud800é/"], "10": None}
    (record,) = to_records(state_of(("goal", payload, {"zz": {"y": 1, "x": "\udfff"}, "aa": 2}))).nodes
    text = '{"b":1.0,"a":[1000000000000000000000000000000,"\\ud800é/"],"10":null}'
    assert record.payload == text
    framed = len(text.encode()).to_bytes(8, "big") + text.encode()
    assert record.payload_hash == hashlib.sha256(framed).hexdigest()
    assert record.extra == '{"zz":{"y":1,"x":"\\udfff"},"aa":2}'
    assert (record.kind, record.sequence, record.turn) == ("goal", 1, 1)
    assert (record.resource_key, record.parents, record.resource_parents) == (None, (), ())


@pytest.mark.parametrize(
    ("text", "ms"),
    [("1970-01-01", 0), ("1970-01-01T00:00:01.5+00:01", -58_500), ("Thu, 01 Jan 1970 00:00:02 GMT", 2_000)],
)
def test_times_are_kept_to_the_letter_beside_their_instant(text, ms):
    records = to_records(state_of(("goal", "g", {"createdAt": text})))
    assert (records.nodes[0].created_at, records.nodes[0].created_at_ms) == (text, ms)
    assert from_records(records.nodes, ()).nodes[0].created_at == text


def test_turns_count_goals_up_to_and_including_the_node():
    kinds = ["system", "goal", "answer", "goal", "goal", "answer"]
    records = to_records(state_of(*((kind, number, {}) for number, kind in enumerate(kinds))))
    assert [record.turn for record in records.nodes] == [0, 1, 1, 2, 3, 3]


def test_an_empty_key_is_kept_and_names_no_resource():
    state = state_of(("resource", 1, {"resourceKey": ""}), ("resource", 2, {"resourceKey": ""}))
    records = to_records(state)
    assert (records.resources, records.versions) == ((), ())
    assert [record.resource_key for record in records.nodes] == ["", ""]
    assert from_records(records.nodes, records.frontier).to_json() == state.to_json()


def test_versions_are_in_order_of_sequence_whatever_they_rest_on():
    state = state_of(*(("goal", number, {"resourceKey": "ab"[number % 2]}) for number in range(5)))
    records = to_records(state)
    assert [(r.key, r.versions, r.head_sequence) for r in records.resources] == [("a", 3, 5), ("b", 2, 4)]
    assert [(v.version, v.sequence) for v in records.versions] == [(1, 1), (1, 2), (2, 3), (2, 4), (3, 5)]
    assert all(record.resource_parents == () for record in records.nodes)


def test_resources_grow_on_what_is_stored():
    state = story(3)
    whole = to_records(state)
    half = len(state.nodes) // 2
    first, versions = resource_records(whole.nodes[:half], {})
    second, more = resource_records(whole.nodes[half:], {record.key: record for record in first})
    assert {r.key: r for r in (*first, *second)} == {r.key: r for r in whole.resources}
    assert (*versions, *more) == whole.versions


def test_the_frontier_is_kept_in_its_order():
    state = story(2).to_dict()
    state["frontier"] = [node["id"] for node in state["nodes"][::-3]]
    records = to_records(AgentState.model_validate(state))
    assert list(records.frontier) == [node["sequence"] for node in state["nodes"][::-3]]
    assert from_records(records.nodes, records.frontier).frontier == state["frontier"]


def test_a_key_without_a_memory_and_a_memory_without_a_key():
    state = state_of(
        ("semantic", {"type": "memory", "key": "a", "content": 1}, {"resourceKey": "semantic:wisdom:b"}),
        ("goal", "g", {"resourceKey": "semantic:\x00:é\n"}),
        ("semantic", {"type": "memory"}, {}),
    )
    records = to_records(state)
    assert [(n.semantic_type, n.semantic_key) for n in records.nodes] == [
        ("memory", "a"),
        (None, None),
        ("memory", None),
    ]
    assert [(r.semantic_type, r.semantic_key) for r in records.resources] == [
        ("wisdom", "b"),
        ("\x00", "é\n"),
    ]


@pytest.mark.parametrize(
    ("kind", "payload", "lifted"),
    [
        ("goal", {"type": "x", "name": "y"}, Lifted()),
        ("goal", "text", Lifted()),
        (
            "semantic",
            {"type": "memory", "key": "k", "content": 1},
            Lifted(semantic_type="memory", semantic_key="k"),
        ),
        ("semantic", {"type": 5, "key": None}, Lifted()),
        ("semantic", {"type": "\ud800", "key": "k"}, Lifted(semantic_key="k")),
        ("semantic", {"name": "x", "tool": "y", "operation": "z", "succeeded": True}, Lifted()),
        ("inference", {"operation": "read", "succeeded": True}, Lifted()),
        ("answer", {"tool": "x", "result": {}}, Lifted()),
        ("semantic", "anything", Lifted()),
        ("tool_call", {"name": "read", "args": {}}, Lifted(tool="read")),
        ("tool_call", {"name": "\ud800"}, Lifted()),
        ("tool_call", {"name": ["read"]}, Lifted()),
        ("tool_call", ["read"], Lifted()),
        ("tool_call", {"name": ""}, Lifted(tool="")),
        ("tool_result", {"tool": "read", "result": {"ok": True}}, Lifted(tool="read", succeeded=True)),
        ("tool_result", {"tool": "read", "result": {"error": None}}, Lifted(tool="read", succeeded=False)),
        ("tool_result", {"tool": "read"}, Lifted(tool="read")),
        ("tool_result", {"result": None}, Lifted(succeeded=True)),
        ("tool_result", {"result": "error", "succeeded": False}, Lifted(succeeded=True)),
        ("tool_result", {"tool": None, "result": {"exitCode": 2}}, Lifted(succeeded=False)),
        ("resource", {"operation": "write", "succeeded": False}, Lifted(operation="write", succeeded=False)),
        ("resource", {"operation": "write", "succeeded": 1}, Lifted(operation="write")),
        ("verification", {"operation": "change_impact_review"}, Lifted(operation="change_impact_review")),
    ],
)
def test_lifted_properties(kind, payload, lifted):
    assert lift(NodeKind(kind), payload) == lifted


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ({"error": "x"}, True),
        ({"error": None}, True),
        ({"ok": False}, True),
        ({"ok": 0}, False),
        ({"exitCode": 1}, True),
        ({"exitCode": -1.5}, True),
        ({"exitCode": 0}, False),
        ({"exitCode": 0.0}, False),
        ({"exitCode": -0.0}, False),
        ({"exitCode": 10**400}, True),
        ({"exitCode": None}, False),
        ({"exitCode": False, "ok": None}, False),
        ({"ok": True, "exitCode": 1}, True),
        ({"ok": True, "exitCode": 0, "error": ""}, True),
        ({"Error": 1}, False),
        ({"exitCode": True}, False),
        ({"exitCode": "1"}, False),
        ({}, False),
        ("error", False),
        (None, False),
        ([{"error": 1}], False),
    ],
)
def test_when_a_tool_failed(result, failed):
    assert tool_failed(result) is failed


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("semantic:memory:a", ("memory", "a")),
        ("semantic:memory:a:b", ("memory", "a:b")),
        ("semantic:memory:", None),
        ("semantic::a", None),
        ("semantic:memory", None),
        ("Semantic:memory:a", None),
        ("file", None),
    ],
)
def test_semantic_keys(key, parts):
    assert split_semantic_key(key) == parts
