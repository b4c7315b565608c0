"""Whole histories as records: read from one place, written to another, with every revision and hash.

Agent ids and the ids of histories are in no hash, so a copy keeps its hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from stateweave_graph.errors import ConflictError, DivergedError, StoreError
from stateweave_graph.mapper import resource_records
from stateweave_graph.model import NodeKind
from stateweave_graph.records import (
    AgentRecord,
    Batch,
    CommitRecord,
    FailedRunRecord,
    NodeRecord,
    ResourceKeyRecord,
    Wanted,
)
from stateweave_graph.repository.reads import agent_there
from stateweave_graph.results import Imported
from stateweave_graph.stores.base import GraphStore, StoreReader, StoreWriter
from stateweave_graph.timestamps import iso_text, now_ms

_COMMITS_AT_ONCE = 1_000


class Piece(NamedTuple):
    """A commit with the nodes that it added."""

    commit: CommitRecord
    nodes: tuple[NodeRecord, ...]


class History(NamedTuple):
    """A history, or the first revisions of one, as it is stored.

    Attributes:
        agent: the agent as it was at the last of these revisions.
        commits: oldest first.
        nodes: in order of sequence.
        failures: failed runs up to the last revision.
    """

    agent: AgentRecord
    commits: list[CommitRecord]
    nodes: list[NodeRecord]
    failures: list[FailedRunRecord]

    @property
    def head(self) -> CommitRecord:
        """The last commit."""
        return self.commits[-1]

    def pieces(self) -> Iterator[Piece]:
        """The commits with their nodes, oldest first."""
        for commit in self.commits:
            yield Piece(commit, tuple(self.nodes[commit.first_sequence - 1 : commit.last_sequence]))


def read_history(tx: StoreReader, agent: AgentRecord, revision: int | None = None) -> History:
    """A history up to a revision; None for all of it."""
    last = agent.revision if revision is None else revision
    commits = list(commits_until(tx, agent.history, last))
    nodes = list(tx.nodes(agent.history, 1, commits[-1].last_sequence))
    failures = [record for record in tx.failures(agent.history) if record.revision <= last]
    return History(_agent_at(agent, commits[-1], nodes), commits, nodes, failures)


def commits_until(tx: StoreReader, history: str, last: int) -> Iterator[CommitRecord]:
    """The commits of a history up to a revision, oldest first."""
    for first in range(1, last + 1, _COMMITS_AT_ONCE):
        behind = min(first + _COMMITS_AT_ONCE, last + 1)
        yield from reversed(tx.commits(history, behind, behind - first))


def batches(
    agent: AgentRecord,
    pieces: Iterable[Piece],
    agent_id: str,
    history: str,
    stored: AgentRecord | None = None,
) -> Iterator[Batch]:
    """The commits of a history as batches for another place.

    Args:
        agent: the agent that it is of.
        pieces: the commits with their nodes, from the first on.
        agent_id: the agent that it is to be.
        history: the id of the history there.
        stored: what is there already, whose commits are the first of these.
    """
    resources: dict[str, ResourceKeyRecord] = {}
    system_id = None
    for commit, nodes in pieces:
        system_id = _latest_system(nodes) or system_id
        changed, versions = resource_records(nodes, resources)
        resources.update((record.key, record) for record in changed)
        if stored is not None and commit.revision <= stored.revision:
            continue
        after = agent._replace(
            agent_id=agent_id,
            history=history,
            revision=commit.revision,
            node_count=commit.last_sequence,
            system_id=system_id,
        )
        yield Batch(after, commit, nodes, changed, versions, begins=commit.revision == 1)


def fork(tx: StoreWriter, agent: AgentRecord, new: str, revision: int | None) -> None:
    """Make an agent of another one's revisions, in the same store.

    Raises:
        ConflictError: there is an agent of the new name.
    """
    there = tx.lock(new)
    if there is not None:
        raise ConflictError(new, 0, there.revision, "a fork must not exist yet, and it is there already")
    source = read_history(tx, agent, revision)
    now = iso_text(now_ms())
    begun = source._replace(agent=source.agent._replace(created_at=now, updated_at=now, generation=0))
    _write(tx, begun, new, None, begun.failures)


def copy_agent(
    source: GraphStore, target: GraphStore, agent_id: str, report: Callable[[int], None] | None = None
) -> Imported:
    """Bring an agent of one store into another: all of it, or what is missing there; then read it back.

    Raises:
        NotFoundError: there is no such agent in the source.
        DivergedError: an agent of that name is in the target, with another history.
        StoreError: what was written does not read back the same.
    """
    history = source.read(lambda tx: read_history(tx, agent_there(tx, agent_id)))

    def work(tx: StoreWriter) -> Imported:
        locked = tx.lock_head(agent_id, Wanted())
        if locked is None:
            return _write(tx, history, agent_id, None, history.failures)
        there, head = locked[0].agent, locked[0].commit
        _refuse_other(history, there, head)
        missing = history.failures[len(tx.failures(there.history)) :]
        return _write(tx, history, agent_id, there, missing)

    done = target.write(work, report)
    _verify(history, target, agent_id)
    return done


def _write(
    tx: StoreWriter,
    source: History,
    agent_id: str,
    stored: AgentRecord | None,
    failures: list[FailedRunRecord],
) -> Imported:
    history = tx.new_history(agent_id) if stored is None else stored.history
    commits = nodes = 0
    for batch in batches(source.agent, source.pieces(), agent_id, history, stored):
        tx.write(batch)
        commits += 1
        nodes += len(batch.nodes)
    tx.add_failures(history, failures)
    return Imported(
        agent_id=agent_id,
        history=history,
        revision=source.head.revision,
        commits=commits,
        nodes=nodes,
        failures=len(failures),
    )


def _refuse_other(source: History, there: AgentRecord, head: CommitRecord) -> None:
    mine = source.commits[head.revision - 1] if head.revision <= len(source.commits) else None
    if mine is None or mine.hash != head.hash:
        raise DivergedError(
            there.agent_id,
            f"the agent is there at revision {head.revision}, with another history; nothing was written. "
            "Copy it under another name, or delete it there first",
            sequence=None,
            stored=head.hash,
            given=None if mine is None else mine.hash,
        )


def _verify(source: History, target: GraphStore, agent_id: str) -> None:
    """Read everything back and compare."""

    def work(tx: StoreReader) -> str | None:
        agent = tx.agent(agent_id)
        if agent is None:
            return "the agent"
        copy = read_history(tx, agent, source.head.revision)
        for what, one, other in (
            ("a commit", source.commits, copy.commits),
            ("a node", source.nodes, copy.nodes),
            ("a failed run", source.failures, copy.failures),
        ):
            if any(mine != theirs for mine, theirs in zip_longest(one, other)):
                return what
        return None

    wrong = target.read(work)
    if wrong is not None:
        raise StoreError(
            f"{target.name}: {wrong} of agent {agent_id!r} does not read back as it was written; "
            "delete the copy"
        )


def _agent_at(agent: AgentRecord, commit: CommitRecord, nodes: list[NodeRecord]) -> AgentRecord:
    return agent._replace(
        revision=commit.revision, node_count=commit.last_sequence, system_id=_latest_system(nodes)
    )


def _latest_system(nodes: Sequence[NodeRecord]) -> str | None:
    return next((node.id for node in reversed(nodes) if node.kind == NodeKind.SYSTEM.value), None)
