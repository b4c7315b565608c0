"""Histories given out in files of other programs, a page of nodes at a time.

Of the nodes that have been written only the ids are kept in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import BinaryIO, NamedTuple

from stateweave_graph.errors import NotFoundError
from stateweave_graph.formats import ExportFormat
from stateweave_graph.jsontext import dumps
from stateweave_graph.mapper import node_from_record, node_text
from stateweave_graph.records import AgentRecord, CommitRecord, FailedRunRecord, NodeRecord
from stateweave_graph.repository.graphml import graphml
from stateweave_graph.repository.historyfile import commit_line, end_line, failure_line, history_line
from stateweave_graph.repository.imports import log_failure, log_revision
from stateweave_graph.repository.reads import agent_there, node_pages, refuse_later
from stateweave_graph.repository.transfer import commits_until
from stateweave_graph.sessionlog import LogFailure, LogRevision
from stateweave_graph.sessionlog_writer import log_lines
from stateweave_graph.stores.base import StoreReader


class Source(NamedTuple):
    """A history up to a revision, in a unit of work.

    Attributes:
        tx: the unit of work.
        agent: the agent, with the counts of that revision.
        head: the commit of that revision.
        ids: the ids of the nodes that have been read, by sequence.
    """

    tx: StoreReader
    agent: AgentRecord
    head: CommitRecord
    ids: list[str]

    def nodes(self) -> Iterator[NodeRecord]:
        """The nodes, in order."""
        for record in node_pages(self.tx, self.agent.history, 1, self.head.last_sequence):
            self.ids.append(record.id)
            yield record

    def commits(self) -> Iterator[tuple[CommitRecord, Iterator[NodeRecord]]]:
        """The commits, each with its nodes, which must be read before the next one."""
        nodes = self.nodes()
        for commit in commits_until(self.tx, self.agent.history, self.head.revision):
            yield commit, islice(nodes, commit.last_sequence - commit.first_sequence + 1)

    def failures(self) -> list[FailedRunRecord]:
        """The failed runs."""
        found = self.tx.failures(self.agent.history)
        return [failure for failure in found if failure.revision <= self.head.revision]

    def frontier(self, commit: CommitRecord) -> list[str]:
        """The ids of a commit's frontier; its nodes have been read."""
        return [self.ids[sequence - 1] for sequence in commit.frontier]


def source_at(tx: StoreReader, agent_id: str, revision: int | None) -> Source:
    """An agent's history up to a revision; None for all of it.

    Raises:
        NotFoundError: there is no such agent or revision.
    """
    agent = agent_there(tx, agent_id)
    refuse_later(agent, revision)
    head = tx.commit(agent.history, agent.revision if revision is None else revision)
    if head is None:
        raise NotFoundError(f"agent {agent_id!r}: there is no revision {revision}")
    counts = agent._replace(revision=head.revision, node_count=head.last_sequence)
    return Source(tx, counts, head, [])


def write(source: Source, form: ExportFormat, file: BinaryIO) -> None:
    """Write a history to a file.

    Raises:
        InvalidRequestError: it holds what the format can't carry.
        LimitExceededError: it is longer than what the format's readers take.
    """
    for piece in _WRITERS[form](source):
        file.write(piece.encode())


def session_id(agent: AgentRecord) -> str:
    """The id of the session that a history is given out as: the same for the same history."""
    return f"sws_{agent.history}"


def _json(source: Source) -> Iterator[str]:
    yield '{"version":1,"nodes":['
    for record in source.nodes():
        yield f"{',' if len(source.ids) > 1 else ''}{node_text(record, source.ids)}"
    yield f'],"frontier":{dumps(source.frontier(source.head))}}}\n'


def _jsonl(source: Source) -> Iterator[str]:
    yield history_line(source.agent)
    for commit, nodes in source.commits():
        yield from commit_line(commit, nodes, source.ids)
    failures = source.failures()
    yield from map(failure_line, failures)
    yield end_line(source.head.revision, source.head.last_sequence, len(failures))


def _session_log(source: Source) -> Iterator[str]:
    return log_lines(session_id(source.agent), source.agent.created_at, _log_entries(source))


def _log_entries(source: Source) -> Iterator[LogRevision | LogFailure]:
    failures = sorted(enumerate(source.failures()), key=lambda failure: (failure[1].revision, failure[0]))
    told = 0
    for commit, records in source.commits():
        while told < len(failures) and failures[told][1].revision < commit.revision:
            yield log_failure(*failures[told])
            told += 1
        nodes = [node_from_record(record, lambda sequence: source.ids[sequence - 1]) for record in records]
        yield log_revision(commit, nodes, source.frontier(commit))
    for place, failure in failures[told:]:
        yield log_failure(place, failure)


def _graphml(source: Source) -> Iterator[str]:
    return graphml(source.agent, source.nodes(), source.ids, frozenset(source.head.frontier))


_WRITERS: dict[ExportFormat, Callable[[Source], Iterator[str]]] = {
    ExportFormat.JSON: _json,
    ExportFormat.JSONL: _jsonl,
    ExportFormat.SESSION_LOG: _session_log,
    ExportFormat.GRAPHML: _graphml,
}
