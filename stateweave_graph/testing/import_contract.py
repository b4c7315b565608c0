"""What imports promise, on every store."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from stateweave_graph.errors import CommitIdReusedError, DivergedError, InvalidRequestError, NotFoundError
from stateweave_graph.javascript import javascript_json
from stateweave_graph.jsontext import dumps
from stateweave_graph.model import AgentState
from stateweave_graph.repository.repository import Repository
from stateweave_graph.results import FailedRun, LogEntry
from stateweave_graph.sessionlog import SessionLog, read_session_log
from stateweave_graph.testing.fixtures import OpenRepo, RepositoryFixtures
from stateweave_graph.testing.samples import append, story


class ImportContract(RepositoryFixtures):
    """Snapshots and session logs brought in: all of it or nothing, and only what is new."""

    def test_a_snapshot_is_one_revision(self, repo: Repository) -> None:
        done = repo.import_state("a", story(1), metadata={"from": "a file"})
        assert (done.commits, done.nodes, done.failures, done.revision) == (1, 7, 0, 1)
        assert repo.import_state("a", story(1)).commits == 0
        more = repo.import_state("a", story(3))
        assert (more.commits, more.nodes, more.revision, more.history) == (1, 12, 2, done.history)
        with pytest.raises(DivergedError):
            repo.import_state("a", story(2))
        assert repo.load("a").state == story(3)

    def test_a_session_log_is_a_revision_a_turn(self, open_repo: OpenRepo) -> None:
        log = session_log(4, failed_before={0: 1, 2: 2}, failed_after=1)
        done = open_repo().import_session_log("a", log)
        assert (done.commits, done.nodes, done.failures, done.revision) == (4, 25, 4, 4)
        repo = open_repo()
        for number in range(1, 5):
            assert repo.load("a", revision=number).state == story(number)
        entries = repo.log("a")
        shown = [entry.revision if isinstance(entry, LogEntry) else entry.input for entry in entries]
        assert shown == ["failed 4.0", 4, 3, "failed 2.1", "failed 2.0", 2, 1, "failed 0.0"]
        first = entries[-2]
        assert isinstance(first, LogEntry)
        assert (first.commit_id, first.committed_at) == (
            log.revisions[0].entry_id,
            log.revisions[0].timestamp,
        )
        assert first.metadata is not None
        assert first.metadata["input"] == "goal 0"
        assert first.metadata["finalAnswer"] == "answer 0"
        assert first.metadata["runId"] == "run 0"
        assert first.metadata["totalInputTokens"] == 100
        last = entries[0]
        assert isinstance(last, FailedRun)
        assert (last.error, last.run_id, last.revision) == ("why", "run f", 4)
        assert last.usage is not None
        assert last.usage["totalInputTokens"] == 100

    def test_a_log_that_has_grown_adds_only_the_new_turns(self, open_repo: OpenRepo) -> None:
        open_repo().import_session_log("a", session_log(2, failed_after=1))
        before = open_repo().log("a")
        grown = session_log(4, failed_before={2: 1})
        done = open_repo().import_session_log("a", grown)
        assert (done.commits, done.nodes, done.failures, done.revision) == (2, 12, 0, 4)
        assert open_repo().log("a")[2:] == before
        again = open_repo().import_session_log("a", grown)
        assert (again.commits, again.nodes, again.failures) == (0, 0, 0)

    def test_a_log_onto_its_own_snapshot(self, repo: Repository) -> None:
        repo.import_state("a", story(2))
        done = repo.import_session_log("a", session_log(4))
        assert (done.commits, done.nodes, done.revision) == (2, 12, 3)
        assert repo.load("a").state == story(4)

    def test_a_log_that_does_not_extend_what_is_stored(self, repo: Repository) -> None:
        repo.import_session_log("a", session_log(2))
        repo.append("a", [append("goal", "ours")], expected_revision=2)
        with pytest.raises(DivergedError):
            repo.import_session_log("a", session_log(3))
        assert repo.head("a").revision == 3
        assert repo.import_session_log("a", session_log(2)).commits == 0
        repo.save("b", story(1), expected_revision=0)
        wire = story(1).to_dict()
        wire["nodes"][3]["createdAt"] = "2020-01-01"
        with pytest.raises(DivergedError) as caught:
            repo.import_session_log("b", session_log(1, states=[AgentState.model_validate(wire)]))
        assert caught.value.sequence == 4

    def test_another_log_with_the_same_entries_is_refused(self, repo: Repository) -> None:
        repo.import_session_log("a", session_log(2))
        other = session_log(2, answers="other")
        with pytest.raises(CommitIdReusedError):
            repo.import_session_log("a", other)

    def test_a_log_without_a_state(self, repo: Repository) -> None:
        empty = session_log(0, failed_after=2)
        with pytest.raises(InvalidRequestError, match="no state"):
            repo.import_session_log("a", empty)
        with pytest.raises(NotFoundError):
            repo.head("a")
        repo.save("a", story(1), expected_revision=0)
        done = repo.import_session_log("a", empty)
        assert (done.commits, done.failures) == (0, 2)


def session_log(
    turns: int,
    *,
    failed_before: dict[int, int] | None = None,
    failed_after: int = 0,
    answers: str = "answer",
    states: list[AgentState] | None = None,
) -> SessionLog:
    """A log whose state after turn n is ``story(n)``, read as a file of the SDK would be."""
    lines = [{"type": "session", "version": 1, "sessionId": f"sws_{'0' * 32}", "createdAt": "2026-09-01"}]
    parent: str | None = None
    counter = known = 0

    def entry(kind: str, name: str, **fields: Any) -> dict[str, Any]:
        identity = hashlib.sha256(name.encode()).hexdigest()[:16]
        return {
            "type": kind,
            "id": identity,
            "parentId": parent,
            "timestamp": "2026-09-01T12:00:00Z",
            **fields,
        }

    def fail(turn: int, count: int) -> None:
        nonlocal counter
        for number in range(count):
            counter += 1
            said = {"turn": counter, "runId": "run f", "input": f"failed {turn}.{number}", "error": "why"}
            usage = {**run_metadata("run f"), "turn": counter, "status": "failed"}
            lines.append(entry("run_error", f"failed {turn}.{number}", **said, usage=usage))

    for turn in range(turns):
        fail(turn, (failed_before or {}).get(turn, 0))
        state = states[turn] if states else story(turn + 1)
        counter += 1
        committed = entry(
            "turn_commit",
            f"turn {turn}",
            turn=counter,
            runId=f"run {turn}",
            input=f"goal {turn}",
            finalAnswer=f"{answers} {turn}",
            newNodes=[node.to_dict() for node in state.nodes[known:]],
            frontier=state.frontier,
            stateHash=hashlib.sha256(javascript_json(state.to_dict()).encode()).hexdigest(),
            metadata=run_metadata(f"run {turn}"),
        )
        lines.append(committed)
        parent, known = committed["id"], len(state.nodes)
    fail(turns, failed_after)
    return read_session_log("".join(f"{dumps(line)}\n" for line in lines).encode())


def run_metadata(run_id: str) -> dict[str, Any]:
    """The metadata of a run as the SDK writes it."""
    counts = ("latestContextTokens", "peakContextTokens", "totalInputTokens", "outputTokens", "modelCalls")
    return {
        "runId": run_id,
        "engine": "causal-weave-v3",
        "status": "done",
        "startedAt": "2026-09-01T11:59:00Z",
        "completedAt": "2026-09-01T12:00:00Z",
        **dict.fromkeys(counts, 100),
        "maxPromptTokens": 1,
        "projectionTargetTokens": 1,
        "tokenCountSource": "estimated",
    }
