"""Names and keys of semantic memory, and the types that a product allows."""

from __future__ import annotations

from typing import Any

import pytest

from stateweave_graph import CausalNode, NodeKind, NodeType, Vocabulary, VocabularyError
from stateweave_graph.vocabulary import BUILT_IN_TYPES, normalise_key, normalise_type


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Memory", "memory"),
        ("  Working   Style ", "working-style"),
        ("a_b-c", "a_b-c"),
        ("--x--", "x"),
        ("x" * 48, "x" * 48),
        ("Über", "ber"),
        ("a - b", "a---b"),
        ("a.b:c/d", "a-b-c-d"),
        ("a\u3000\ud800\n日本b", "a-b"),
        ("\u212a", "k"),  # the Kelvin sign is a K in lower case
        ("x" + "!" * 100_000, "x"),
    ],
)
def test_type_names(given, name):
    assert normalise_type(given) == name


@pytest.mark.parametrize("given", ["", "1st", "日本", "x" * 49, "-_-", "_a", "-1", None, 5, b"a"])
def test_no_type_names(given):
    with pytest.raises(VocabularyError):
        normalise_type(given)


def test_messages_stay_short():
    for normalise, given in ((normalise_type, "x" * 1_000_000), (normalise_key, "日" * 1_000_000)):
        with pytest.raises(VocabularyError) as caught:
            normalise(given)
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ("Hotel style!", "hotel-style"),
        ("src/App.py:12", "src/app.py:12"),
        ("x" * 130, "x" * 120),
        ("a   b", "a-b"),
        ("_x_", "_x_"),
        ("-x-", "x"),
        ("..", ".."),
        ("aß", "a"),
        ("HÄ/ß", "h-/"),
        ("é1", "1"),
        ("a" * 119 + " b", "a" * 119 + "-"),
    ],
)
def test_keys(given, key):
    assert normalise_key(given) == key


@pytest.mark.parametrize("given", ["", "  ", "日本", "---", "\ud800", None, 5])
def test_no_keys(given):
    with pytest.raises(VocabularyError):
        normalise_key(given)


@pytest.mark.parametrize("normalise", [normalise_type, normalise_key])
@pytest.mark.parametrize("name", [*BUILT_IN_TYPES, "a-b", "hotel-style"])
def test_what_is_normalised_stays_as_it_is(normalise, name):
    assert normalise(name) == name


def semantic(payload: Any, kind: str = "semantic") -> CausalNode:
    return CausalNode(
        id="cw_x", kind=NodeKind(kind), parents=[], payload=payload, created_at="2026-09-01", sequence=1
    )


@pytest.mark.parametrize(
    ("payload", "fits", "fits_dynamic"),
    [
        ({"type": "trip"}, True, True),
        ({"type": "trip", "key": None, "more": 1}, True, True),
        ({"type": "other-type"}, False, True),
        ({"type": "x" * 48}, False, True),
        ({"type": "x" * 49}, False, False),
        ({"type": "Trip"}, False, False),
        ({"type": "trip "}, False, False),
        ({"type": "trip\n"}, False, False),
        ({"type": 5}, False, False),
        ({"type": None}, False, False),
        ({}, False, False),
        ("trip", False, False),
        (None, False, False),
    ],
)
def test_which_nodes_fit(payload, fits, fits_dynamic):
    types = [NodeType("Trip", "A journey."), NodeType("place", "Where.")]
    for vocabulary, expected in ((Vocabulary(types), fits), (Vocabulary(types, True), fits_dynamic)):
        vocabulary.check(semantic(payload, "goal"))  # other kinds always do
        if expected:
            vocabulary.check(semantic(payload))
            continue
        with pytest.raises(VocabularyError, match=r"cw_x.*trip, place"):
            vocabulary.check(semantic(payload))


def test_a_vocabulary_comes_back_from_its_text():
    vocabulary = Vocabulary(
        (NodeType(name, text) for name, text in BUILT_IN_TYPES.items()), allow_dynamic=True
    )
    assert Vocabulary.from_text(vocabulary.to_text()) == vocabulary
    strange = Vocabulary([NodeType("a", '\ud800 \x00 é "')])
    assert Vocabulary.from_text(strange.to_text()) == strange
    assert strange.to_text() == (
        '{"nodeTypes":[{"name":"a","description":"\\ud800 \\u0000 é \\""}],"allowDynamicNodeTypes":false}'
    )


@pytest.mark.parametrize(
    ("types", "allow_dynamic", "message"),
    [
        ([], False, "1 to 32"),
        ([NodeType(f"t{number}", "") for number in range(33)], False, "1 to 32"),
        ([NodeType("A b", ""), NodeType("a-b", "")], False, "twice"),
        (["memory"], False, "'memory' is no NodeType"),
        ("memory", False, "'m' is no NodeType"),
        (5, False, "must be a list of NodeType, not 5"),
        (NodeType("a", ""), False, "must be a list of NodeType, not of type NodeType"),
        ({"name": "a", "description": ""}, False, "'name' is no NodeType"),
        ([NodeType("a", "")], 1, "True or False"),
        ([NodeType("a", "")], "no", "True or False"),
    ],
)
def test_what_is_no_vocabulary(types, allow_dynamic, message):
    with pytest.raises(VocabularyError, match=message):
        Vocabulary(types, allow_dynamic)


@pytest.mark.parametrize("description", ["x" * 241, None, 5, b""])
def test_what_is_no_description(description):
    with pytest.raises(VocabularyError, match="240"):
        NodeType("a", description)
    assert len(NodeType("a", "é" * 240).description) == 240
