"""Session logs as files: the vectors, limits, telling them apart, and random logs."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateweave_graph.errors import (
    LimitExceededError,
    NotFoundError,
    StateWeaveGraphError,
)
from stateweave_graph.sessionlog import MAX_LOG_BYTES, is_session_log, read_session_log
from stateweave_graph.validation import validate
from tests.support.sessionlogs import (
    EXPECTED,
    HEADER,
    INVALID_RULES,
    SESSIONS,
    VECTORS,
    LogBuilder,
    corrupt,
    text_of,
    two_turns,
    usage,
)


class TestVectors:
    @pytest.mark.parametrize("name", sorted(EXPECTED))
    def test_valid_log(self, name):
        expected = EXPECTED[name]
        log = read_session_log(SESSIONS / f"{name}.jsonl")
        assert log.session_id == expected["sessionId"]
        assert log.turn_count == expected["turnCount"]
        assert log.interaction_count == expected["interactionCount"]
        assert len(log.failures) == expected["failures"]
        assert log.current_turn_id == expected["currentTurnId"]
        nodes = 0
        for revision, wanted in zip(log.revisions, expected["revisions"], strict=True):
            nodes += len(revision.nodes)
            assert (revision.kind, nodes) == (wanted["kind"], wanted["nodes"])
            assert (revision.frontier, revision.state_hash) == (wanted["frontier"], wanted["stateHash"])
            assert (revision.turn, revision.run_id) == (wanted.get("turn"), wanted.get("runId"))
            assert wanted.get("id", revision.entry_id) == revision.entry_id
        given_back = None if log.state is None else log.state.to_dict()
        assert given_back == expected["state"]

    @pytest.mark.parametrize("name", sorted(INVALID_RULES))
    def test_invalid_log(self, name):
        error = corrupt((SESSIONS / "invalid" / f"{name}.jsonl").read_bytes())
        assert error.rule == INVALID_RULES[name]
        assert bool(error.violations) == (error.rule == "state")

    def test_every_vector_is_named(self):
        assert {path.stem for path in SESSIONS.glob("*.jsonl")} == set(EXPECTED)
        assert {path.stem for path in (SESSIONS / "invalid").glob("*.jsonl")} == set(INVALID_RULES)

    @pytest.mark.parametrize("path", sorted(SESSIONS.rglob("*.jsonl")), ids=lambda path: path.stem)
    def test_a_log_is_told_by_its_content(self, path):
        assert is_session_log(path.read_bytes()) == (path.stem != "empty-file")

    @pytest.mark.parametrize("path", sorted(VECTORS.glob("*valid/*.json")), ids=lambda path: path.stem)
    def test_a_snapshot_is_no_log(self, path):
        assert not is_session_log(path.read_bytes())


class TestLimits:
    def test_bytes_are_counted_before_anything_is_read(self, tmp_path):
        data = b"\xff" * 100
        path = tmp_path / "log.jsonl"
        path.write_bytes(data)
        for source in (data, path):
            with pytest.raises(LimitExceededError, match="99 bytes"):
                read_session_log(source, max_bytes=99)
        log = two_turns().data()
        assert read_session_log(log, max_bytes=len(log)).turn_count == 2

    def test_a_file_too_long_is_not_read(self, tmp_path):
        path = tmp_path / "log.jsonl"
        with path.open("wb") as file:
            file.truncate(MAX_LOG_BYTES + 1)
        tracemalloc.start()
        try:
            with pytest.raises(LimitExceededError, match="limit of 536870912 bytes"):
                read_session_log(path)
            assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
        finally:
            tracemalloc.stop()

    def test_nodes_are_those_of_the_last_state(self):
        log = LogBuilder().bootstrap("goal", "answer").turn("goal", "answer").data()
        assert read_session_log(log, max_nodes=4).turn_count == 2
        for most, line in ((3, 3), (1, 2)):
            with pytest.raises(LimitExceededError, match=f"line {line} of the session log") as caught:
                read_session_log(log, max_nodes=most)
            assert {violation.rule for violation in caught.value.violations} == {"size"}

    @pytest.mark.parametrize("kind", ["turn", "bootstrap", "checkpoint"])
    @pytest.mark.parametrize("depth", [5, 128, 512])
    def test_depth_is_counted_as_in_a_snapshot(self, kind, depth):
        payload: Any = 1
        for _ in range(depth - 3):
            payload = {"deeper": payload}
        log = LogBuilder()
        if kind == "turn":
            log.turn("goal", payload=payload)
        else:
            log.new_nodes("goal", payload=payload)
            getattr(log, kind)()
        assert validate(text_of(log.state()), max_depth=depth) == []
        assert len(read_session_log(log.data(), max_depth=depth).revisions) == 1
        with pytest.raises(LimitExceededError, match=f"line 2 .*\n.*limit of {depth - 1} levels"):
            read_session_log(log.data(), max_depth=depth - 1)

    def test_depth_is_bounded_in_every_line_before_it_is_parsed(self):
        with pytest.raises(LimitExceededError, match="line 2"):
            read_session_log(text_of(HEADER).encode() + b"\n" + b"[" * 100_000 + b"\n")

    @pytest.mark.parametrize(
        "limits", [{"max_depth": 0}, {"max_depth": 513}, {"max_bytes": 0}, {"max_nodes": -1}]
    )
    def test_limits_that_make_no_sense(self, limits):
        with pytest.raises(ValueError, match="must be"):
            read_session_log(b"", **limits)


class TestFiles:
    def test_a_path_may_be_text(self, tmp_path):
        path = tmp_path / "any name.jsonl"
        path.write_bytes(two_turns().data())
        assert read_session_log(str(path)) == read_session_log(path) == read_session_log(two_turns().data())

    def test_a_missing_file_is_not_found(self, tmp_path):
        with pytest.raises(NotFoundError, match=r"none\.jsonl"):
            read_session_log(tmp_path / "none.jsonl")

    @pytest.mark.parametrize("name", ["", "x" * 5000, "a\0b"])
    def test_what_can_not_be_read_is_said(self, tmp_path, name):
        with pytest.raises(StateWeaveGraphError, match="can't be read"):
            read_session_log(str(tmp_path) + "/" + name)


class TestIsSessionLog:
    @pytest.mark.parametrize(
        "data",
        [
            text_of(HEADER).encode(),
            b"\xef\xbb\xbf\r\n  " + text_of(HEADER).encode() + b"\n",
            b'{"version":1,"sessionId":"x","type":"session"}\n',
            b'{"type":"session","vers',
            b'{ "type" : "session" ',
            text_of(two_turns().records[1]).encode() + b"\n",
            b'{"type":"turn_commit","newNodes":["' + b"x" * 100_000,
            two_turns().data(),
        ],
    )
    def test_a_log_though_it_may_be_corrupt(self, data):
        assert is_session_log(data)

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\n\n",
            b'{"version":1,"nodes":[],"frontier":[]}',
            json.dumps(two_turns().state(), indent=1).encode(),
            b'{"version":1,"nodes":[{"type":"session"}],"frontier":[]}',
            b'{"type":"note"}\n',
            b'{"type":"session,\n',
            b'{"type":["session"]}\n',
            b"[" * 100_000,
            b'"session"',
            b"\xff\xfe\x00",
        ],
    )
    def test_what_is_none(self, data):
        assert not is_session_log(data)


KINDS = st.lists(st.sampled_from(["system", "goal", "inference", "answer", "tool_call"]), max_size=4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), KINDS),
        st.tuples(st.just("fail"), st.just([])),
        st.tuples(st.just("checkpoint"), st.just([])),
    ),
    max_size=8,
)


@st.composite
def valid_logs(draw: st.DrawFn) -> LogBuilder:
    log = LogBuilder()
    for _ in range(draw(st.integers(0, 3))):
        log.fail()
    start = draw(st.sampled_from(["nothing", "bootstrap", "usage", "checkpoint"]))
    history = [usage(turn) for turn in draw(st.lists(st.integers(1, 9), max_size=3))]
    if start == "bootstrap":
        log.bootstrap(*draw(KINDS), usage_history=history)
    elif start == "usage":
        log.bootstrap(state=False, usage_history=history)
    elif start == "checkpoint":
        log.checkpoint(*draw(KINDS))
    payloads = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), st.integers(-9, 9))
    for step, kinds in draw(STEPS):
        if step == "turn":
            log.turn(*kinds, payload=draw(payloads))
        else:
            getattr(log, step)()
    return log


class TestRandomLogs:
    @settings(deadline=None)
    @given(valid_logs())
    def test_counters_revisions_and_state_are_the_models(self, log):
        read = read_session_log(log.data())
        assert (read.turn_count, read.interaction_count) == (log.turn_count, log.interactions)
        assert (len(read.failures), read.current_turn_id) == (log.failed, log.leaf)
        found, nodes = [], 0
        for revision in read.revisions:
            nodes += len(revision.nodes)
            found.append((revision.kind, nodes, revision.frontier, revision.state_hash))
        assert found == log.revisions
        assert (read.state and read.state.to_dict()) == (log.state() if log.has_state else None)

    @settings(deadline=None)
    @given(valid_logs(), st.data())
    def test_a_log_cut_at_any_byte_is_the_log_of_its_complete_lines(self, log, data):
        whole = log.data()
        cut = whole[: data.draw(st.integers(0, len(whole)))]
        complete = cut[: cut.rfind(b"\n") + 1]
        if complete:
            read = read_session_log(cut)
            assert read == read_session_log(complete)
            entries = [record["type"] for record in log.records[1 : complete.count(b"\n")]]
            assert len(read.failures) == entries.count("run_error")
            turns = [revision for revision in read.revisions if revision.kind == "turn_commit"]
            assert len(turns) == entries.count("turn_commit")
        else:
            assert (corrupt(cut).rule, corrupt(cut).line) == ("header", 0)

    @settings(deadline=None, max_examples=300)
    @given(valid_logs(), st.data())
    def test_a_byte_changed_is_refused_with_an_error_of_ours_or_left_every_hashed_state_alone(
        self, log, data
    ):
        damaged = bytearray(log.data())
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place] ^= data.draw(st.integers(1, 255))
        try:
            read = read_session_log(bytes(damaged))
        except StateWeaveGraphError:
            return
        found = {revision.state_hash for revision in read.revisions if revision.kind != "bootstrap"}
        assert found <= {state_hash for _, _, _, state_hash in log.revisions}
