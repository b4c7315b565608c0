"""The picture: what is drawn, and that no text of a payload gets out of its label."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateweave_graph import CausalMirror, NodeKind
from stateweave_graph.mermaid import mermaid
from tests.support.states import append, story

NODE = re.compile(r'    n(\d+)\["(\d+) (\w+)<br>([\w .,:!?+/=…#;\ufffd-]*)"\]:::(\w+)')


def label_of(payload):
    mirror = CausalMirror()
    mirror.append(append("goal", payload))
    line = mermaid(mirror.state().nodes).split("\n")[1]
    match = NODE.fullmatch(line)
    assert match, line
    return html.unescape(re.sub(r"#(\d+);", r"&#\1;", match[4]))


def test_nodes_edges_kinds_and_heads_of_a_story():
    state = story(1)
    system, goal, call, *_, answer = state.nodes
    lines = mermaid([system, goal, call, answer], [answer.id, goal.id]).splitlines()
    assert lines[0] == "flowchart TD"
    assert [NODE.fullmatch(line)[3] for line in lines[1:5]] == ["system", "goal", "tool_call", "answer"]  # type: ignore[index]
    edges = {line.strip() for line in lines if "-->" in line}
    assert edges == {"n2 --> n3"}, "the goal rests on nothing here, and what the answer rests on is not drawn"
    assert [line.split()[1] for line in lines if "classDef" in line] == [
        "answer",
        "goal",
        "system",
        "tool_call",
    ]
    assert [line.split()[1] for line in lines if "stroke-width" in line] == ["n2", "n7"]


def test_an_edge_for_each_parent_that_is_drawn():
    state = story(2)
    place = {node.id: node.sequence for node in state.nodes}
    expected = {(place[parent], node.sequence) for node in state.nodes for parent in node.parents}
    drawn = re.findall(r"^    n(\d+) --> n(\d+)$", mermaid(state.nodes), re.MULTILINE)
    assert {(int(a), int(b)) for a, b in drawn} == expected
    assert len(drawn) == len(expected)


@pytest.mark.parametrize("kind", list(NodeKind))
def test_every_kind_has_a_colour(kind):
    mirror = CausalMirror()
    mirror.append(append(kind.value, None))
    assert f"    classDef {kind.value} fill:#" in mermaid(mirror.state().nodes)


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        ('"q" [b] {c} (d) <b>e</b> `f` |g|', '"q" [b] {c} (d) <b>e</b> `f` |g|'),
        ("two\nlines\tand\r\nmore", "two lines and more"),
        ("#35; &amp; %% --> :::x", "#35; &amp; %% --> :::x"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ("\x00\x1b[31m\u202e\ud800", "\ufffd\ufffd[31m\ufffd\ufffd"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("x" * 100, "x" * 39 + "…"),
        ("", ""),
    ],
)
def test_a_label_shows_the_payload(payload, shown):
    assert label_of(payload) == shown


@given(st.text(st.characters(), max_size=60))
def test_no_text_gets_out_of_its_label(text):
    assert len(label_of(text)) <= 40


def test_nothing_is_drawn_of_nothing():
    assert mermaid([]) == "flowchart TD\n"
