"""Hypothesis strategies for JSON values, appends and states."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import AgentState, Append, NodeKind

_WHEN = "2026-09-01T12:00:00.000Z"
_KEYS = st.one_of(
    st.sampled_from(["a", "A", "_", "-", "10", "9", "é", "e\u0301", "名前"]), st.text(max_size=5)
)


def json_values(*, max_leaves: int = 20) -> st.SearchStrategy[Any]:
    """Any JSON value: texts with lone surrogates and NUL, integers of any size, finite floats."""
    texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**30), 10**30),
        st.floats(allow_nan=False, allow_infinity=False),
        texts,
    )
    return st.recursive(
        leaves,
        lambda children: st.one_of(
            st.lists(children, max_size=4), st.dictionaries(st.one_of(_KEYS, texts), children, max_size=4)
        ),
        max_leaves=max_leaves,
    )


@st.composite
def append_lists(draw: st.DrawFn, *, max_size: int = 12) -> list[Append]:
    """Appends that can be made one after another on an empty history; some name earlier ones as parents."""
    appends: list[Append] = []
    for _ in range(draw(st.integers(1, max_size))):
        parents: list[Append] | None = None
        if draw(st.booleans()) and appends:
            parents = draw(st.lists(st.sampled_from(appends), max_size=4, unique_by=id))
        appends.append(
            Append(
                kind=draw(st.sampled_from(NodeKind)),
                payload=draw(st.one_of(st.sampled_from(["same", 1]), json_values(max_leaves=4))),
                parents=parents,
                resource_key=draw(st.one_of(st.none(), st.sampled_from(["a", "b", "semantic:memory:a"]))),
                advance=draw(st.booleans()),
                created_at=_WHEN,
            )
        )
    return appends


@st.composite
def states(draw: st.DrawFn, *, max_size: int = 12) -> AgentState:
    """Valid states; some with unknown fields of nodes and with a frontier that no appends would leave."""
    mirror = CausalMirror()
    mirror.append_all(draw(append_lists(max_size=max_size)))
    wire = mirror.state().to_dict()
    ids = [node["id"] for node in wire["nodes"]]
    if draw(st.booleans()):
        wire["frontier"] = draw(st.lists(st.sampled_from(ids), unique=True, max_size=4))
    for node in wire["nodes"]:
        if draw(st.integers(0, 5)) == 0:
            node["note"] = draw(json_values(max_leaves=3))
    return AgentState.model_validate(wire)
