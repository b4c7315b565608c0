"""What the nodes and edges of a mirror's graph bear, as networkx reads it: views of what the mirror holds.

A dict for each node and edge would be most of a large graph. Here a node has one small object, and all edges
of a node share one, or two where some join versions of a resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from stateweave_graph.errors import InvalidRequestError
from stateweave_graph.model import CausalNode
from stateweave_graph.records import RefRecord

_FIELDS = {
    "kind": "kind",
    "sequence": "sequence",
    "turn": "turn",
    "createdAt": "created_at",
    "resourceKey": "resource_key",
}


class _Attributes(Mapping[str, Any]):
    """A mapping that networkx takes for a dict of attributes, as long as nothing is set."""

    __slots__ = ()

    def copy(self) -> dict[str, Any]:
        """The attributes as a dict, which may be changed."""
        return dict(self)

    def update(self, *args: Any, **attributes: Any) -> None:
        """Nothing, where there is nothing to set: networkx asks for that too.

        Raises:
            InvalidRequestError: an attribute is given.
        """
        if dict(*args, **attributes):
            self._refuse()

    def __setitem__(self, name: str, value: Any) -> NoReturn:
        self._refuse()

    def __delitem__(self, name: str) -> NoReturn:
        self._refuse()

    def __repr__(self) -> str:
        return repr(dict(self))

    def _refuse(self) -> NoReturn:
        raise InvalidRequestError(
            "the attributes of a mirror's graph can't be changed, since its edges share them; "
            "graph.copy() is a graph of your own"
        )


class NodeAttributes(_Attributes):
    """``kind``, ``sequence``, ``turn``, ``createdAt``; where known, ``resourceKey`` and ``payload``."""

    __slots__ = ("_node", "_ref")

    def __init__(self, ref: RefRecord) -> None:
        self._ref = ref
        self._node: CausalNode | None = None

    def hold_payload(self, node: CausalNode | None) -> None:
        """Take the payload from this node; from None: there is none any more."""
        self._node = node

    def __getitem__(self, name: str) -> Any:
        if name == "payload" and self._node is not None:
            return self._node.payload
        value = getattr(self._ref, _FIELDS[name])
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        yield "kind"
        yield "sequence"
        yield "turn"
        yield "createdAt"
        if self._ref.resource_key is not None:
            yield "resourceKey"
        if self._node is not None:
            yield "payload"

    def __len__(self) -> int:
        return 4 + (self._ref.resource_key is not None) + (self._node is not None)


class EdgeAttributes(_Attributes):
    """``sequence``, the child's; between two versions of one resource also ``resourceKey``."""

    __slots__ = ("_between_versions", "_child")

    def __init__(self, child: RefRecord, *, between_versions: bool = False) -> None:
        self._child = child
        self._between_versions = between_versions

    def __getitem__(self, name: str) -> Any:
        if name == "sequence":
            return self._child.sequence
        if name == "resourceKey" and self._between_versions:
            return self._child.resource_key
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        yield "sequence"
        if self._between_versions:
            yield "resourceKey"

    def __len__(self) -> int:
        return 1 + self._between_versions


def add_node(graph: Any, ref: RefRecord) -> None:
    """Put a node without edges into a networkx ``DiGraph``."""
    graph.add_node(ref.id)
    graph._node[ref.id] = NodeAttributes(ref)


def add_edges(graph: Any, child: RefRecord, parents: Iterable[RefRecord]) -> None:
    """Put the edges from a node to its parents into a networkx ``DiGraph`` that has all of them."""
    # networkx can't be asked to let edges share their attributes, so its dicts are filled here as it does.
    key = child.resource_key
    usual = between_versions = EdgeAttributes(child)
    if key:  # an empty key names no resource
        between_versions = EdgeAttributes(child, between_versions=True)
    edges, back = graph._succ[child.id], graph._pred
    for parent in parents:
        edges[parent.id] = back[parent.id][child.id] = (
            between_versions if parent.resource_key == key else usual
        )
