"""An exported history: JSON lines, one commit a line, with all that makes every revision again.

The lines are a ``history`` (format, agent, counts, vocabulary), a ``commit`` for each revision with its
nodes as a snapshot has them, a ``failed_run`` for each failed run, and an ``end`` with the counts again, so
that a file that was cut off is known for one. A history read back is judged by the import rules, and its
hashes are worked out anew and compared (design.md, *Two hashes*).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError
from pydantic.alias_generators import to_camel

from stateweave_graph.errors import (
    HistoryFileError,
    InvalidRequestError,
    InvalidStateError,
    LimitExceededError,
    VocabularyError,
)
from stateweave_graph.hashing import CHAIN_START, commit_hash, extend_digest
from stateweave_graph.jsontext import dumps, parse
from stateweave_graph.mapper import node_record, node_text
from stateweave_graph.model import CausalNode
from stateweave_graph.records import AgentRecord, CommitRecord, FailedRunRecord, NodeRecord, RefRecord
from stateweave_graph.repository.requests import check_name, object_text
from stateweave_graph.repository.transfer import Piece
from stateweave_graph.timestamps import instant_ms
from stateweave_graph.validation import (
    DEFAULT_LIMITS,
    Limits,
    NodeJudge,
    Violation,
    judge_frontier,
    parse_within,
    shorten,
)
from stateweave_graph.vocabulary import NodeType, Vocabulary

FORMAT = 1
_FIRST = re.compile(rb'\s*\{\s*"type"\s*:\s*"history"')

_Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Object = dict[str, Any]


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", alias_generator=to_camel, frozen=True)


class _NodeType(_Line):
    name: str
    description: str


class _Vocabulary(_Line):
    node_types: list[_NodeType]
    allow_dynamic_node_types: bool


class _History(_Line):
    type: Literal["history"]
    format: Literal[1]
    agent_id: str
    revision: PositiveInt
    node_count: NonNegativeInt
    generation: NonNegativeInt
    created_at: str
    updated_at: str
    vocabulary: _Vocabulary | None = None
    metadata: _Object | None = None


class _Commit(_Line):
    type: Literal["commit"]
    revision: PositiveInt
    commit_id: str
    committed_at: str
    digest: _Hash
    hash: _Hash
    request_hash: _Hash
    metadata: _Object | None = None
    frontier: list[Any]
    appended: list[str] | None = None
    nodes: list[Any]


class _FailedRun(_Line):
    type: Literal["failed_run"]
    at: str
    run_id: str | None = None
    input: str
    error: str
    usage: _Object | None = None
    revision: NonNegativeInt


class _End(_Line):
    type: Literal["end"]
    commits: NonNegativeInt
    nodes: NonNegativeInt
    failed_runs: NonNegativeInt


_Kind = TypeVar("_Kind", bound=_Line)
_KINDS: dict[str, type[_Line]] = {
    "history": _History,
    "commit": _Commit,
    "failed_run": _FailedRun,
    "end": _End,
}


def is_history_file(head: bytes) -> bool:
    """Whether these first bytes of a file are those of an exported history."""
    return _FIRST.match(head) is not None


def history_line(agent: AgentRecord) -> str:
    """The first line."""
    return _line(
        type="history",
        format=FORMAT,
        agentId=agent.agent_id,
        revision=agent.revision,
        nodeCount=agent.node_count,
        generation=agent.generation,
        createdAt=agent.created_at,
        updatedAt=agent.updated_at,
        vocabulary=_parsed(agent.vocabulary),
        metadata=_parsed(agent.metadata),
    )


def commit_line(commit: CommitRecord, nodes: Iterable[NodeRecord], ids: Sequence[str]) -> Iterator[str]:
    """The parts of a commit's line; ``ids`` are those of all nodes up to it, and are looked at last."""
    yield _line(
        type="commit",
        revision=commit.revision,
        commitId=commit.commit_id,
        committedAt=commit.committed_at,
        digest=commit.digest,
        hash=commit.hash,
        requestHash=commit.request_hash,
        metadata=_parsed(commit.metadata),
    )[:-2]
    before = ',"nodes":['
    for node in nodes:
        yield before + node_text(node, ids)
        before = ","
    yield before if before != "," else ""
    frontier = dumps([ids[sequence - 1] for sequence in commit.frontier])
    yield f'],"frontier":{frontier}'
    if commit.appended is not None:
        yield f',"appended":{dumps([ids[sequence - 1] for sequence in commit.appended])}'
    yield "}\n"


