"""One unit of work that writes to Neo4j: a commit is two statements, and a new history is kept back.

What begins a history is written when the unit of work is over, since only then it is known whether it is
small enough for the same transaction (design.md, *Large things are staged*).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from uuid import uuid4

from neo4j import ManagedTransaction

from stateweave_graph.errors import LimitExceededError
from stateweave_graph.records import AgentRecord, Batch, FailedRunRecord, HeadRecord, Known, Wanted
from stateweave_graph.stores.kept import KeptBatches, edges_of
from stateweave_graph.stores.neo4j_records import (
    Neo4jReader,
    agent_properties,
    agent_record,
    commit_properties,
    failure_properties,
    is_there,
    locked_head,
    node_row,
    resource_properties,
    wanted_parameters,
)
from stateweave_graph.timestamps import iso_text, now_ms
from stateweave_graph.validation import Violation


class Most(NamedTuple):
    """The most that one transaction adds to a history.

    Attributes:
        nodes: nodes.
        edges: PARENT edges; they take most of a transaction's memory where histories are dense.
    """

    nodes: int
    edges: int

    def holds(self, nodes: int, edges: int) -> bool:
        """Whether so much is not too much."""
        return nodes <= self.nodes and edges <= self.edges


class NewHistory:
    """A history that begins in a unit of work.

    Attributes:
        batches: its commits.
        failures: its failed runs.
    """

    def __init__(self) -> None:
        self.batches = KeptBatches()
        self.failures: list[FailedRunRecord] = []

    @property
    def agent_id(self) -> str:
        """The agent that it is to be."""
        return self.batches.outlines[0].agent.agent_id


class Neo4jWriter(Neo4jReader):
    """Reads and writes records (see ``StoreWriter``).

    Args:
        transaction: the transaction.
        most: the most that it may add to histories that are there.
        taken_up: the ids of staged histories that are to be taken up again, by agent.

    Attributes:
        begun: histories that begin in this unit of work and are not written yet, by their ids.
        deleted: histories whose agents were deleted in it.
    """

    def __init__(
        self, transaction: ManagedTransaction, most: Most, taken_up: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(transaction)
        self._taken_up = taken_up or {}
        self._most = most
        self.begun: dict[str, NewHistory] = {}
        self.began = False
        self._added_nodes = 0
        self._added_edges = 0
        self.deleted: list[str] = []

    def lock(self, agent_id: str) -> AgentRecord | None:
        """An agent's record, locked."""
        row = self._one("lock", agent_id=agent_id, now=iso_text(now_ms()))
        return agent_record(row["agent"]) if row is not None and is_there(row) else None

    def lock_head(
        self, agent_id: str, wanted: Wanted, held: HeadRecord | None = None
    ) -> tuple[HeadRecord, Known] | None:
        """An agent's head and what is wanted beside it, locked."""
        row = self._one("lock_head", agent_id=agent_id, now=iso_text(now_ms()), **wanted_parameters(wanted))
        return locked_head(row) if row is not None and is_there(row) else None

    def new_history(self, agent_id: str) -> str:
        """A random id, or that of the history that an interrupted import left."""
        return self._taken_up.get(agent_id) or uuid4().hex

    def write(self, batch: Batch) -> None:
        """Write one commit."""
        history = batch.agent.history
        if batch.begins:
            self.begun[history] = NewHistory()
        if history in self.begun:
            self.begun[history].batches.append(batch)
            return
        self._added_nodes += len(batch.nodes)
        self._added_edges += edges_of(batch)
        if not self._most.holds(self._added_nodes, self._added_edges):
            raise LimitExceededError(
                [
                    Violation(
                        "size",
                        "$.nodes",
                        f"one transaction onto a history may add {self._most.nodes} nodes and "
                        f"{self._most.edges} edges to parents on this store; commit them in parts, or "
                        "bring the history in under another agent",
                        f"{self._added_nodes} nodes and {self._added_edges} edges, or more",
                    )
                ],
                "the commit",
            )
        self._write(batch)

    def add_failures(self, history: str, failures: Iterable[FailedRunRecord]) -> None:
        """Keep failed runs beside a history."""
        if history in self.begun:
            self.begun[history].failures.extend(failures)
        else:
            self._add_failures(history, failures)

    def set_vocabulary(self, agent_id: str, vocabulary: str | None) -> None:
        """Set an agent's vocabulary."""
        self._consume("set_vocabulary", agent_id=agent_id, vocabulary=vocabulary)

    def delete(self, agent_id: str) -> None:
        """Take an agent out of sight; what is below it is swept afterwards."""
        row = self._one("delete", agent_id=agent_id)
        if row is not None:
            self.deleted.append(row["history"])

    def flush(self) -> None:
        """Write the histories kept back, in this transaction."""
        begun, self.begun = self.begun, {}
        for history, new in begun.items():
            for batch in new.batches:
                if batch.begins:
                    self.began = True
                    self._consume("begin", agent=agent_properties(batch.agent))
                self._write(batch)
            self._add_failures(history, new.failures)

    def _write(self, batch: Batch) -> None:
        self._consume("write", **write_parameters(batch))

    def _add_failures(self, history: str, failures: Iterable[FailedRunRecord]) -> None:
        rows = [failure_properties(failure) for failure in failures]
        if rows:
            self._consume("add_failures", history=history, failures=rows)

    def _run(self, name: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        if self.begun:
            self.flush()  # a unit of work that reads on sees what it wrote
        return super()._run(name, **parameters)


def write_parameters(batch: Batch) -> dict[str, Any]:
    """What ``write.cypher`` takes."""
    history = batch.agent.history
    new = {version.key_hash for version in batch.versions if version.version == 1}
    resources = [resource_properties(history, record) for record in batch.resources]
    return {
        "history": history,
        "agent": agent_properties(batch.agent),
        "commit": commit_properties(history, batch.commit),
        "nodes": [node_row(history, node) for node in batch.nodes],
        "frontier": list(map(list, enumerate(batch.commit.frontier))),
        "new_resources": [row for row in resources if row["keyHash"] in new],
        "moved_resources": [row for row in resources if row["keyHash"] not in new],
        "versions": list(map(list, batch.versions)),
    }
