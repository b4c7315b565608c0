"""Session logs brought into a history: a revision a turn, failed runs beside it, and only what is new.

And the way back: what a log says of a stored commit.

What the records of a log mean is format.md, *The SDK's session log*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stateweave_graph.errors import CommitIdReusedError, InvalidRequestError
from stateweave_graph.hashing import hash_fields
from stateweave_graph.jsontext import dumps, escape_surrogates, parse
from stateweave_graph.model import CausalNode, NodeKind
from stateweave_graph.records import CommitRecord, FailedRunRecord, HeadRecord, Wanted
from stateweave_graph.repository.commits import SaveRequest, save_on
from stateweave_graph.repository.ground import Ground
from stateweave_graph.repository.requests import ANY_REVISION, Expectation, object_text
from stateweave_graph.repository.snapshots import NodeChain, Snapshot, check_common
from stateweave_graph.results import Imported
from stateweave_graph.sessionlog import LogFailure, LogRevision, SessionLog
from stateweave_graph.stores.base import StoreWriter


def log_requests(agent_id: str, log: SessionLog) -> list[SaveRequest]:
    """The commits that a log stands for, one for each of its revisions."""
    chain = NodeChain([node for revision in log.revisions for node in revision.nodes])
    requests = []
    count = 0
    for revision in log.revisions:
        count += len(revision.nodes)
        requests.append(
            SaveRequest(
                agent_id=agent_id,
                expected=Expectation.of(agent_id, ANY_REVISION),
                commit_id=revision.entry_id,
                metadata=_metadata(revision),
                committed_at=revision.timestamp,
                snapshot=Snapshot(chain, count, revision.frontier),
            )
        )
    return requests


def settle_log(
    tx: StoreWriter, agent_id: str, requests: Sequence[SaveRequest], failures: Sequence[LogFailure]
) -> Imported:
    """Commit those revisions of a log that are not there yet, and keep its failed runs.

    Raises:
        CommitIdReusedError: a revision with the id of one of the log's entries is there, and is another.
        DivergedError: what is new in the log does not extend what is stored.
        InvalidRequestError: the log has no revision, and there is no agent whose failed runs it could tell.
    """
    locked = tx.lock_head(agent_id, Wanted())
    head = None if locked is None else locked[0]
    if head is None and not requests:
        raise InvalidRequestError(
            f"agent {agent_id!r}: the session log holds no state, so there is nothing to make an agent of"
        )
    known = _Known(0, 0) if head is None else _stored_already(tx, head, requests)
    kept = [] if head is None else tx.failures(head.agent.history)
    ground = Ground(head)
    first = ground.node_count
    revisions = {known.of_log: known.of_store}
    for place, request in enumerate(requests[known.of_log :], start=known.of_log + 1):
        settled = save_on(tx, request, ground)
        ground = settled.ground or ground
        revisions[place] = settled.commit.revision
    after = ground.head
    if after is None:
        raise AssertionError("a log with a revision makes an agent")
    added = _add_failures(tx, after.agent.history, kept, failures, revisions)
    return Imported(
        agent_id=agent_id,
        history=after.agent.history,
        revision=after.agent.revision,
        commits=after.agent.revision - (0 if head is None else head.agent.revision),
        nodes=after.agent.node_count - first,
        failures=added,
    )


_OF_A_TURN = ("turn", "runId", "input", "finalAnswer", "userNodeId", "assistantNodeId")


class _Known(NamedTuple):
    """How many revisions of a log are stored already, and the stored revision of the last of them."""

    of_log: int
    of_store: int


def _stored_already(tx: StoreWriter, head: HeadRecord, requests: Sequence[SaveRequest]) -> _Known:
    for place in range(len(requests), 0, -1):
        request = requests[place - 1]
        made = tx.lookup(head.agent.history, Wanted(commit_id=request.commit_id)).commit
        if made is not None:
            if made.request_hash != request.request_hash():
                raise CommitIdReusedError(head.agent.agent_id, made.commit_id, made.revision)
            return _Known(place, made.revision)
    if requests:
        check_common(tx, head, requests[-1].snapshot)
    frontier = [ref.id for ref in head.frontier]
    place = 0
    for place, request in enumerate(requests, start=1):
        snapshot = request.snapshot
        if snapshot.count > head.agent.node_count:
            return _Known(place - 1, head.agent.revision)
        if snapshot.count == head.agent.node_count and snapshot.frontier == frontier:
            return _Known(place, head.agent.revision)
    return _Known(place, head.agent.revision)


def _add_failures(
    tx: StoreWriter,
    history: str,
    kept: Sequence[FailedRunRecord],
    failures: Sequence[LogFailure],
    revisions: dict[int, int],
) -> int:
    """Keep the failed runs that are not kept yet; the number of those added."""
    there = Counter(record._replace(revision=0) for record in kept)
    first, first_stored = min(revisions.items())
    new = []
    for failure in failures:
        stored = revisions.get(failure.revision, max(0, first_stored - (first - failure.revision)))
        record = failure_record(
            failure.timestamp,
            failure.run_id,
            failure.input,
            failure.error,
            object_text(failure.usage, "usage"),
            stored,
        )
        same = record._replace(revision=0)
        if there[same]:
            there[same] -= 1
        else:
            new.append(record)
    tx.add_failures(history, new)
    return len(new)


def failure_record(
    at: str, run_id: str | None, input: str, error: str, usage: str | None, revision: int
) -> FailedRunRecord:
    r"""The record of a failed run; lone surrogates, which no database keeps, are written as ``\udxxx``."""
    return FailedRunRecord(
        at=at,
        run_id=None if run_id is None else escape_surrogates(run_id),
        input=escape_surrogates(input),
        error=escape_surrogates(error),
        usage=usage,
        revision=revision,
    )


def _metadata(revision: LogRevision) -> str:
    """What a log says of a revision, as the commit's metadata."""
    said = {
        **(revision.metadata or {}),
        "turn": revision.turn,
        "runId": revision.run_id,
        "input": revision.input,
        "finalAnswer": revision.final_answer,
        "userNodeId": revision.user_node_id,
        "assistantNodeId": revision.assistant_node_id,
        "usageHistory": revision.usage_history or None,
    }
    return dumps({"source": f"session-log:{revision.kind}", **_present(said)})


