"""Appending against a model on lists and dicts; refusals; parts of a history against the whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateweave_graph import Append, CausalMirror, InvalidStateError, UnknownParentError, node_id, validate
from stateweave_graph.testing.strategies import append_lists, states
from tests.support.heads import part_of


def facts(mirror: CausalMirror) -> tuple[Any, ...]:
    return (
        mirror.state().to_json(),
        mirror.resource_heads,
        mirror.turn,
        mirror.system_id,
        dict(mirror.graph.nodes(data=True)),
        {(child, parent): data for child, parent, data in mirror.graph.edges(data=True)},
    )


class Model:
    """Appending as the format puts it, rule by rule."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.frontier: list[str] = []
        self.heads: dict[str, str] = {}

    def append(self, kind, payload, parents, key, advance):
        # 1: the whole frontier by default; duplicates are dropped; a parent must exist
        chosen = list(self.frontier) if parents is None else list(dict.fromkeys(parents))
        assert all(parent in self.nodes for parent in chosen)
        # 2: the head of the resource joins the parents
        previous = self.heads.get(key) if key is not None else None
        if previous is not None and previous not in chosen:
            chosen.append(previous)
        # 3: sorted; a node that exists is that node, and uses no sequence number
        chosen.sort()
        identity = node_id(kind, chosen, payload, key)
        if identity not in self.nodes:
            self.nodes[identity] = {"parents": chosen, "sequence": len(self.nodes) + 1}
        # 4: parents leave the frontier, the node joins it at the end or keeps its place
        if advance:
            self.frontier = [head for head in self.frontier if head not in chosen]
            if identity not in self.frontier:
                self.frontier.append(identity)
        # 5: it is the head of its resource
        if key is not None:
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
    assert facts(together) == facts(mirror) == facts(CausalMirror(mirror.state()))
    assert validate(mirror.state().to_json()) == []
    mirror.check_order()


@given(append_lists(min_size=0), append_lists())
def test_a_refused_list_leaves_no_trace(first, second):
    mirror = CausalMirror()
    mirror.append_all(first)
    before = facts(mirror)
    with pytest.raises(UnknownParentError):
        mirror.append_all([*second, Append(kind="goal", payload=1, parents=["cw_nowhere"])])
    assert facts(mirror) == before
    other = CausalMirror()
    other.append_all(first)
    assert mirror.append_all(second) == other.append_all(second)
    assert facts(mirror) == facts(other)


@given(append_lists(), st.data())
def test_a_part_decides_as_the_whole_does(appends, data):
    split = data.draw(st.integers(0, len(appends) - 1))
    whole = CausalMirror()
    made: dict[int, Any] = {}
    for append, node in zip(appends[:split], whole.append_all(appends[:split]), strict=True):
        made[id(append)] = node.id
    later = []
    for append in appends[split:]:
        parents = None if append.parents is None else [made[id(parent)] for parent in append.parents]
        made[id(append)] = append.model_copy(update={"parents": parents})
        later.append(made[id(append)])
    tried = CausalMirror(whole.state())
    ids = {node.id for node in tried.append_all(later)}
    ids |= {parent for append in later for parent in append.parents or () if isinstance(parent, str)}
    keys = {append.resource_key for append in later if append.resource_key is not None}
    part = part_of(whole, ids, keys)
    assert [node.id for node in part.append_all(later)] == [node.id for node in whole.append_all(later)]
    assert facts(whole) == facts(tried)
    assert part.frontier == whole.frontier
    assert part.resource_heads == {key: whole.resource_heads[key] for key in keys}
    assert (part.node_count, part.turn, part.system_id) == (whole.node_count, whole.turn, whole.system_id)
    assert all(part.ref(node_id) == whole.ref(node_id) for node_id in ids | set(part.frontier))
    part.check_order()


@given(states(), st.data())
def test_a_history_taken_over_in_two_parts_is_the_same(state, data):
    split = data.draw(st.integers(0, len(state.nodes)))
    mirror = CausalMirror()
    mirror.extend(state.nodes[:split], [node.id for node in state.nodes[:split]][-2:])
    before = facts(mirror)
    with pytest.raises(InvalidStateError):
        mirror.extend(state.nodes[split:], ["cw_nowhere"])
    assert facts(mirror) == before
    mirror.extend(state.nodes[split:], state.frontier)
    assert facts(mirror) == facts(CausalMirror(state))
