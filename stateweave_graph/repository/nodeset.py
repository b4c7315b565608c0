"""Nodes of one history, held by their sequences until more of them is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from stateweave_graph.model import CausalNode
from stateweave_graph.results import NodeRef


class NodeSet:
    """Nodes in order of sequence: ``len()``, ``in`` (by id), iteration over ``NodeRef``.

    What is not known yet is read when it is asked for; that raises ``NotFoundError`` where the history has
    been deleted since.

    Attributes:
        sequences: their sequences.
    """

    def __init__(
        self,
        sequences: Sequence[int],
        fetch_refs: Callable[[Sequence[int]], list[NodeRef]],
        fetch_nodes: Callable[[Sequence[int]], list[CausalNode]],
    ) -> None:
        self.sequences = list(sequences)
        self._fetch_refs = fetch_refs
        self._fetch_nodes = fetch_nodes

    @cached_property
    def refs(self) -> list[NodeRef]:
        """A ``NodeRef`` for each."""
        return self._fetch_refs(self.sequences)

    @property
    def ids(self) -> list[str]:
        """Their ids, in order of sequence."""
        return [ref.id for ref in self.refs]

    def nodes(self) -> list[CausalNode]:
        """The nodes with their payloads, read now."""
        return self._fetch_nodes(self.sequences)

    def __len__(self) -> int:
        return len(self.sequences)

    def __iter__(self) -> Iterator[NodeRef]:
        return iter(self.refs)

    def __contains__(self, node_id: object) -> bool:
        return any(ref.id == node_id for ref in self.refs)

    def __repr__(self) -> str:
        return f"NodeSet({len(self)} nodes)"
