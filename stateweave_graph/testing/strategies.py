"""Hypothesis strategies for JSON values, times, appends and states."""

from __future__ import annotations

from datetime import date
from typing import Any

from hypothesis import strategies as st

from stateweave_graph.identity import node_id
from stateweave_graph.jsontext import join_halves
from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import AgentState, Append, NodeKind

_TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=8).map(join_halves)
_KEYS = st.one_of(
    st.sampled_from(["a", "A", "_", "-", "10", "9", "é", "e\u0301", "名前"]), st.text(max_size=5), _TEXTS
)
_RESOURCE_KEYS = st.sampled_from(["a", "b", "src/é.py", "semantic:memory:a"])
_UNKNOWN_FIELDS = st.sampled_from(["note", "10", "é", "kind2", "Payload"])
_DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]  # strftime would speak the user's language
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_RFC_ZONES = ["GMT", "UT", "UTC", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT", "+0000", "-1130"]


def json_values(*, max_leaves: int = 20, keys: st.SearchStrategy[str] = _KEYS) -> st.SearchStrategy[Any]:
    """Any JSON value: texts with lone surrogates and NUL, integers of any size, finite floats.

    Args:
        max_leaves: about how many values that are neither array nor object.
        keys: the keys of objects.
    """
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**30), 10**30),
        st.floats(allow_nan=False, allow_infinity=False),
        _TEXTS,
    )
    return st.recursive(
        leaves,
        lambda children: st.one_of(
            st.lists(children, max_size=4), st.dictionaries(keys, children, max_size=4)
        ),
        max_leaves=max_leaves,
    )


@st.composite
def times(draw: st.DrawFn) -> str:
    """Texts in every form of ``createdAt`` (format.md, *Import*)."""
    clock = f"{draw(st.integers(0, 23)):02}:{draw(st.integers(0, 59)):02}"
    seconds = draw(st.sampled_from(["", ":00", ":59"]))
    if draw(st.integers(0, 3)) == 0:
        day = draw(st.dates(min_value=date(1000, 1, 1)))
        weekday = draw(st.sampled_from(["", f"{_DAYS[day.weekday()]}, "]))
        zone = draw(st.sampled_from(_RFC_ZONES))
        return f"{weekday}{day.day:02} {_MONTHS[day.month - 1]} {day.year:04} {clock}{seconds} {zone}"
    text = draw(st.dates()).isoformat()
    if draw(st.booleans()):
        fraction = draw(st.sampled_from(["", ".5", ".123", ".999999999"])) if seconds else ""
        text += f"T{clock}{seconds}{fraction}"
        text += draw(st.sampled_from(["", "Z", "+00:00", "-23:59", "+0530"]))
    return text


@st.composite
def append_lists(draw: st.DrawFn, *, min_size: int = 1, max_size: int = 12) -> list[Append]:
    """Appends that can be made one after another on an empty history; some name earlier ones as parents."""
    appends: list[Append] = []
    for _ in range(draw(st.integers(min_size, max_size))):
        parents: list[Append] | None = None
        if draw(st.booleans()) and appends:
            parents = draw(st.lists(st.sampled_from(appends), max_size=4))
        appends.append(
            Append(
                kind=draw(st.sampled_from(NodeKind)),
                payload=draw(st.one_of(st.sampled_from(["same", 1]), json_values(max_leaves=4))),
                parents=parents,
                resource_key=draw(st.one_of(st.none(), _RESOURCE_KEYS)),
                advance=draw(st.booleans()),
                created_at=draw(times()),
            )
        )
    return appends


@st.composite
def states(draw: st.DrawFn, *, max_size: int = 12) -> AgentState:
    """Valid states; some have a frontier, an empty resource key or unknown fields that no appends leave."""
    mirror = CausalMirror()
    mirror.append_all(draw(append_lists(max_size=max_size)))
    wire = mirror.state().to_dict()
    ids = [node["id"] for node in wire["nodes"]]
    if draw(st.booleans()):
        parents = sorted(draw(st.lists(st.sampled_from(ids), unique=True, max_size=3)))
        wire["nodes"].append(
            {
                "id": node_id("resource", parents, "of nothing", ""),
                "kind": "resource",
                "parents": parents,
                "payload": "of nothing",
                "createdAt": draw(times()),
                "sequence": len(ids) + 1,
                "resourceKey": "",
            }
        )
    if draw(st.booleans()):
        wire["frontier"] = draw(st.lists(st.sampled_from(ids), unique=True, max_size=4))
    for node in wire["nodes"]:
        if draw(st.integers(0, 5)) == 0:
            node[draw(_UNKNOWN_FIELDS)] = draw(json_values(max_leaves=3))
    return AgentState.model_validate(wire)
