"""The reading half of a repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stateweave_graph.errors import InvalidRequestError
from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import CausalNode
from stateweave_graph.repository import reads
from stateweave_graph.repository.nodeset import NodeSet
from stateweave_graph.repository.requests import check_name, check_positive, check_text
from stateweave_graph.results import AgentSummary, FailedRun, Head, LogEntry, Memory, QueryResult, Stored
from stateweave_graph.stores.base import CypherBounds, GraphStore, StoreReader

_MOST = 2**31
"""More than any history has; what is asked for beyond it is as good as all."""


class RepositoryReads:
    """What can be read of the histories in a store.

    Attributes:
        store: where the histories are.
    """

    def __init__(self, store: GraphStore) -> None:
        self.store = store

    @property
    def name(self) -> str:
        """Where the histories are, for messages."""
        return self.store.name

    def load(self, agent_id: str, *, revision: int | None = None) -> Stored:
        """An agent's state, to the letter; the newest, or the one at a revision.

        Raises:
            NotFoundError: there is no such agent or revision.
        """
        check_name(agent_id)
        if revision is not None:
            check_positive(revision, "revision")
        return self.store.read(lambda tx: reads.stored(tx, agent_id, revision))

    def agents(self, *, after: str | None = None, limit: int = 100) -> list[AgentSummary]:
        """A page of agents in the byte order of their ids, from behind ``after`` on."""
        most = min(check_positive(limit, "limit"), _MOST)
        if after is not None:
            check_name(after, "after")
        return [reads.summary(agent) for agent in self.store.read(lambda tx: tx.agents(after, most))]

    def head(self, agent_id: str) -> Head:
        """Where an agent's history stands; no history is read.

        Raises:
            NotFoundError: there is no such agent.
        """
        check_name(agent_id)
        head = self.store.read(lambda tx: tx.head(agent_id))
        if head is None:
            raise reads.no_agent(agent_id)
        return reads.head_result(head)

    def log(
        self, agent_id: str, *, before: int | None = None, limit: int = 100
    ) -> list[LogEntry | FailedRun]:
        """Commits, newest first, with the failed runs where they happened.

        Args:
            agent_id: the agent.
            before: only revisions below this one.
            limit: the most commits.

        Raises:
            NotFoundError: there is no such agent.
        """
        check_name(agent_id)
        most = min(check_positive(limit, "limit"), _MOST)
        below = None if before is None else min(check_positive(before, "before"), _MOST)
        return self.store.read(lambda tx: reads.log(tx, agent_id, below, most))

    def node(self, agent_id: str, node_id: str) -> CausalNode:
        """One node.

        Raises:
            NotFoundError: there is no such agent or node.
        """
        check_name(agent_id)
        return self.store.read(lambda tx: reads.node(tx, agent_id, node_id))

    def lineage(self, agent_id: str, node_id: str) -> NodeSet:
        """All nodes that a node rests on, directly or not, without itself.

        Raises:
            NotFoundError: there is no such agent or node.
        """
        return self._reached(agent_id, node_id, lambda tx, *start: tx.ancestors(*start))

    def impact(self, agent_id: str, node_id: str) -> NodeSet:
        """All nodes that rest on a node, directly or not, without itself.

        Raises:
            NotFoundError: there is no such agent or node.
        """
        return self._reached(agent_id, node_id, lambda tx, *start: tx.descendants(*start))

    def resource(self, agent_id: str, key: str) -> list[CausalNode]:
        """The versions of a resource, newest first.

        Raises:
            NotFoundError: there is no such agent or resource.
        """
        check_name(agent_id)
        return self.store.read(lambda tx: reads.versions(tx, agent_id, key))

    def memory(self, agent_id: str, *, type: str | None = None) -> list[Memory]:
        """What the agent remembers: the newest version of each semantic memory, by type and key.

        Raises:
            NotFoundError: there is no such agent.
        """
        check_name(agent_id)
        return self.store.read(lambda tx: reads.memories(tx, agent_id, type))

    def cypher(
        self,
        text: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        agents: Sequence[str] | None = None,
        max_rows: int = 10_000,
        timeout: float = 30.0,
    ) -> QueryResult:
        """Ask in Cypher; only reading is allowed. Labels and properties are those of ARCHITECTURE.md.

        Args:
            text: one Cypher statement.
            parameters: its parameters, by name.
            agents: the agents to ask about, where an engine holds only those that are asked for.
            max_rows: the most rows.
            timeout: the most seconds.

        Raises:
            QueryError: the text does more than read, fails, or takes more than it may.
        """
        check_text(text, "a Cypher text")
        if not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or timeout <= 0:
            raise InvalidRequestError(f"timeout {timeout!r} must be a number of seconds above 0")
        bounds = CypherBounds(min(check_positive(max_rows, "max_rows"), _MOST), float(timeout))
        columns, rows = self.store.cypher(text, parameters or {}, agents, bounds)
        return QueryResult(columns, rows)

    def mirror(self, agent_id: str) -> CausalMirror:
        """The whole history in memory, as a networkx graph.

        Raises:
            NotFoundError: there is no such agent.
        """
        return CausalMirror(self.load(agent_id).state)

    def _reached(
        self, agent_id: str, node_id: str, walk: Callable[[StoreReader, str, int], list[int]]
    ) -> NodeSet:
        check_name(agent_id)
        history, refs = self.store.read(lambda tx: reads.reached(tx, agent_id, node_id, walk))
        return NodeSet(
            refs,
            lambda sequences: self.store.read(lambda tx: reads.nodes_at(tx, agent_id, history, sequences)),
        )
