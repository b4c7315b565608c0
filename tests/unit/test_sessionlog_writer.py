"""Session logs written: what a log tells is told again, by the SDK's own rules."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateweave_graph import AgentState, open_repository
from stateweave_graph.errors import LimitExceededError
from stateweave_graph.sessionlog import read_session_log, write_session_log
from stateweave_graph.sessionlog_records import run_metadata
from stateweave_graph.sessionlog_replay import LogRevision
from stateweave_graph.sessionlog_writer import log_lines
from stateweave_graph.testing.samples import story
from stateweave_graph.testing.strategies import states
from tests.support.sessionlogs import AT, EXPECTED, METADATA, SESSION_ID, SESSIONS


def told(revision: LogRevision) -> dict[str, object]:
    """A revision without its line, and without which of two records brought a state in."""
    fields = {name: value for name, value in vars(revision).items() if name != "line"}
    return {**fields, "kind": "turn_commit" if revision.kind == "turn_commit" else "state"}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_log_of_the_vectors_is_told_again(name, tmp_path):
    log = read_session_log(SESSIONS / f"{name}.jsonl")
    write_session_log(log, tmp_path / "out.jsonl")
    again = read_session_log(tmp_path / "out.jsonl")
    assert list(map(told, again.revisions)) == list(map(told, log.revisions))
    assert again.failures == [
        replace(failure, line=other.line) for failure, other in zip(log.failures, again.failures, strict=True)
    ]
    for field in ("session_id", "created_at", "turn_count", "interaction_count", "current_turn_id"):
        assert getattr(again, field) == getattr(log, field), field


@pytest.mark.parametrize("name", sorted(name for name in EXPECTED if EXPECTED[name]["state"]))
def test_a_log_of_the_vectors_goes_through_a_repository(name, tmp_path):
    log = read_session_log(SESSIONS / f"{name}.jsonl")
    with open_repository(":memory:") as repo:
        repo.import_session_log("a", log)
        repo.export("a", tmp_path / "out.jsonl", format="session-log")
    again = read_session_log(tmp_path / "out.jsonl")
    assert [revision.state_hash for revision in again.revisions] == [
        expected["stateHash"] for expected in EXPECTED[name]["revisions"]
    ]
    # Usage records without a state are no part of a history, so what they count is not counted again.
    counted = name != "usage-only-bootstrap"
    assert [told(revision) | ({} if counted else {"turn": 0}) for revision in again.revisions] == [
        told(revision) | ({} if counted else {"turn": 0}) for revision in log.revisions
    ]
    assert again.state is not None
    assert again.state.to_dict() == EXPECTED[name]["state"]


@settings(max_examples=50, deadline=None)
@given(states(max_size=6), st.integers(0, 6))
def test_any_history_is_a_log(state, first):
    """Whatever two commits hold: a bootstrap with any state, a turn with any nodes."""
    with open_repository(":memory:") as repo:
        nodes = state.nodes[:first]
        repo.save("a", AgentState.unchecked(nodes, [node.id for node in nodes[-1:]]), expected_revision=0)
        repo.save("a", state, expected_revision=1)
        entries = repo.log("a")
        with tempfile.TemporaryDirectory() as folder:
            repo.export("a", Path(folder, "a"), format="session-log")
            log = read_session_log(Path(folder, "a"))
    assert log.state == state
    assert len(log.revisions) == len(entries)


def test_metadata_that_is_no_good_for_a_log_gives_way():
    made = run_metadata({"outputTokens": -1, "modelCalls": 2, "engine": "mine", "mine": [1]}, "r", AT)
    assert made == {
        **METADATA,
        **dict.fromkeys(("latestContextTokens", "peakContextTokens", "totalInputTokens", "outputTokens"), 0),
        "maxPromptTokens": 0,
        "projectionTargetTokens": 0,
        "modelCalls": 2,
        "runId": "r",
        "tokenCountSource": "estimated",
        "mine": [1],
    }
    assert run_metadata(METADATA, "other", AT) == METADATA


def test_a_log_that_no_sdk_would_load_is_not_written(monkeypatch):
    monkeypatch.setattr("stateweave_graph.sessionlog_writer.MAX_LOG_BYTES", 1_000)
    nodes = story(3).nodes
    revision = LogRevision("bootstrap", "0" * 16, AT, nodes, [nodes[0].id], "", 0)
    with pytest.raises(LimitExceededError, match="1000 bytes"):
        list(log_lines(SESSION_ID, AT, [revision]))


def test_entry_ids_are_those_of_a_log():
    """Commit ids that are none, or stand twice, get another, the same each time."""
    node = story(1).nodes[0]
    revisions = [
        LogRevision("turn_commit", "not hex", AT, [node], [node.id], "", 0),
        LogRevision("turn_commit", "0123456789abcdef", AT, [], [node.id], "", 0),
        LogRevision("turn_commit", "0123456789abcdef", AT, [], [], "", 0),
    ]
    lines = list(log_lines(SESSION_ID, AT, revisions))
    ids = [json.loads(line)["id"] for line in lines[1:]]
    assert len(set(ids)) == 3
    assert ids[1] == "0123456789abcdef"
    assert list(log_lines(SESSION_ID, AT, revisions)) == lines
    assert len(read_session_log("".join(lines).encode()).revisions) == 3
