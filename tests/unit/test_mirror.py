"""The mirror beyond the vectors: refusals change nothing, and a part decides as the whole does."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest

from stateweave_graph import Append, CausalMirror, InvalidStateError, StateWeaveGraphError, UnknownParentError
from stateweave_graph.records import RefRecord
from stateweave_graph.validation import Violation
from tests.support.states import append, story


def facts(mirror):
    return (
        mirror.state().to_json(),
        mirror.frontier,
        mirror.resource_heads,
        mirror.turn,
        mirror.system_id,
        dict(mirror.graph.nodes(data=True)),
        sorted(mirror.graph.edges(data="resourceKey")),
    )


def test_the_graph_has_what_the_store_has():
    state = story(3)
    mirror = CausalMirror(state)
    assert isinstance(mirror.graph, nx.DiGraph)
    assert len(mirror) == mirror.node_count == len(state.nodes)
    for node in state.nodes:
        data = mirror.graph.nodes[node.id]
        assert (data["kind"], data["sequence"], data["payload"]) == (
            node.kind.value,
            node.sequence,
            node.payload,
        )
        assert data.get("resourceKey") == node.resource_key
        assert set(mirror.graph.successors(node.id)) == set(node.parents)
    assert mirror.turn == 3
    assert mirror.system_id == state.nodes[0].id
    assert mirror.state() == state


def test_edges_between_versions_bear_the_resource():
    mirror = CausalMirror(story(2))
    first, second = (node.id for node in mirror.state().nodes if node.resource_key == "a.txt")
    assert mirror.graph.edges[second, first]["resourceKey"] == "a.txt"
    others = [data for _, _, data in mirror.graph.edges(data=True) if "resourceKey" in data]
    assert len(others) == 2  # one for the file, one for the memory
    assert all(
        mirror.graph.edges[edge]["sequence"] == mirror.graph.nodes[edge[0]]["sequence"]
        for edge in mirror.graph.edges
    )


def test_a_refusal_changes_nothing():
    mirror = CausalMirror(story(2))
    before = facts(mirror)
    good = append("goal", "new", resource_key="a.txt")
    later = append("answer", "later")
    for appends in (
        [good, append("answer", "x", ["cw_nowhere"])],
        [good, append("answer", "x", [later]), later],
        [append("system", "s"), append("goal", "g", ["cw_a", "cw_b"])],
    ):
        with pytest.raises(UnknownParentError):
            mirror.append_all(appends)
        assert facts(mirror) == before


def test_unknown_parents_are_all_named():
    with pytest.raises(UnknownParentError) as caught:
        CausalMirror().append(append("goal", "g", ["cw_b", "cw_a"]))
    assert caught.value.parents == ["cw_b", "cw_a"]


def test_parents_may_be_earlier_appends():
    mirror = CausalMirror()
    first = append("goal", "g", [])
    second = append("answer", "a", [first])
    nodes = mirror.append_all([first, second])
    assert nodes[1].parents == [nodes[0].id]


def test_an_empty_key_names_no_resource():
    state = story(1).to_dict()
    from stateweave_graph import AgentState, node_id

    for number in (1, 2):
        node: dict[str, Any] = {"kind": "goal", "parents": [], "payload": number, "createdAt": "2026-09-01"}
        state["nodes"].append(
            {
                "id": node_id("goal", [], number, ""),
                **node,
                "sequence": len(state["nodes"]) + 1,
                "resourceKey": "",
            }
        )
    mirror = CausalMirror(AgentState.model_validate(state))
    assert "" not in mirror.resource_heads
    assert all(data.get("resourceKey") != "" for _, _, data in mirror.graph.edges(data=True))


def test_extend_takes_over_what_another_writer_appended():
    whole = story(3)
    mirror = CausalMirror(story(1))
    count = mirror.node_count
    mirror.extend(whole.nodes[count:], whole.frontier)
    assert facts(mirror) == facts(CausalMirror(whole))


def test_extend_judges_by_the_import_rules():
    whole, mirror = story(3), CausalMirror(story(1))
    before = facts(mirror)
    count = mirror.node_count
    for nodes, frontier in (
        (whole.nodes[count + 1 :], whole.frontier),
        (whole.nodes[count:][::-1], whole.frontier),
        (whole.nodes[count:], ["cw_nowhere"]),
        (whole.nodes[:1], whole.frontier),
    ):
        with pytest.raises(InvalidStateError):
            mirror.extend(nodes, frontier)
        assert facts(mirror) == before


def test_check_order_names_edges_that_run_the_other_way():
    mirror = CausalMirror(story(1))
    mirror.check_order()
    first, last = mirror.state().nodes[0], mirror.state().nodes[-1]
    mirror.graph.add_edge(first.id, last.id)
    with pytest.raises(InvalidStateError) as caught:
        mirror.check_order()
    assert caught.value.violations == [
        Violation("parents", "$.nodes[0].parents", "a parent must stand earlier", last.id)
    ]


def test_a_partial_mirror_has_no_state():
    mirror = CausalMirror(story(1))
    head = mirror.state()
    assert head.nodes
    mirror.let_go()
    with pytest.raises(StateWeaveGraphError, match="partial"):
        mirror.state()


def test_an_append_that_is_there_already_is_that_node():
    mirror = CausalMirror()
    first = mirror.append(append("goal", "g", []))
    again = mirror.append(Append(kind="goal", payload="g", parents=[], created_at="2020-01-01"))
    assert again == first
    assert mirror.node_count == 1


def test_a_known_node_keeps_what_was_said_of_it():
    mirror = CausalMirror()
    mirror.whole = False
    node = mirror.append(append("goal", "g", []))
    other = CausalMirror()
    other.learn([RefRecord(node.id, 7, "goal", 3, "2020-01-01", None, '{"mine":1}')])
    again = other.append(append("goal", "g", []))
    assert (again.sequence, again.created_at, again.extra) == (7, "2020-01-01", {"mine": 1})
