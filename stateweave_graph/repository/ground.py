"""What is known of an agent's history while a commit is decided: the head, and as little else as will do.

A commit needs the head, not the history (design.md, *The graph*): the frontier, the parents named, the
heads of the resources named, and whether a node of a new id is there. A ``Ground`` holds that, on a partial
mirror; a ``Draft`` tries appends out on it. Neither knows a store: what is missing is named as a ``Need``,
and a store's answer is taken in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stateweave_graph.jsontext import has_lone_surrogate
from stateweave_graph.mapper import key_hash
from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import Append, CausalNode
from stateweave_graph.records import AgentRecord, Batch, HeadRecord, Known, ResourceKeyRecord, Wanted
from stateweave_graph.repository.requests import Expectation


class Need(NamedTuple):
    """What must be looked up: nodes by id, resources by key."""

    ids: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.ids or self.keys)

    def wanted(self, commit_id: str | None = None) -> Wanted:
        """The same as a store is asked for it."""
        return Wanted(self.ids, frozenset(map(key_hash, self.keys)), commit_id)


class Ground:
    """An agent's head and what else is known of its history at that revision.

    Attributes:
        head: the head as stored; None where there is no such agent yet.
        history: the id of the history; empty where there is none yet.
        mirror: the history as far as it is known; the next appends are made on it.
        resources: the stored resources that were asked about, by key.
    """

    def __init__(self, head: HeadRecord | None) -> None:
        self.head = head
        self.history = "" if head is None else head.agent.history
        self.mirror = CausalMirror.partial(head)
        self.resources: dict[str, ResourceKeyRecord] = {}
        self._absent: set[str] = set()

    @property
    def node_count(self) -> int:
        """The number of nodes stored."""
        return 0 if self.head is None else self.head.agent.node_count

    def stands_at(self, agent: AgentRecord | None) -> bool:
        """Whether an agent's head is still this one, with the same content and under the same vocabulary."""
        return _stand(None if self.head is None else self.head.agent) == _stand(agent)

    def expectation(self) -> Expectation:
        """What a commit made on this ground expects to find."""
        if self.head is None:
            return Expectation(0, None, 0)
        revision = self.head.agent.revision
        return Expectation(revision, self.history, revision)

    def unknown(self, ids: Iterable[str], keys: Iterable[str]) -> Need:
        """Those of these nodes and resources of which it is not known whether they are there."""
        if self.mirror.whole:
            return Need()
        return Need(
            frozenset(
                node_id
                for node_id in ids
                if node_id not in self.mirror
                and node_id not in self._absent
                and not has_lone_surrogate(node_id)
            ),
            frozenset(key for key in keys if not self.mirror.knows_resource(key)),
        )

    def doubtful(self, new: Iterable[CausalNode]) -> Need:
        """Those of the nodes made on the mirror that may be stored already."""
        if self.mirror.whole:
            return Need()
        return Need(frozenset(node.id for node in new if node.id not in self._absent))

    def learn(self, need: Need, known: Known) -> None:
        """Take in a store's answer; what it does not have is not there."""
        self.resources.update(known.resources)
        heads = {
            key: known.refs[known.resources[key].head_id] if key in known.resources else None
            for key in need.keys
        }
        self.mirror.learn(known.refs.values(), heads)
        self._absent |= need.ids - known.refs.keys()

    def advance(self, batch: Batch) -> Ground:
        """The ground after a commit that was made on its mirror."""
        mirror = self.mirror
        head = HeadRecord(
            agent=batch.agent,
            commit=batch.commit,
            frontier=tuple(map(mirror.ref, mirror.frontier)),
            system=None if mirror.system_id is None else mirror.ref(mirror.system_id),
            turn=mirror.turn,
        )
        mirror.let_go()
        self.resources.update((record.key, record) for record in batch.resources)
        after = Ground(head)
        after.mirror, after.resources = mirror, self.resources
        return after


class Draft:
    """Appends tried out on a ground; they are nodes already, but stored nowhere.

    Attributes:
        ground: the ground; its mirror has the nodes.
        appends: what was asked for.
        nodes: a node for each append that was tried out, old or new.
    """

    def __init__(self, ground: Ground, appends: Iterable[Append] = ()) -> None:
        self.ground = ground
        self.appends = list(appends)
        self.nodes: list[CausalNode] = []
        self._mark = ground.mirror.mark()

    @property
    def new(self) -> list[CausalNode]:
        """The nodes that were not there, in order of sequence."""
        return list({node.id: node for node in self.nodes if node.sequence > self.ground.node_count}.values())

    def add(self, append: Append) -> CausalNode:
        """Try one more append out.

        Raises:
            UnknownParentError: a parent is not known here; nothing has changed.
        """
        node = self.ground.mirror.append(append)
        self.appends.append(append)
        self.nodes.append(node)
        return node

    def missing(self) -> Need:
        """What must be looked up before the draft holds; nothing where it does.

        Raises:
            UnknownParentError: a parent is not there.
        """
        if len(self.nodes) < len(self.appends):
            need = self.ground.unknown(*named_in(self.appends))
            if need:
                return need
            self.nodes = self.ground.mirror.append_all(self.appends)
        return self.ground.doubtful(self.new)

    def learn(self, need: Need, known: Known) -> None:
        """Take in a store's answer; nodes made here that are stored already are made again from it."""
        if not need.ids.isdisjoint(known.refs.keys() & {node.id for node in self.nodes}):
            self.ground.mirror.rollback(self._mark)
            self.nodes = []
        self.ground.learn(need, known)


def named_in(appends: Sequence[Append]) -> tuple[list[str], list[str]]:
    """The ids of parents and the resource keys that appends name."""
    ids = [parent for append in appends for parent in append.parents or () if isinstance(parent, str)]
    return ids, [append.resource_key for append in appends if append.resource_key is not None]


def _stand(agent: AgentRecord | None) -> tuple[str, int, int, str | None] | None:
    return None if agent is None else (agent.history, agent.revision, agent.generation, agent.vocabulary)
