"""Nodes of one history, held by reference until their content is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from stateweave_graph.model import CausalNode
from stateweave_graph.results import NodeRef


class NodeSet:
    """Nodes in order of sequence: ``len()``, ``in`` (by id), iteration over ``NodeRef``.

    Attributes:
        refs: a ``NodeRef`` for each.
    """

    def __init__(self, refs: Sequence[NodeRef], fetch: Callable[[Sequence[int]], list[CausalNode]]) -> None:
        self.refs = list(refs)
        self._fetch = fetch

    @property
    def ids(self) -> list[str]:
        """Their ids, in order of sequence."""
        return [ref.id for ref in self.refs]

    def nodes(self) -> list[CausalNode]:
        """The nodes with their payloads, read now.

        Raises:
            NotFoundError: the history has been deleted since.
        """
        return self._fetch([ref.sequence for ref in self.refs])

    def __len__(self) -> int:
        return len(self.refs)

    def __iter__(self) -> Iterator[NodeRef]:
        return iter(self.refs)

    def __contains__(self, node_id: object) -> bool:
        return any(ref.id == node_id for ref in self.refs)

    def __repr__(self) -> str:
        return f"NodeSet({len(self.refs)} nodes)"
