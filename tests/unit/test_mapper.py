"""States to records and back; what is lifted out of payloads."""

from __future__ import annotations

import pytest

from stateweave_graph import AgentState, NodeKind, VocabularyError
from stateweave_graph.hashing import CHAIN_START, commit_hash, extend_digest, hash_fields
from stateweave_graph.mapper import (
    Lifted,
    from_records,
    key_hash,
    lift,
    split_semantic_key,
    to_records,
    tool_failed,
)
from stateweave_graph.vocabulary import normalise_key, normalise_type
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
        ("semantic", "anything", Lifted()),
        ("tool_call", {"name": "read", "args": {}}, Lifted(tool="read")),
        ("tool_call", {"name": "\ud800"}, Lifted()),
        ("tool_result", {"tool": "read", "result": {"ok": True}}, Lifted(tool="read", succeeded=True)),
        ("tool_result", {"tool": "read", "result": {"error": None}}, Lifted(tool="read", succeeded=False)),
        ("tool_result", {"tool": "read"}, Lifted(tool="read")),
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


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Memory", "memory"),
        ("  Working   Style ", "working-style"),
        ("a_b-c", "a_b-c"),
        ("--x--", "x"),
        ("x" * 48, "x" * 48),
        ("Über", "ber"),
    ],
)
def test_type_names(given, name):
    assert normalise_type(given) == name


@pytest.mark.parametrize("given", ["", "1st", "日本", "x" * 49, "-_-"])
def test_no_type_names(given):
    with pytest.raises(VocabularyError):
        normalise_type(given)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ("Hotel style!", "hotel-style"),
        ("src/App.py:12", "src/app.py:12"),
        ("x" * 130, "x" * 120),
        ("a   b", "a-b"),
        ("_x_", "_x_"),
        ("é1", "1"),
        ("a" * 119 + " b", "a" * 119 + "-"),
    ],
)
def test_keys(given, key):
    assert normalise_key(given) == key


@pytest.mark.parametrize("given", ["", "  ", "日本"])
def test_no_keys(given):
    with pytest.raises(VocabularyError):
        normalise_key(given)


def framed(*fields: bytes | None) -> bytes:
    return b"".join(
        (2**64 - 1).to_bytes(8, "big") if field is None else len(field).to_bytes(8, "big") + field
        for field in fields
    )


def test_the_bytes_of_hashes_never_change():
    import hashlib

    by_hand = framed(b"a", b"12", None, b"2", "é".encode(), b"", b"0")
    # A list is its count, framed like a number, and then its elements.
    assert hash_fields("a", 12, None, ["é", ""], []) == hashlib.sha256(by_hand).hexdigest()
    step = framed(b"0" * 64, b"cw_x", b"2026-09-01", None)
    assert extend_digest(CHAIN_START, "cw_x", "2026-09-01", None) == hashlib.sha256(step).hexdigest()
    said = hashlib.sha256(framed(b"{}")).hexdigest().encode()
    commit = framed(b"p", b"d", b"1", b"cw_x", b"3", b"id", b"now", said, b"1", b"ph")
    expected = hashlib.sha256(commit).hexdigest()
    assert commit_hash("p", "d", ["cw_x"], 3, "id", "now", "{}", ["ph"]) == expected
