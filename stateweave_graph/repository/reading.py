"""The reading half of a repository."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from stateweave_graph.errors import InvalidRequestError
from stateweave_graph.mermaid import mermaid
from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import CausalNode, NodeKind
from stateweave_graph.queries import named_query
from stateweave_graph.repository import explain, pictures, reads
from stateweave_graph.repository.nodeset import NodeSet
from stateweave_graph.repository.requests import (
    check_list,
    check_name,
    check_path,
    check_positive,
    check_text,
    check_timeout,
    instant_of,
    kinds_of,
)
from stateweave_graph.repository.search import search, terms_of
from stateweave_graph.results import (
    AgentSummary,
    Diff,
    FailedRun,
    Found,
    Head,
    Known,
    LogEntry,
    Memory,
    NodeRef,
    QueryResult,
    ResourceVersion,
    Stored,
    Why,
)
from stateweave_graph.stores.base import CypherBounds, GraphStore
from stateweave_graph.viewer import history_page
from stateweave_graph.vocabulary import Vocabulary, normalise_key, normalise_type

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

    def load(self, agent_id: str, *, revision: int | None = None, at: datetime | None = None) -> Stored:
        """An agent's state, to the letter; the newest, or the one at a revision or at an instant.

        Args:
            agent_id: the agent.
            revision: a revision.
            at: a datetime with a zone: the newest commit whose ``committed_at`` is not after it.

        Raises:
            NotFoundError: there is no such agent or revision.
        """
        check_name(agent_id)
        if revision is not None:
            check_positive(revision, "revision")
            if at is not None:
                raise InvalidRequestError("a state is at a revision or at an instant; give one of the two")
        at_ms = None if at is None else instant_of(at, "at")
        return self.store.read(lambda tx: reads.stored(tx, agent_id, revision, at_ms))

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

    def resolve(self, agent_id: str, prefix: str) -> str:
        """The id of the one node whose id begins with ``cw_`` and at least four hex digits; another as it is.

        Raises:
            NotFoundError: there is no such agent or node.
            InvalidRequestError: there is more than one.
        """
        check_name(agent_id)
        check_text(prefix, "prefix")
        return self.store.read(lambda tx: reads.resolve(tx, agent_id, prefix))

    def search(
        self,
        agent_id: str,
        text: str,
        *,
        kinds: Iterable[NodeKind | str] | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[Found]:
        """Nodes in whose texts every word of a text occurs, newest first.

        A node's texts are the strings in its payload, at any depth, and its resource key. Case does not
        matter, nor how accents are composed, and a word is found within others too.

        Args:
            agent_id: the agent.
            text: words with white space between them.
            kinds: only nodes of these kinds.
            before: only nodes of sequences below this one: the last one found, for the next page.
            limit: the most nodes.

        Raises:
            NotFoundError: there is no such agent.
        """
        check_name(agent_id)
        terms = terms_of(check_text(text, "text"))
        wanted = kinds_of(kinds)
        below = None if before is None else min(check_positive(before, "before"), _MOST)
        most = min(check_positive(limit, "limit"), _MOST)
        return self.store.read(lambda tx: search(tx, agent_id, terms, wanted, below, most))

    def iter_nodes(
        self, agent_id: str, *, revision: int | None = None, first: int = 1
    ) -> Iterator[CausalNode]:
        """The nodes of a history in order, some thousand at a time, so that memory does not grow with it.

        What is committed while they are read is not among them.

        Args:
            agent_id: the agent.
            revision: up to this revision; None for the newest.
            first: the sequence to begin with.

        Raises:
            NotFoundError: there is no such agent or revision, or the history was deleted meanwhile.
        """
        check_name(agent_id)
        check_positive(first, "first")
        if revision is not None:
            check_positive(revision, "revision")
        history, last = self.store.read(lambda tx: reads.extent(tx, agent_id, revision))
        return self._pages(agent_id, history, first, last)

    def lineage(
        self,
        agent_id: str,
        node_id: str,
        *,
        depth: int | None = None,
        kinds: Iterable[NodeKind | str] | None = None,
    ) -> NodeSet:
        """All nodes that a node rests on, directly or not, without itself.

        Args:
            agent_id: the agent.
            node_id: the node.
            depth: the most edges from the node; None for any number.
            kinds: only nodes of these kinds; the way may lead over others.

        Raises:
            NotFoundError: there is no such agent or node.
        """
        return self._reached(agent_id, node_id, up=True, depth=depth, kinds=kinds)

    def impact(
        self,
        agent_id: str,
        node_id: str,
        *,
        depth: int | None = None,
        kinds: Iterable[NodeKind | str] | None = None,
    ) -> NodeSet:
        """All nodes that rest on a node, directly or not, without itself (arguments as for ``lineage``).

        Raises:
            NotFoundError: there is no such agent or node.
        """
        return self._reached(agent_id, node_id, up=False, depth=depth, kinds=kinds)

    def path(self, agent_id: str, first: str, second: str) -> list[CausalNode]:
        """One shortest chain of edges from a node to another; empty where neither rests on the other.

        Raises:
            NotFoundError: there is no such agent or node.
        """
        check_name(agent_id)
        return self.store.read(lambda tx: reads.path(tx, agent_id, first, second))

    def why(self, agent_id: str, node_id: str) -> Why:
        """What an answer, or any node, rests on: goals, tool results, resources and memory, newest first.

        Raises:
            NotFoundError: there is no such agent or node.
        """
        check_name(agent_id)
        return self.store.read(lambda tx: explain.why(tx, agent_id, node_id))

    def known_at(self, agent_id: str, node_id: str) -> Known:
        """The versions of resources and memories that were current when a node was appended.

        Raises:
            NotFoundError: there is no such agent or node.
        """
        check_name(agent_id)
        return self.store.read(lambda tx: explain.known_at(tx, agent_id, node_id))

    def heads(self, agent_id: str) -> list[CausalNode]:
        """The active heads, in the order of the frontier: the ends of the branches.

        Raises:
            NotFoundError: there is no such agent.
        """
        check_name(agent_id)
        return self.store.read(lambda tx: reads.heads(tx, agent_id))

    def diff(self, agent_id: str, first: int, second: int) -> Diff:
        """What moved from a revision (0 for the beginning) to a later one.

        Raises:
            NotFoundError: there is no such agent or revision.
        """
        check_name(agent_id)
        if first != 0 or isinstance(first, bool):
            check_positive(first, "first")
        check_positive(second, "second")
        return self.store.read(lambda tx: explain.diff(tx, agent_id, first, second))

    def resource(self, agent_id: str, key: str) -> list[ResourceVersion]:
        """The versions of a resource, newest first, each a node with its number and the tool call behind it.

        Raises:
            NotFoundError: there is no such agent or resource.
        """
        check_name(agent_id)
        return self.store.read(lambda tx: reads.versions(tx, agent_id, key))

    def resources(self, agent_id: str) -> dict[str, CausalNode]:
        """The newest version of each resource, by key; memories are resources too.

        Raises:
            NotFoundError: there is no such agent.
        """
        check_name(agent_id)
        return self.store.read(lambda tx: reads.newest_versions(tx, agent_id))

    def memory(
        self,
        agent_id: str,
        *,
        type: str | None = None,
        key: str | None = None,
        at_revision: int | None = None,
    ) -> list[Memory]:
        """What the agent remembers: the newest version of each semantic memory, by type and key.

        Args:
            agent_id: the agent.
            type: only memories of this type.
            key: only memories of this key.
            at_revision: what it remembered at a revision; None for now.

        Raises:
            NotFoundError: there is no such agent or revision.
        """
        check_name(agent_id)
        if at_revision is not None:
            check_positive(at_revision, "at_revision")
        return self.store.read(lambda tx: reads.memories(tx, agent_id, type, key, at_revision))

    def vocabulary(self, agent_id: str) -> Vocabulary | None:
        """The types of semantic nodes that an agent may have; None for any.

        Raises:
            NotFoundError: there is no such agent.
        """
        check_name(agent_id)
        text = self.store.read(lambda tx: reads.agent_there(tx, agent_id)).vocabulary
        return None if text is None else Vocabulary.from_text(text)

    def memory_history(self, agent_id: str, type: str, key: str) -> list[ResourceVersion]:
        """The versions of a memory, newest first; type and key are normalised.

        Raises:
            NotFoundError: there is no such agent or memory.
            VocabularyError: nothing is left of the type or the key.
        """
        return self.resource(agent_id, f"semantic:{normalise_type(type)}:{normalise_key(key)}")

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
        if parameters is not None and not isinstance(parameters, Mapping):
            raise InvalidRequestError(f"parameters must be a dict, not {type(parameters).__name__}")
        asked = None if agents is None else [check_name(agent) for agent in check_list(agents, "agents")]
        bounds = CypherBounds(min(check_positive(max_rows, "max_rows"), _MOST), check_timeout(timeout))
        columns, rows = self.store.cypher(text, parameters or {}, asked, bounds)
        return QueryResult(columns, rows)

    def query(
        self,
        name: str,
        *,
        agent: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        max_rows: int = 10_000,
        timeout: float = 30.0,
        **parameters: Any,
    ) -> QueryResult:
        """Run a named query; ``stateweave-graph queries`` lists them.

        Args:
            name: its name.
            agent: the agent that it is about, where it is about one.
            folder: a folder of queries of your own, looked at first.
            max_rows: the most rows.
            timeout: the most seconds.
            parameters: its other parameters.

        Raises:
            QueryError: there is no such query, or it is given other parameters than it takes.
            NotFoundError: there is no such agent.
        """
        where = None if folder is None else check_path(folder, "folder")
        query = named_query(check_text(name, "the name of a query"), where)
        given = parameters if agent is None else {"agent": check_name(agent), **parameters}
        query.check(given)
        if agent is not None:
            self.store.read(lambda tx: reads.agent_there(tx, agent))
        agents = None if agent is None else [agent]
        found = self.cypher(query.text, parameters=given, agents=agents, max_rows=max_rows, timeout=timeout)
        return QueryResult(found.columns, query.sort(found.rows))

    def mirror(self, agent_id: str) -> CausalMirror:
        """The whole history in memory, as a networkx graph.

        Raises:
            NotFoundError: there is no such agent.
        """
        return CausalMirror(self.load(agent_id).state)

    def mermaid(
        self, agent_id: str, node_id: str | None = None, *, depth: int | None = None, limit: int = 30
    ) -> str:
        """A Mermaid flowchart of a node and what it rests on.

        Causes stand above; heads of the frontier have a thick border.

        Args:
            agent_id: the agent.
            node_id: the node; None for all heads.
            depth: the most edges from the node; None for any number.
            limit: the most nodes, the newest are drawn. Up to 32 have fewer than the 500 edges that Mermaid
                draws if it is not told otherwise.

        Raises:
            NotFoundError: there is no such agent or node.
        """
        check_name(agent_id)
        if depth is not None:
            check_positive(depth, "depth")
        most = min(check_positive(limit, "limit"), _MOST)
        nodes, heads = self.store.read(lambda tx: pictures.part(tx, agent_id, node_id, depth, most))
        return mermaid(nodes, heads)

    def view(self, agent_id: str, *, revision: int | None = None) -> str:
        """A page to explore a history with, in a browser: one HTML document that fetches nothing.

        Args:
            agent_id: the agent.
            revision: a revision; None for the newest.

        Returns:
            The document, to be written as UTF-8.

        Raises:
            NotFoundError: there is no such agent or revision.
        """
        return history_page(self.load(agent_id, revision=revision))

    def _pages(self, agent_id: str, history: str, first: int, last: int) -> Iterator[CausalNode]:
        for start in range(first, last + 1, reads.NODES_AT_ONCE):
            page = range(start, min(start + reads.NODES_AT_ONCE, last + 1))
            yield from self.store.read(
                partial(reads.nodes_of_span, agent_id=agent_id, history=history, span=page)
            )

    def _reached(
        self,
        agent_id: str,
        node_id: str,
        *,
        up: bool,
        depth: int | None,
        kinds: Iterable[NodeKind | str] | None,
    ) -> NodeSet:
        check_name(agent_id)
        if depth is not None:
            check_positive(depth, "depth")
        wanted = kinds_of(kinds)
        history, sequences = self.store.read(
            lambda tx: reads.reached(tx, agent_id, node_id, up=up, depth=depth, kinds=wanted)
        )

        def refs(chosen: Sequence[int]) -> list[NodeRef]:
            return self.store.read(lambda tx: reads.refs_at(tx, agent_id, history, chosen))

        def nodes(chosen: Sequence[int]) -> list[CausalNode]:
            return self.store.read(lambda tx: reads.nodes_at(tx, agent_id, history, chosen))

        return NodeSet(sequences, refs, nodes)
