"""What a store must do: keep records and give them back. It knows no rule of the format.

A store runs units of work. ``read`` gives its work a reader on one moment of the database; ``write``
gives it a writer whose changes all happen, durably, or not at all. A unit of work may be run again from
its beginning (databases ask for that), so it must not change anything outside.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from stateweave_graph.errors import StoreError
from stateweave_graph.records import (
    AgentRecord,
    Batch,
    CommitRecord,
    FailedRunRecord,
    HeadRecord,
    Known,
    NodeRecord,
    OutlineRecord,
    RefRecord,
    ResourceKeyRecord,
    TextRecord,
    Wanted,
)

Result = TypeVar("Result")


class CypherBounds(NamedTuple):
    """What a Cypher text may take.

    Attributes:
        max_rows: rows.
        timeout: seconds.
    """

    max_rows: int
    timeout: float


class StoreReader(Protocol):
    """Reads records. Histories are named by their ``history``, which only ``agent`` and ``head`` look up."""

    def agents(self, after: str | None, limit: int) -> list[AgentRecord]:
        """Agents in the byte order of their ids, from behind ``after`` on."""

    def agent(self, agent_id: str) -> AgentRecord | None:
        """An agent's record."""

    def head(self, agent_id: str) -> HeadRecord | None:
        """An agent's newest commit and what the next one must know; no more is read."""

    def lookup(self, history: str, wanted: Wanted) -> Known:
        """Those of the nodes, resources and the commit wanted that are there."""

    def commit(self, history: str, revision: int) -> CommitRecord | None:
        """One commit."""

    def commits(self, history: str, before: int | None, limit: int) -> list[CommitRecord]:
        """Commits, newest first, of revisions below ``before``."""

    def nodes(self, history: str, first: int, last: int) -> Iterator[NodeRecord]:
        """Nodes of these sequences, both included, in order, one at a time."""

    def refs(self, history: str, first: int, last: int) -> Iterator[RefRecord]:
        """The same without payloads and parents."""

    def refs_at(self, history: str, sequences: Sequence[int]) -> list[RefRecord]:
        """Nodes of chosen sequences without payloads and parents, in order of sequence."""

    def nodes_at(self, history: str, sequences: Sequence[int]) -> Iterator[NodeRecord]:
        """Nodes of chosen sequences, in order of sequence."""

    def texts(self, history: str, before: int | None, kinds: Collection[str] | None) -> Iterator[TextRecord]:
        """What is searched of nodes, newest first, one at a time.

        Args:
            history: the history.
            before: only nodes of sequences below this one; None for all.
            kinds: only nodes of these kinds; None for all.
        """

    def node(self, history: str, node_id: str) -> NodeRecord | None:
        """One node."""

    def ids(self, history: str, prefix: str, limit: int) -> list[str]:
        """The ids of nodes that begin with a prefix, ascending."""

    def resources(
        self, history: str, semantic_only: bool, last: int | None = None
    ) -> list[ResourceKeyRecord]:
        """Resources, in the byte order of their keys; or only those that are semantic memories.

        Args:
            history: the history.
            semantic_only: whether only semantic memories are wanted.
            last: as they were after the node of this sequence; None for as they are.
        """

    def commit_at(self, history: str, ms: int) -> CommitRecord | None:
        """The newest commit that was not made after an instant."""

    def parents_of(self, history: str, sequences: Collection[int]) -> list[tuple[int, int]]:
        """The edges out of some nodes, as pairs of child and parent, by sequence."""

    def children_of(self, history: str, sequences: Collection[int]) -> list[tuple[int, int]]:
        """The edges into some nodes, as pairs of child and parent, by sequence."""

    def outlines(self, history: str, spans: Sequence[tuple[int, int]]) -> list[OutlineRecord]:
        """What spans of sequences hold, both ends included; empty for an empty span."""

    def versions(self, history: str, key_hash: str) -> list[int]:
        """Sequences of the versions of a resource, oldest first."""

    def ancestors(self, history: str, sequence: int) -> list[int]:
        """Sequences of all nodes that a node rests on, ascending, without itself."""

    def descendants(self, history: str, sequence: int) -> list[int]:
        """Sequences of all nodes that rest on a node, ascending, without itself."""

    def failures(self, history: str) -> list[FailedRunRecord]:
        """Failed runs, in the order in which they were recorded."""


class StoreWriter(StoreReader, Protocol):
    """Reads and writes, in one transaction."""

    def lock(self, agent_id: str) -> AgentRecord | None:
        """An agent's record, locked against every other writer until the work ends."""

    def lock_head(
        self, agent_id: str, wanted: Wanted, held: HeadRecord | None = None
    ) -> tuple[HeadRecord, Known] | None:
        """What ``lock``, ``head`` and ``lookup`` do, in one step: all that most commits must read.

        Args:
            agent_id: the agent.
            wanted: what is looked up.
            held: a head that was read or made before; a store may give it back where the agent is the same.
        """

    def new_history(self, agent_id: str) -> str:
        """The id that a history of this agent is to have if it begins in this unit of work."""

    def write(self, batch: Batch) -> None:
        """Write one commit. The lock must be held; batches of one work follow each other."""

    def add_failures(self, history: str, failures: Iterable[FailedRunRecord]) -> None:
        """Keep failed runs beside a history."""

    def set_vocabulary(self, agent_id: str, vocabulary: str | None) -> None:
        """Set an agent's vocabulary, JSON text. The lock must be held."""

    def delete(self, agent_id: str) -> None:
        """Remove an agent and all that is below it."""


class GraphStore(Protocol):
    """A database of ours."""

    @property
    def name(self) -> str:
        """Where it is, for messages; without any password."""

    def read(self, work: Callable[[StoreReader], Result]) -> Result:
        """Run a unit of work that only reads, on one moment of the database.

        Raises:
            StoreError: the database does not answer as it should.
        """

    def write(
        self, work: Callable[[StoreWriter], Result], report: Callable[[int], None] | None = None
    ) -> Result:
        """Run a unit of work that may write; all of it happens, durably, or nothing.

        Args:
            work: the unit of work.
            report: called now and then with the number of nodes written so far.

        Raises:
            StoreError: the database does not do what was asked; nothing was written.
        """

    def cypher(
        self, text: str, parameters: Mapping[str, Any], agents: Sequence[str] | None, bounds: CypherBounds
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """The columns and rows of a Cypher text that only reads.

        Args:
            text: the text.
            parameters: its parameters, by name.
            agents: the agents that it is about, where the engine can confine it to some; None for all.
            bounds: what it may take.

        Raises:
            QueryError: it does more than read, fails, or takes more than it may.
        """

    def schema_version(self) -> int:
        """The version of the schema that is there; 0 where there is none yet."""

    def schema_text(self) -> str:
        """The statements that make the schema, for a person to read or run."""

    def apply_schema(self) -> None:
        """Make the schema, or bring it up to date; nothing where it is there already."""

    def bookmarks(self) -> list[str]:
        """What another worker's store needs to read what was written here; may be nothing."""

    def close(self) -> None:
        """Wait for calls of other threads and let go of connections.

        Every later call raises what ``closed_error`` gives.
        """


def closed_error(name: str) -> StoreError:
    """What a call on a closed repository raises."""
    return StoreError(f"{name}: this repository is closed; open it again with open_repository")
