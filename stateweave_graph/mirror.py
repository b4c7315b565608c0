"""The in-memory picture of a history, or of a part of it; every commit goes through it.

The rules of appending are format.md, *Appending*. In ``graph`` an edge runs from child to parent, like
``PARENT`` in the store: ``networkx.descendants(graph, node)`` are the causes of a node, its ``ancestors``
what came of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stateweave_graph.attributes import add_edges, add_node
from stateweave_graph.collector import paused
from stateweave_graph.errors import (
    InvalidAppendError,
    InvalidRequestError,
    InvalidStateError,
    NotFoundError,
    StateWeaveGraphError,
    UnknownParentError,
)
from stateweave_graph.identity import identity_of
from stateweave_graph.jsontext import parse
from stateweave_graph.late_import import late_import
from stateweave_graph.model import AgentState, Append, CausalNode, NodeKind
from stateweave_graph.records import HeadRecord, RefRecord
from stateweave_graph.timestamps import iso_text, now_ms
from stateweave_graph.validation import NodeJudge, Violation, judge_frontier, raise_for


class Mark(NamedTuple):
    """A moment of a mirror, to come back to."""

    node_count: int
    nodes_held: int
    frontier: tuple[str, ...]
    turn: int
    system_id: str | None
    moved_heads: int


class CausalMirror:
    """A history in memory, on a networkx ``DiGraph``.

    A whole mirror holds every node. A partial one (``CausalMirror.partial``) holds the head of a stored
    history and the nodes that the next appends refer to: enough to decide a commit.

    Attributes:
        graph: the ``networkx.DiGraph``. A node has ``kind``, ``sequence``, ``turn``, ``createdAt`` and,
            where known, ``payload`` and ``resourceKey``; an edge, from child to parent, has ``sequence``
            (the child's) and, between two versions of one resource, ``resourceKey``. Look, don't touch:
            attributes are read-only; ``graph.copy()`` is a graph to change at will.
        whole: whether every node of the history is known here.
        turn: the number of goals so far.
        system_id: the id of the latest system node, or None.
    """

    def __init__(self, state: AgentState | None = None) -> None:
        # A third of what start-up would cost, and nobody who only reads needs it.
        self.graph: Any = late_import("networkx").DiGraph()
        self.whole = True
        self.turn = 0
        self.system_id: str | None = None
        self._count = 0
        self._frontier: dict[str, None] = {}
        self._heads: dict[str, str | None] = {}
        self._refs: dict[str, RefRecord] = {}
        self._nodes: dict[str, CausalNode] = {}
        self._moved_heads: list[tuple[str, str | None]] = []
        if state is not None:
            if not isinstance(state, AgentState):
                raise InvalidRequestError(
                    f"an AgentState is needed, not {type(state).__name__}; make one with AgentState.from_json"
                )
            with paused():
                for node in state.nodes:
                    self._add(node)
            self._frontier = dict.fromkeys(state.frontier)

    @classmethod
    def partial(
        cls,
        head: HeadRecord | None,
        refs: Iterable[RefRecord] = (),
        resource_heads: Mapping[str, RefRecord | None] | None = None,
    ) -> CausalMirror:
        """A mirror of the head of a stored history (None: of a history yet to begin).

        Args:
            head: the head as stored.
            refs: nodes that appends will refer to.
            resource_heads: the newest version of each resource that appends will name; None for one that
                has no version yet.
        """
        mirror = cls()
        if head is None:
            return mirror
        mirror.whole = False
        mirror.turn = head.turn
        mirror.system_id = head.agent.system_id
        mirror._count = head.agent.node_count
        mirror.learn(head.frontier)
        mirror._frontier = dict.fromkeys(ref.id for ref in head.frontier)
        if head.system is not None:
            mirror.learn([head.system])
        mirror.learn(refs, resource_heads)
        return mirror

    @property
    def node_count(self) -> int:
        """The number of nodes of the history, whether held here or not."""
        return self._count

    @property
    def frontier(self) -> list[str]:
        """Ids of the active heads, in their order."""
        return list(self._frontier)

    @property
    def resource_heads(self) -> dict[str, str]:
        """The id of the newest version of each resource (in a partial mirror: of those asked about)."""
        return {key: head for key, head in self._heads.items() if head is not None}

    def __contains__(self, node_id: object) -> bool:
        return node_id in self._refs

    def __len__(self) -> int:
        return len(self._refs)

    def ref(self, node_id: str) -> RefRecord:
        """What is known of a node that is held here.

        Raises:
            NotFoundError: it is not held here.
        """
        ref = self._refs.get(node_id)
        if ref is None:
            raise NotFoundError(f"the mirror does not hold the node {node_id!r}")
        return ref

    def knows_resource(self, key: str) -> bool:
        """Whether the newest version of this resource, or that it has none, is known here."""
        return self.whole or key in self._heads

    def learn(
        self, refs: Iterable[RefRecord], resource_heads: Mapping[str, RefRecord | None] | None = None
    ) -> None:
        """Take in stored nodes that were not held here; the history itself stays as it is."""
        newest = resource_heads or {}
        for ref in (*refs, *(ref for ref in newest.values() if ref is not None)):
            if ref.id not in self._refs:
                self._hold(ref)
        for key, head in newest.items():
            self._heads.setdefault(key, None if head is None else head.id)

    def append(self, append: Append) -> CausalNode:
        """Append one node by the rules of the format; a node that is there already is that node.

        Raises:
            UnknownParentError: a parent is not held here; nothing has changed.
            InvalidAppendError: it is no ``Append``; nothing has changed.
        """
        return self.append_all([append])[0]

    def append_all(self, appends: Sequence[Append]) -> list[CausalNode]:
        """Append several, in order: all of them, or none where one is refused.

        A parent may be an earlier ``Append`` of the list.

        Raises:
            UnknownParentError: a parent is not held here, or is an append that does not stand earlier.
            InvalidAppendError: an element is no ``Append``.
        """
        mark = self.mark()
        made: dict[int, str] = {}
        nodes = []
        try:
            for append in appends:
                if not isinstance(append, Append):
                    raise InvalidAppendError(f"an Append is needed, not one of type {type(append).__name__}")
                node = self._append(append, self._parents_asked(append, made))
                made[id(append)] = node.id
                nodes.append(node)
        except StateWeaveGraphError:
            self.rollback(mark)
            raise
        return nodes

    def extend(self, nodes: Sequence[CausalNode], frontier: Sequence[str]) -> None:
        """Take over nodes that another writer appended, and the frontier that it left.

        Every rule of the import is checked first, as for a snapshot.

        Raises:
            InvalidStateError: a rule is broken; nothing has changed.
        """
        judge = NodeJudge(set(self._refs), self._count)
        violations: list[Violation] = []
        for offset, node in enumerate(nodes):
            violations += judge.judge(node.to_dict(), f"$.nodes[{self._count + offset}]")
        violations += judge_frontier(list(frontier), judge.ids)
        raise_for(violations)
        for node in nodes:
            self._add(node)
        self._frontier = dict.fromkeys(frontier)

    def node(self, node_id: str) -> CausalNode:
        """A node with its content, where that is held here.

        Raises:
            NotFoundError: it is not held here, or its content is not.
        """
        node = self._nodes.get(node_id)
        if node is None:
            raise NotFoundError(f"the mirror does not hold the content of the node {node_id!r}")
        return node

    def state(self) -> AgentState:
        """The history as an ``AgentState``.

        Raises:
            StateWeaveGraphError: the mirror holds only a part of the history.
        """
        if len(self._nodes) < self._count:
            raise StateWeaveGraphError("a partial mirror has no whole state; load it from the repository")
        return AgentState.unchecked(list(self._nodes.values()), self.frontier)

    def check_order(self) -> None:
        """Check that ``sequence`` is a topological order: every parent stands before its child.

        Raises:
            InvalidStateError: an edge of ``graph`` runs the other way; each such edge is named.
        """
        sequence = self.graph.nodes(data="sequence")
        wrong = [
            Violation(
                "parents", f"$.nodes[{sequence[child] - 1}].parents", "a parent must stand earlier", parent
            )
            for child, parent in self.graph.edges
            if not sequence[parent] < sequence[child]
        ]
        if wrong:
            raise InvalidStateError(wrong, "the mirror")

    def let_go(self) -> None:
        """Let go of the contents of appended nodes, once they are stored; they can't be rolled back any more.

        What is known of each node otherwise stays.
        """
        for node_id in self._nodes:
            self.graph.nodes[node_id].hold_payload(None)
        self._nodes.clear()
        self._moved_heads.clear()

    def mark(self) -> Mark:
        """This moment, for ``rollback``."""
        return Mark(
            self._count,
            len(self._nodes),
            tuple(self._frontier),
            self.turn,
            self.system_id,
            len(self._moved_heads),
        )

    def rollback(self, mark: Mark) -> None:
        """Go back to a moment of this mirror; what was learnt since stays known."""
        while len(self._nodes) > mark.nodes_held:
            node_id, _ = self._nodes.popitem()
            del self._refs[node_id]
            self.graph.remove_node(node_id)
        self._count, self.turn, self.system_id = mark.node_count, mark.turn, mark.system_id
        self._frontier = dict.fromkeys(mark.frontier)
        while len(self._moved_heads) > mark.moved_heads:
            key, previous = self._moved_heads.pop()
            self._heads[key] = previous

    def _parents_asked(self, append: Append, made: Mapping[int, str]) -> list[str]:
        if append.parents is None:
            return list(self._frontier)
        parents: dict[str, None] = {}
        unknown = []
        for parent in append.parents:
            node_id = made.get(id(parent)) if isinstance(parent, Append) else parent
            if node_id is None:
                unknown.append("an Append that does not stand earlier in the list")
            elif node_id not in self._refs:
                unknown.append(node_id)
            else:
                parents[node_id] = None
        if unknown:
            raise UnknownParentError(unknown)
        return list(parents)

    def _append(self, append: Append, asked: list[str]) -> CausalNode:
        key = append.resource_key
        previous = self._heads.get(key) if key is not None else None
        if key is not None and not self.knows_resource(key):
            raise StateWeaveGraphError(f"this partial mirror was not told of the resource {key!r}")
        parents = sorted({*asked, previous} if previous is not None else asked)
        node_id = identity_of(append.kind.value, parents, append.payload, key)
        known = self._refs.get(node_id)
        node = CausalNode.unchecked(
            id=node_id,
            kind=append.kind,
            parents=parents,
            payload=append.payload,
            created_at=(append.created_at or iso_text(now_ms())) if known is None else known.created_at,
            sequence=self._count + 1 if known is None else known.sequence,
            resource_key=key,
            extra={} if known is None or known.extra is None else parse(known.extra),
        )
        if known is None:
            self._add(node)
        if append.advance:
            for parent in parents:
                self._frontier.pop(parent, None)
            self._frontier.setdefault(node_id)
        return node if known is None else self._nodes.get(node_id, node)

    def _add(self, node: CausalNode) -> None:
        self._count += 1
        self.turn += node.kind is NodeKind.GOAL
        if node.kind is NodeKind.SYSTEM:
            self.system_id = node.id
        key = node.resource_key
        ref = RefRecord(
            node.id, self._count, node.kind.value, self.turn, node.created_at, key, node.extra_text
        )
        self._hold(ref)
        self._nodes[node.id] = node
        self.graph.nodes[node.id].hold_payload(node)
        add_edges(self.graph, ref, map(self._refs.__getitem__, node.parents))
        if key:  # an empty key names no resource
            self._moved_heads.append((key, self._heads.get(key)))
            self._heads[key] = node.id

    def _hold(self, ref: RefRecord) -> None:
        self._refs[ref.id] = ref
        add_node(self.graph, ref)
