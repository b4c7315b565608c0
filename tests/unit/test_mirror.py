"""The mirror beyond the vectors: refusals change nothing, and a part decides as the whole does."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest

from stateweave_graph import (
    AgentState,
    Append,
    CausalMirror,
    InvalidAppendError,
    InvalidRequestError,
    InvalidStateError,
    NotFoundError,
    StateWeaveGraphError,
    UnknownParentError,
    node_id,
)
from stateweave_graph.records import RefRecord
from stateweave_graph.validation import Violation
from tests.support.heads import part_of
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
    assert mirror.graph.nodes[state["nodes"][-1]["id"]]["resourceKey"] == ""
    assert mirror.state().to_dict() == state
    with pytest.raises(InvalidAppendError):
        mirror.append(append("goal", 3, resource_key=""))


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


def test_the_first_system_node_of_the_agent_need_not_advance():
    mirror = CausalMirror()
    system = mirror.append(append("system", "Be brief.", advance=False))
    assert mirror.frontier == []
    assert mirror.system_id == system.id
    goal = mirror.append(append("goal", "g"))
    assert goal.parents == []
    answer = mirror.append(append("answer", "a", [system.id, goal.id, system.id]))
    assert answer.parents == sorted([system.id, goal.id])
    assert mirror.frontier == [answer.id]


def test_the_frontier_keeps_its_order():
    mirror = CausalMirror()
    first, second, third = (mirror.append(append("goal", number, [])) for number in range(3))
    assert mirror.frontier == [first.id, second.id, third.id]
    assert mirror.append(append("goal", 0, [])) == first
    assert mirror.frontier == [first.id, second.id, third.id]  # it keeps its place
    fourth = mirror.append(append("answer", "a", [second.id]))
    assert mirror.frontier == [first.id, third.id, fourth.id]
    aside = mirror.append(append("semantic", "s", [first.id], advance=False))
    assert mirror.frontier == [first.id, third.id, fourth.id]
    assert mirror.append(append("semantic", "s", [first.id])) == aside
    assert mirror.frontier == [third.id, fourth.id, aside.id]
    assert mirror.node_count == 5


def test_the_head_of_a_resource_joins_the_parents_and_leaves_the_frontier():
    mirror = CausalMirror()
    first = mirror.append(append("resource", 1, [], resource_key="k"))
    other = mirror.append(append("goal", "g", []))
    second = mirror.append(append("resource", 2, [other.id], resource_key="k"))
    assert second.parents == sorted([first.id, other.id])
    assert mirror.frontier == [second.id]
    third = mirror.append(append("resource", 3, [], resource_key="k", advance=False))
    assert third.parents == [second.id]
    assert mirror.frontier == [second.id]
    assert mirror.resource_heads == {"k": third.id}
    again = mirror.append(append("resource", 3, [], resource_key="k"))
    assert again.parents == [third.id]  # the same content on the newest version is another version
    assert mirror.resource_heads == {"k": again.id}
    assert mirror.frontier == [second.id, again.id]


def test_a_list_is_appended_whole_or_not_at_all_even_where_it_is_no_list_of_appends():
    mirror = CausalMirror(story(1))
    before = facts(mirror)
    with pytest.raises(InvalidAppendError, match="dict"):
        mirror.append_all([append("goal", "new"), {"kind": "goal", "payload": 1}])  # type: ignore[list-item]
    assert facts(mirror) == before
    assert mirror.append_all([]) == []
    assert facts(mirror) == before


def test_what_is_not_held_is_said():
    mirror = CausalMirror()
    for look in (mirror.node, mirror.ref):
        with pytest.raises(NotFoundError, match="'cw_nowhere'"):
            look("cw_nowhere")
    node = mirror.append(append("goal", "g"))
    assert (mirror.node(node.id), mirror.ref(node.id).sequence) == (node, 1)
    assert node.id in mirror
    assert "cw_nowhere" not in mirror
    mirror.let_go()
    assert mirror.ref(node.id).sequence == 1
    with pytest.raises(NotFoundError):
        mirror.node(node.id)
    with pytest.raises(InvalidRequestError, match="dict"):
        CausalMirror({})  # type: ignore[arg-type]


def test_going_back_to_a_mark():
    mirror = CausalMirror(story(1))
    before, mark = facts(mirror), mirror.mark()
    mirror.append(append("system", "s"))
    middle, later = facts(mirror), mirror.mark()
    mirror.append_all(
        [append("goal", "g", resource_key="a.txt"), append("goal", "g", [], resource_key="new")]
    )
    mirror.rollback(later)
    assert facts(mirror) == middle
    mirror.append(append("answer", "a", resource_key="a.txt"))
    mirror.rollback(mark)
    assert facts(mirror) == before


def test_a_partial_mirror_has_no_state():
    mirror = CausalMirror(story(1))
    head = mirror.state()
    assert head.nodes
    mirror.let_go()
    with pytest.raises(StateWeaveGraphError, match="partial"):
        mirror.state()
    assert mirror.resource_heads == CausalMirror(head).resource_heads
    whole = CausalMirror(head)
    for each in (mirror, whole):
        each.append_all([append("goal", "g"), append("resource", 1, resource_key="a.txt")])
    assert (mirror.frontier, mirror.resource_heads) == (whole.frontier, whole.resource_heads)
    assert mirror.ref(mirror.frontier[0]) == whole.ref(whole.frontier[0])


def test_a_part_knows_what_it_was_told():
    whole = CausalMirror(story(2))
    part = part_of(whole, set(), {"a.txt", "none"})
    assert not part.whole
    assert (part.node_count, part.turn, part.system_id) == (whole.node_count, 2, whole.system_id)
    assert part.frontier == whole.frontier
    assert part.resource_heads == {"a.txt": whole.resource_heads["a.txt"]}
    assert [part.knows_resource(key) for key in ("a.txt", "none", "other")] == [True, True, False]
    assert len(part) == 3  # the head, the system node, the head of the file
    with pytest.raises(StateWeaveGraphError, match="'other'"):
        part.append(append("resource", 1, resource_key="other"))
    with pytest.raises(UnknownParentError):
        part.append(append("goal", "g", [whole.state().nodes[1].id]))
    part.learn([whole.ref(whole.state().nodes[1].id)], {"other": None})
    assert part.append(append("goal", "g", [whole.state().nodes[1].id], resource_key="other")).sequence == (
        whole.node_count + 1
    )


def test_a_refusal_on_a_part_leaves_what_it_knew_of_resources():
    whole = CausalMirror(story(1))
    part = part_of(whole, set(), {"a.txt", "new"})
    appends = [append("resource", 1, resource_key="a.txt"), append("resource", 2, resource_key="new")]
    with pytest.raises(UnknownParentError):
        part.append_all([*appends, append("goal", "g", ["cw_nowhere"])])
    assert part.resource_heads == {"a.txt": whole.resource_heads["a.txt"]}
    assert part.append_all(appends) == whole.append_all(appends)


def test_a_part_of_nothing_is_whole():
    mirror = CausalMirror.partial(None)
    assert mirror.whole
    assert mirror.append(append("goal", "g", resource_key="k")).sequence == 1
    assert mirror.state().frontier == mirror.frontier


def test_an_append_that_is_there_already_is_that_node():
    mirror = CausalMirror()
    first = mirror.append(append("goal", "g", []))
    again = mirror.append(Append(kind="goal", payload="g", parents=[], created_at="2020-01-01"))
    assert again == first
    assert mirror.node_count == 1


def test_a_known_node_keeps_what_was_said_of_it():
    node = CausalMirror().append(append("goal", "g", []))
    other = CausalMirror()
    other.learn([RefRecord(node.id, 7, "goal", 3, "2020-01-01", None, '{"mine":1}')])
    again = other.append(append("goal", "g", []))
    assert (again.sequence, again.created_at, again.extra) == (7, "2020-01-01", {"mine": 1})