def log_revision(commit: CommitRecord, nodes: list[CausalNode], frontier: list[str]) -> LogRevision:
    """A commit as a log tells it: what a log said of it when it was imported, else what its nodes say."""
    said = {} if commit.metadata is None else parse(commit.metadata)
    kind = str(said.pop("source", "")).removeprefix("session-log:") if _is_of_log(said) else None
    goals = [node for node in nodes if node.kind is NodeKind.GOAL]
    answers = [node for node in nodes if node.kind is NodeKind.ANSWER]
    if kind is None:  # a first commit that is no turn is what was there before any
        kind = "bootstrap" if commit.revision == 1 and len(goals) != 1 else "turn_commit"
        told = {
            "input": _text(goals[-1].payload) if goals else "",
            "finalAnswer": _text(answers[-1].payload) if answers else "",
            "userNodeId": goals[-1].id if goals else None,
            "assistantNodeId": answers[-1].id if answers else None,
            "runId": said.get("runId"),
        }
    else:
        told = {name: said.pop(name, None) for name in _OF_A_TURN}
    return LogRevision(
        kind="turn_commit" if kind == "turn_commit" else "bootstrap",
        entry_id=commit.commit_id,
        timestamp=commit.committed_at,
        nodes=nodes,
        frontier=frontier,
        state_hash="",
        line=0,
        run_id=told["runId"] if isinstance(told["runId"], str) else None,
        input=told["input"],
        final_answer=told["finalAnswer"],
        user_node_id=told["userNodeId"],
        assistant_node_id=told["assistantNodeId"],
        usage_history=said.pop("usageHistory", []) if kind == "bootstrap" else [],
        metadata=said,
    )


def log_failure(place: int, failure: FailedRunRecord) -> LogFailure:
    """A failed run as a log tells it; ``place`` tells it from others of the same time."""
    return LogFailure(
        entry_id=hash_fields("failed run", place, failure.at)[:16],
        timestamp=failure.at,
        turn=0,
        input=failure.input,
        error=failure.error,
        revision=failure.revision,
        line=0,
        run_id=failure.run_id,
        usage=None if failure.usage is None else parse(failure.usage),
    )


def _is_of_log(said: Mapping[str, Any]) -> bool:
    source = said.get("source")
    return isinstance(source, str) and source.startswith("session-log:")


def _text(payload: Any) -> str:
    return payload if isinstance(payload, str) else dumps(payload)


def _present(fields: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}
