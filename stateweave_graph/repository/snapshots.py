"""Whole snapshots beside what is stored: whether one extends it, and where it first differs if not."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from stateweave_graph.errors import DivergedError
from stateweave_graph.hashing import CHAIN_START, extend_digest
from stateweave_graph.identity import canonical
from stateweave_graph.jsontext import parse
from stateweave_graph.model import AgentState, CausalNode, NodeKind
from stateweave_graph.records import HeadRecord, RefRecord
from stateweave_graph.stores.base import StoreReader


class NodeChain:
    """The nodes of a state in order, and what comes of counting along them."""

    def __init__(self, nodes: Sequence[CausalNode]) -> None:
        self.nodes = nodes
        self._counts = [0]
        self._digests = [CHAIN_START]

    def digest(self, count: int) -> str:
        """The digest over the first ``count`` nodes; what was worked out once is kept."""
        place = bisect_right(self._counts, count) - 1
        known, digest = self._counts[place], self._digests[place]
        if known == count:
            return digest
        for node in self.nodes[known:count]:
            digest = extend_digest(digest, node.id, node.created_at, node.extra_text)
        self._counts.insert(place + 1, count)
        self._digests.insert(place + 1, digest)
        return digest

    def refs(self, ids: Iterable[str], before: int) -> list[RefRecord]:
        """What is known of those of these nodes that are among the first ``before``."""
        places = {self._places[node_id] for node_id in ids}
        return [self._ref(place) for place in sorted(places) if place < before]

    def _ref(self, place: int) -> RefRecord:
        node = self.nodes[place]
        return RefRecord(
            id=node.id,
            sequence=place + 1,
            kind=node.kind.value,
            turn=self._turns[place],
            created_at=node.created_at,
            resource_key=node.resource_key,
            extra=node.extra_text,
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        return {node.id: place for place, node in enumerate(self.nodes)}

    @cached_property
    def _turns(self) -> list[int]:
        return list(accumulate(int(node.kind is NodeKind.GOAL) for node in self.nodes))


@dataclass(frozen=True)
class Snapshot:
    """A state: the first ``count`` nodes of a chain, and a frontier."""

    chain: NodeChain
    count: int
    frontier: list[str]

    @classmethod
    def of(cls, state: AgentState) -> Snapshot:
        """A state as a snapshot."""
        return cls(NodeChain(state.nodes), len(state.nodes), state.frontier)

    @property
    def digest(self) -> str:
        """The digest over all its nodes."""
        return self.chain.digest(self.count)

    def behind(self, stored: int) -> list[CausalNode]:
        """The nodes behind the first ``stored``."""
        return list(self.chain.nodes[stored : self.count])


def check_extends(tx: StoreReader, head: HeadRecord, snapshot: Snapshot) -> None:
    """Check that a snapshot begins with all nodes that are stored.

    Comparing one digest is enough where it does; nodes are read to name the first difference.

    Raises:
        DivergedError: it does not.
    """
    agent = head.agent
    if snapshot.count >= agent.node_count and snapshot.chain.digest(agent.node_count) == head.commit.digest:
        return
    check_common(tx, head, snapshot)
    if snapshot.count < agent.node_count:
        raise DivergedError(
            agent.agent_id,
            f"the snapshot has {snapshot.count} nodes, and {agent.node_count} are stored at revision "
            f"{agent.revision}: histories only grow, nothing was written. Load the newest state, and go on "
            "from there",
            sequence=None,
            stored=agent.node_count,
            given=snapshot.count,
        )


def check_common(tx: StoreReader, head: HeadRecord, snapshot: Snapshot) -> None:
    """Check that a snapshot and what is stored agree as far as both reach.

    Raises:
        DivergedError: a node differs; it names the first.
    """
    both = min(snapshot.count, head.agent.node_count)
    for ref, node in zip(tx.refs(head.agent.history, 1, both), snapshot.chain.nodes[:both], strict=True):
        for field, stored, given in (
            ("id", ref.id, node.id),
            ("createdAt", ref.created_at, node.created_at),
            ("unknown fields", _spelled(ref.extra), _spelled(node.extra_text)),
        ):
            if stored != given:
                raise DivergedError(
                    head.agent.agent_id,
                    f"the snapshot does not extend what is stored: the {field} of node {ref.sequence} is "
                    f"{given} there and {stored} here; nothing was written. Load the newest state, and go on "
                    "from there",
                    sequence=ref.sequence,
                    stored=stored,
                    given=given,
                )


def _spelled(extra: str | None) -> str | None:
    """Unknown fields in one spelling, whatever the order of keys."""
    return None if extra is None else canonical(parse(extra))
