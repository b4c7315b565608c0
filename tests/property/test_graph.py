"""The graph of a mirror is networkx's own: what people do with one works, and attributes read as dicts do."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import networkx as nx
import pytest
from hypothesis import given

from stateweave_graph import AgentState, CausalMirror, InvalidRequestError
from stateweave_graph.testing.strategies import states
from tests.support.states import append, story


def plain(state: AgentState) -> Any:
    """The graph as the documentation of ``CausalMirror`` tells it, from dicts."""
    graph = nx.DiGraph()
    turn = 0
    for node in state.nodes:
        turn += node.kind.value == "goal"
        attributes = {"kind": node.kind.value, "sequence": node.sequence, "turn": turn}
        attributes |= {"createdAt": node.created_at}
        if node.resource_key is not None:
            attributes["resourceKey"] = node.resource_key
        graph.add_node(node.id, **attributes, payload=node.payload)
    for node in state.nodes:
        for parent in node.parents:
            key = graph.nodes[parent].get("resourceKey")
            same = {"resourceKey": key} if key and key == node.resource_key else {}
            graph.add_edge(node.id, parent, sequence=node.sequence, **same)
    return graph


def facts(graph: Any) -> Any:
    """All of a graph as plain values; lists keep the order of nodes and attributes."""
    return (
        [(node, list(data.items())) for node, data in graph.nodes(data=True)],
        {(child, parent): list(data.items()) for child, parent, data in graph.edges(data=True)},
        {node: set(graph.predecessors(node)) for node in graph},
    )


@given(states())
def test_nodes_edges_and_attributes_are_those_of_a_graph_of_dicts(state):
    graph, expected = CausalMirror(state).graph, plain(state)
    assert facts(graph) == facts(expected)
    for node, data in graph.nodes(data=True):
        assert data == expected.nodes[node]
        assert expected.nodes[node] == data
        assert (len(data), repr(data)) == (len(expected.nodes[node]), repr(expected.nodes[node]))
        assert data.get("nothing") is None
        assert "nothing" not in data
    for name in ("sequence", "resourceKey", "payload", "nothing"):
        assert list(graph.nodes(data=name)) == list(expected.nodes(data=name))
        assert set(graph.edges(data=name)) == set(expected.edges(data=name))


@given(states())
def test_algorithms_and_copies_of_networkx_work_on_it(state):
    graph, expected = CausalMirror(state).graph, plain(state)
    some = [node.id for node in state.nodes[::2]]
    assert list(nx.topological_sort(graph)) == list(nx.topological_sort(nx.DiGraph(graph)))
    for node in state.nodes:
        assert nx.descendants(graph, node.id) == nx.descendants(expected, node.id)
        assert nx.ancestors(graph, node.id) == nx.ancestors(expected, node.id)
    for same in (graph.copy(), nx.DiGraph(graph), nx.compose(graph, nx.DiGraph()), copy.deepcopy(graph)):
        assert facts(same) == facts(expected)
    assert facts(pickle.loads(pickle.dumps(graph))) == facts(expected)
    assert facts(graph.reverse()) == facts(expected.reverse())
    assert facts(graph.reverse(copy=False)) == facts(expected.reverse(copy=False))
    assert facts(graph.subgraph(some)) == facts(expected.subgraph(some))
    assert facts(graph.subgraph(some).copy()) == facts(expected.subgraph(some).copy())
    assert nx.node_link_data(graph) == nx.node_link_data(expected)
    assert nx.to_dict_of_dicts(graph) == nx.to_dict_of_dicts(expected)
    numbers = {node.id: node.sequence for node in state.nodes}
    assert facts(nx.relabel_nodes(graph, numbers)) == facts(nx.relabel_nodes(expected, numbers))


def test_a_copy_is_a_graph_to_change_at_will():
    graph = CausalMirror(story(2)).graph
    before = facts(graph)
    mine = graph.copy()
    nx.set_node_attributes(mine, 1, "colour")
    nx.set_edge_attributes(mine, 2, "weight")
    assert {data["colour"] for _, data in mine.nodes(data=True)} == {1}
    assert {data["weight"] for _, _, data in mine.edges(data=True)} == {2}
    assert facts(graph) == before


def test_attributes_of_the_mirror_itself_are_read_only_and_the_error_says_what_to_do():
    graph = CausalMirror(story(2)).graph
    before = facts(graph)
    node = next(iter(graph))
    child, parent = next(iter(graph.edges))
    for change in (
        lambda: nx.set_node_attributes(graph, 1, "colour"),
        lambda: nx.set_edge_attributes(graph, 2, "weight"),
        lambda: graph.add_node(node, kind="goal"),
        lambda: graph.add_edge(child, parent, sequence=0),
        lambda: graph.nodes[node].__delitem__("kind"),
    ):
        with pytest.raises(InvalidRequestError, match=r"graph\.copy\(\)"):
            change()
    graph.add_node(node)
    graph.add_edge(child, parent)
    assert facts(graph) == before


def test_what_networkx_exports_is_whole():
    mirror = CausalMirror()
    mirror.append_all([append("goal", "Grüße", resource_key="a"), append("answer", "b", resource_key="a")])
    written = io.BytesIO()
    nx.write_graphml(mirror.graph, written)
    assert facts(nx.parse_graphml(written.getvalue().decode())) == facts(mirror.graph)
    assert [data["resourceKey"] for _, _, data in mirror.graph.edges(data=True)] == ["a"]


def test_what_is_let_go_and_what_is_rolled_back_leaves_the_graph():
    mirror = CausalMirror(story(1))
    mirror.let_go()
    assert all(
        "payload" not in data and len(data) == len(list(data)) for _, data in mirror.graph.nodes(data=True)
    )
    before, mark = facts(mirror.graph), mirror.mark()
    mirror.append(append("goal", "more"))
    assert facts(mirror.graph) != before
    mirror.rollback(mark)
    assert facts(mirror.graph) == before