def failure_line(failure: FailedRunRecord) -> str:
    """The line of a failed run."""
    return _line(
        type="failed_run",
        at=failure.at,
        runId=failure.run_id,
        input=failure.input,
        error=failure.error,
        usage=_parsed(failure.usage),
        revision=failure.revision,
    )


def end_line(commits: int, nodes: int, failures: int) -> str:
    """The last line."""
    return _line(type="end", commits=commits, nodes=nodes, failedRuns=failures)


def judge_history_file(data: bytes, **limits: int) -> None:
    """Judge an exported history.

    Args:
        data: its bytes.
        limits: as for ``validate``.

    Raises:
        HistoryFileError: it is not as it was exported.
        LimitExceededError: a limit is exceeded.
    """
    for _ in HistoryFile(io.BytesIO(data), Limits(**limits)).pieces():
        pass


class HistoryFile:
    """An exported history, read line by line; what it holds of each line is gone with the next.

    Args:
        lines: the lines, each with its end.
        limits: how many nodes it may have, and for each line how long and how deep it may be.

    Attributes:
        agent: the agent as it was exported.
        failures: the failed runs; whole when ``pieces`` has come to its end.

    Raises:
        HistoryFileError: the first line is not that of an exported history.
        LimitExceededError: a limit is exceeded.
    """

    def __init__(self, lines: Iterable[bytes], limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._lines = iter(lines)
        self._number = 0
        self._judge = NodeJudge()
        self._refs: dict[str, RefRecord] = {}
        self._commit_ids: set[str] = set()
        self._digest = self._hash = CHAIN_START
        self._turn = 0
        self.failures: list[FailedRunRecord] = []
        self.agent = self._agent(self._next())

    def pieces(self) -> Iterator[Piece]:
        """The commits, each judged when it is read.

        Raises:
            HistoryFileError: a line is not as it was written, or the last one is missing.
        """
        for _ in range(self.agent.revision):
            yield self._piece(self._expect(_Commit, self._next()))
        line = self._next()
        while isinstance(line, _FailedRun):
            self.failures.append(self._failure(line))
            line = self._next()
        end = self._expect(_End, line)
        counts = (self.agent.revision, self.agent.node_count, len(self.failures))
        if (end.commits, end.nodes, end.failed_runs) != counts or self._judge.count != end.nodes:
            raise self._wrong("the counts are not those of the lines before: lines are missing")
        if next(self._lines, b"").strip():
            self._number += 1
            raise self._wrong("nothing may follow the line of type 'end'")

    def _next(self) -> _Line:
        data = next(self._lines, b"")
        self._number += 1
        if not data.endswith(b"\n"):
            raise self._wrong("the file is cut off here; it ends with a line of type 'end'")
        try:
            value = parse_within(data, self._limits)
        except LimitExceededError:
            raise
        except InvalidStateError as error:
            raise self._wrong(error.violations[0].message, error.violations) from None
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in _KINDS:
            raise self._wrong(f"a line is an object of type {', '.join(_KINDS)} (here: {shorten(kind)})")
        try:
            return _KINDS[kind].model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise self._wrong(f"{kind}: {place}: {first['msg']} (here: {shorten(first['input'])})") from None

    def _expect(self, kind: type[_Kind], line: _Line) -> _Kind:
        if not isinstance(line, kind):
            expected = next(name for name, model in _KINDS.items() if model is kind)
            raise self._wrong(f"a line of type {expected!r} is expected here")
        return line

    def _agent(self, line: _Line) -> AgentRecord:
        header = self._expect(_History, line)
        try:
            check_name(header.agent_id)
            metadata = object_text(header.metadata)
            vocabulary = None if header.vocabulary is None else _vocabulary(header.vocabulary).to_text()
        except (InvalidRequestError, VocabularyError) as error:
            raise self._wrong(str(error)) from None
        self._time("createdAt", header.created_at)
        self._time("updatedAt", header.updated_at)
        return AgentRecord(
            agent_id=header.agent_id,
            history="",
            revision=header.revision,
            generation=header.generation,
            node_count=header.node_count,
            system_id=None,
            vocabulary=vocabulary,
            metadata=metadata,
            created_at=header.created_at,
            updated_at=header.updated_at,
        )

    def _piece(self, line: _Commit) -> Piece:
        first = self._judge.count + 1
        self._judge_nodes(line)
        nodes = tuple(self._node(CausalNode.from_valid(node)) for node in line.nodes)
        metadata, committed_at_ms = self._metadata(line), self._time("committedAt", line.committed_at)
        for node in nodes:
            self._digest = extend_digest(self._digest, node.id, node.created_at, node.extra)
        self._hash = commit_hash(
            self._hash,
            self._digest,
            line.frontier,
            line.revision,
            line.commit_id,
            line.committed_at,
            metadata,
            [node.payload_hash for node in nodes],
        )
        for name, given, found in (("digest", line.digest, self._digest), ("hash", line.hash, self._hash)):
            if given != found:
                raise self._wrong(f"{name}: what stands here gives {found}, not {given}: it was changed")
        commit = CommitRecord(
            revision=line.revision,
            commit_id=line.commit_id,
            committed_at=line.committed_at,
            committed_at_ms=committed_at_ms,
            first_sequence=first,
            last_sequence=self._judge.count,
            digest=line.digest,
            hash=line.hash,
            request_hash=line.request_hash,
            metadata=metadata,
            frontier=tuple(self._refs[node_id].sequence for node_id in line.frontier),
            appended=self._appended(line),
        )
        return Piece(commit, nodes)

    def _judge_nodes(self, line: _Commit) -> None:
        revision = len(self._commit_ids) + 1
        if line.revision != revision:
            raise self._wrong(f"revision {revision} is expected here, not {line.revision}")
        count = self._judge.count + len(line.nodes)
        if count > self._limits.max_nodes:
            message = f"more than the limit of {self._limits.max_nodes} nodes"
            raise LimitExceededError([Violation("size", "$.nodes", message, f"{count} nodes")], "the history")
        violations: list[Violation] = []
        for index, node in enumerate(line.nodes):
            violations += self._judge.judge(node, f"$.nodes[{index}]")
        violations += judge_frontier(line.frontier, self._judge.ids)
        if violations:
            more = f", and {len(violations) - 1} more (see .violations)" if len(violations) > 1 else ""
            raise self._wrong(f"import rules are broken: {violations[0]}{more}", violations)

    def _node(self, node: CausalNode) -> NodeRecord:
        self._turn += node.kind == "goal"
        self._refs[node.id] = RefRecord(
            id=node.id,
            sequence=node.sequence,
            kind=node.kind.value,
            turn=self._turn,
            created_at=node.created_at,
            resource_key=node.resource_key,
            extra=node.extra_text,
        )
        return node_record(node, self._refs.__getitem__)

    def _metadata(self, line: _Commit) -> str | None:
        try:
            check_name(line.commit_id, "commitId")
            metadata = object_text(line.metadata)
        except InvalidRequestError as error:
            raise self._wrong(str(error)) from None
        if line.commit_id in self._commit_ids:
            raise self._wrong(f"commitId {line.commit_id!r} is that of an earlier commit")
        self._commit_ids.add(line.commit_id)
        return metadata

    def _appended(self, line: _Commit) -> tuple[int, ...] | None:
        if line.appended is None:
            return None
        unknown = [node_id for node_id in line.appended if node_id not in self._refs]
        if unknown:
            raise self._wrong(f"appended: no node has the id {shorten(unknown[0])}")
        return tuple(self._refs[node_id].sequence for node_id in line.appended)

    def _failure(self, line: _FailedRun) -> FailedRunRecord:
        self._time("at", line.at)
        if line.revision > self.agent.revision:
            raise self._wrong(f"there is no revision {line.revision}")
        try:
            usage = object_text(line.usage, "usage")
        except InvalidRequestError as error:
            raise self._wrong(str(error)) from None
        return FailedRunRecord(line.at, line.run_id, line.input, line.error, usage, line.revision)

    def _time(self, name: str, text: str) -> int:
        instant = instant_ms(text)
        if instant is None:
            raise self._wrong(f"{name}: {shorten(text)} is no date that exists")
        return instant

    def _wrong(self, message: str, violations: Sequence[Violation] = ()) -> HistoryFileError:
        return HistoryFileError(self._number, message, violations)


def _vocabulary(stored: _Vocabulary) -> Vocabulary:
    types = [NodeType(found.name, found.description) for found in stored.node_types]
    return Vocabulary(types, allow_dynamic=stored.allow_dynamic_node_types)


def _line(**fields: Any) -> str:
    """A line of those fields that are there."""
    return dumps({name: value for name, value in fields.items() if value is not None}) + "\n"


def _parsed(text: str | None) -> Any:
    return None if text is None else parse(text)
