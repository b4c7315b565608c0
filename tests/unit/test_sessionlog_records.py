"""What a record of a session log must hold by itself: header, entries, runs, lines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stateweave_graph.sessionlog import read_session_log
from tests.support.sessionlogs import (
    AT,
    COUNTS,
    HEADER,
    METADATA,
    SESSION_ID,
    LogBuilder,
    corrupt,
    corruption,
    text_of,
    two_turns,
    usage,
)


class TestLines:
    def test_white_space_around_lines_and_blank_lines_are_dropped(self):
        log = two_turns()
        lines = log.data().splitlines()
        wrapped = (
            b"\xef\xbb\xbf" + b"\r\n\n\xc2\xa0\xe2\x80\xa8\n\xef\xbb\xbf\t".join(lines) + b" \x0b\x0c\r\n"
        )
        read, plain = read_session_log(wrapped), read_session_log(log.data())
        assert [revision.line for revision in read.revisions] == [4, 7]
        assert [replace(revision, line=0) for revision in read.revisions] == [
            replace(revision, line=0) for revision in plain.revisions
        ]

    @pytest.mark.parametrize("character", ["\x1c", "\x1f", "\x85", "\u200b", "\x00"])
    def test_what_javascript_does_not_trim_makes_a_line_corrupt(self, character):
        lines = two_turns().data().decode().splitlines(keepends=True)
        error = corrupt((lines[0] + "\n" + character + lines[1]).encode())
        assert (error.rule, error.line) == ("json", 3)
        error = corrupt((lines[0] + character + "\n" + lines[1]).encode())
        assert (error.rule, error.line) == ("json", 2)

    @pytest.mark.parametrize("tail", [b"", b"{", b"\xff\xfe", b'{"type":"note"}', b"  "])
    def test_what_follows_the_last_newline_is_ignored(self, tail):
        log = two_turns()
        assert read_session_log(log.data() + tail) == read_session_log(log.data())

    def test_a_complete_record_without_newline_is_ignored(self):
        first, second = LogBuilder().turn("goal"), LogBuilder().turn("goal").turn("answer")
        assert read_session_log(second.data()[:-1]) == read_session_log(first.data())

    @pytest.mark.parametrize(
        "line",
        [
            b"{",
            b"nonsense",
            b'{"a":NaN}',
            b"{'a':1}",
            b"{} {}",
            b"[1,]",
            b'"\xff"',
            b'"\xed\xa0\x80"',
            b'"\x01"',
        ],
    )
    def test_a_line_that_is_no_json_is_corrupt_wherever_it_stands(self, line):
        data = two_turns().data()
        lines = data.splitlines(keepends=True)
        for place in range(1, len(lines) + 1):
            error = corrupt(b"".join([*lines[:place], line + b"\n", *lines[place:]]))
            assert (error.rule, error.line) == ("json", place + 1)
        error = corrupt(line + b"\n" + data)
        assert (error.rule, error.line) == ("json", 1)

    @pytest.mark.parametrize("data", [b"", b"\n", b"\r\n \n\xef\xbb\xbf\n", text_of(HEADER).encode(), b"{"])
    def test_a_log_without_a_complete_record_has_no_header(self, data):
        error = corrupt(data)
        assert (error.rule, error.line) == ("header", 0)


class TestHeader:
    def test_only_a_header_holds_no_state(self):
        log = read_session_log(LogBuilder().data())
        assert (log.session_id, log.created_at) == (SESSION_ID, AT)
        assert (log.revisions, log.failures, log.state) == ([], [], None)
        assert (log.turn_count, log.interaction_count, log.current_turn_id) == (0, 0, None)

    @pytest.mark.parametrize(
        "record", [None, [], "session", 1, {}, {"type": "turn_commit"}, {"type": ["session"]}]
    )
    def test_the_first_record_must_be_a_header(self, record):
        error = corrupt((text_of(record) + "\n" + text_of(HEADER) + "\n").encode())
        assert (error.rule, error.line) == ("header", 1)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("version", 2),
            ("version", True),
            ("version", "1"),
            ("version", None),
            ("sessionId", SESSION_ID.upper()),
            ("sessionId", SESSION_ID + "0"),
            ("sessionId", SESSION_ID + "\n"),
            ("sessionId", SESSION_ID[:-1] + "g"),
            ("sessionId", 7),
            ("createdAt", "2026-02-30"),
            ("createdAt", "hello 1"),
            ("createdAt", 1700000000000),
            ("createdAt", None),
        ],
    )
    def test_its_fields(self, field, value):
        log = two_turns()
        log.records[0][field] = value
        assert corruption(log) == ("header", 1)
        del log.records[0][field]
        assert corruption(log) == ("header", 1)

    def test_its_version_is_a_number_and_its_time_is_kept_to_the_letter(self):
        log = two_turns()
        log.records[0] |= {"version": 1.0, "createdAt": "Tue, 01 Sep 2026 12:00 GMT", "note": "more"}
        assert read_session_log(log.data()).created_at == "Tue, 01 Sep 2026 12:00 GMT"

    def test_it_stands_once(self):
        log = two_turns()
        log.records.insert(2, log.records[0])
        assert corruption(log) == ("header", 3)


class TestEntries:
    """Each entry by itself; ``log.records`` 1 to 5 are those of ``every_entry``."""

    @staticmethod
    def every_entry() -> LogBuilder:
        log = LogBuilder().fail(runId="sw_0", usage=usage(1, status="failed"), attemptedParentId="a client's")
        log.bootstrap("goal", "answer", usage_history=[usage(1)]).turn("goal", "answer").checkpoint()
        log.records[3] |= {"userNodeId": log.nodes[2]["id"], "assistantNodeId": log.nodes[3]["id"]}
        return log

    def test_what_is_read_of_each(self):
        log = self.every_entry()
        log.records[3]["metadata"]["more"] = {"tools": [1.0, None]}
        read = read_session_log(log.data())
        bootstrap, turn = read.revisions
        [failure] = read.failures
        assert (bootstrap.kind, bootstrap.entry_id, bootstrap.timestamp) == ("bootstrap", f"{2:016x}", AT)
        assert (bootstrap.line, bootstrap.turn, bootstrap.run_id, bootstrap.metadata) == (3, None, None, None)
        assert bootstrap.usage_history == read.usage_history == [usage(1)]
        assert (turn.kind, turn.entry_id, turn.turn, turn.run_id) == ("turn_commit", f"{3:016x}", 3, "sw_1")
        assert (turn.input, turn.final_answer, turn.line) == ("question", "reply", 4)
        assert turn.metadata == {**METADATA, "more": {"tools": [1.0, None]}}
        assert (turn.user_node_id, turn.assistant_node_id) == (log.nodes[2]["id"], log.nodes[3]["id"])
        assert [node.id for node in turn.nodes] == [log.nodes[2]["id"], log.nodes[3]["id"]]
        assert (failure.entry_id, failure.timestamp, failure.turn) == (f"{1:016x}", AT, 1)
        assert (failure.run_id, failure.input, failure.error) == ("sw_0", "question", "503")
        assert failure.usage == usage(1, status="failed")
        assert (failure.attempted_parent_id, failure.revision, failure.line) == ("a client's", 0, 2)

    @pytest.mark.parametrize("index", [1, 2, 3, 4])
    @pytest.mark.parametrize(
        ("field", "values"),
        [
            ("type", [None, "note", "Checkpoint", 1, ["checkpoint"], {}]),
            (
                "id",
                [
                    None,
                    "XYZ",
                    "0123456789ABCDEF",
                    "0123456789abcde",
                    "0123456789abcdef0",
                    5,
                    "０123456789abcde",
                ],
            ),
            ("parentId", ["", "XYZ", 0, False, [], f"{3:016X}" + "0"]),
            ("timestamp", [None, "soon", "2026-13-01", "24:00", 1700000000000]),
        ],
    )
    def test_the_fields_that_all_have(self, index, field, values):
        for value in values:
            log = self.every_entry()
            log.records[index][field] = value
            assert corruption(log) == ("entry", index + 1)
        log = self.every_entry()
        del log.records[index][field]
        assert corruption(log) == ("entry", index + 1)

    @pytest.mark.parametrize(
        ("index", "field", "values"),
        [
            (1, "turn", [None, "1", True, 1.5, [1]]),
            (1, "runId", [None, 1]),
            (1, "input", [None, 1, ["text"]]),
            (1, "error", [None, 1, {}]),
            (1, "usage", [None, [], "none", {}, usage(0), usage(1, status="running")]),
            (1, "attemptedParentId", [None, 1]),
            (2, "state", [None, [], "state"]),
            (2, "usageHistory", [None, {}, "none"]),
            (3, "turn", [None, "3", True, 3.5]),
            (3, "runId", [None, 1]),
            (3, "input", [None, 1]),
            (3, "finalAnswer", [None, 1]),
            (3, "userNodeId", [None, 1]),
            (3, "assistantNodeId", [None, 1]),
            (3, "newNodes", [None, {}, "nodes"]),
            (3, "frontier", [None, {}, "cw_"]),
            (3, "stateHash", [None, 1]),
            (3, "metadata", [None, [], {}]),
            (4, "turnCount", [None, "2", True, 2.5]),
            (4, "interactionCount", [None, "3", False, 0.5]),
            (4, "state", [None, []]),
            (4, "stateHash", [None, 1]),
        ],
    )
    def test_the_fields_of_each(self, index, field, values):
        for value in values:
            log = self.every_entry()
            log.records[index][field] = value
            assert corruption(log) == ("entry", index + 1)

    @pytest.mark.parametrize(
        ("index", "fields"),
        [
            (1, ["turn", "input", "error"]),
            (2, ["usageHistory"]),
            (3, ["turn", "runId", "input", "finalAnswer", "newNodes", "frontier", "stateHash", "metadata"]),
            (4, ["turnCount", "interactionCount", "state", "stateHash"]),
        ],
    )
    def test_the_fields_that_must_be_there(self, index, fields):
        for field in fields:
            log = self.every_entry()
            del log.records[index][field]
            error = corrupt(log.data())
            assert (error.rule, error.line) == ("entry", index + 1)
            assert f"{field} is missing" in str(error)

    def test_the_fields_that_may_be_absent(self):
        log = self.every_entry()
        for field in ("runId", "usage", "attemptedParentId"):
            del log.records[1][field]
        for field in ("userNodeId", "assistantNodeId"):
            del log.records[3][field]
        read = read_session_log(log.data())
        failure, turn = read.failures[0], read.revisions[1]
        assert (failure.run_id, failure.usage, failure.attempted_parent_id) == (None, None, None)
        assert (turn.user_node_id, turn.assistant_node_id) == (None, None)

    @pytest.mark.parametrize("value", [[], "record", None, 1, True])
    def test_an_entry_is_an_object(self, value):
        data = two_turns().data() + text_of(value).encode() + b"\n"
        assert (corrupt(data).rule, corrupt(data).line) == ("entry", 4)

    @pytest.mark.parametrize("index", [2, 3, 4])
    def test_ids_are_unique(self, index):
        log = self.every_entry()
        log.records[index]["id"] = log.records[1]["id"]
        assert corruption(log) == ("entry", index + 1)

    def test_an_entry_may_have_further_fields(self):
        log = self.every_entry()
        plain = read_session_log(log.data())
        for record in log.records:
            record["further"] = {"a": [1e3]}
        assert read_session_log(log.data()) == plain


RUN_FIELD_FAULTS: list[tuple[str, list[Any]]] = [
    ("runId", [None, 1]),
    ("startedAt", [None, "soon", 1]),
    ("completedAt", [None, "2026-02-30", 1]),
    ("tokenCountSource", [None, "guess", "Provider", ["provider"]]),
    *[(count, [None, "1", -1, 0.5, True, 1e999]) for count in COUNTS],
    ("further", [{"deep": [1e999]}, -1e999]),
]


class TestRuns:
    """The metadata of a turn, and usage records."""

    @pytest.mark.parametrize(
        ("field", "values"),
        [
            *RUN_FIELD_FAULTS,
            ("engine", [None, "causal-weave-v2", 3]),
            ("status", [None, "running", "failed", True]),
        ],
    )
    def test_metadata(self, field, values):
        for value in values:
            log = two_turns()
            log.records[2]["metadata"][field] = value
            error = corrupt(log.data())
            assert (error.rule, error.line) == ("entry", 3)
            assert f"metadata.{field} " in str(error)

    @pytest.mark.parametrize("field", METADATA)
    def test_metadata_must_be_whole(self, field):
        log = two_turns()
        del log.records[2]["metadata"][field]
        assert corruption(log) == ("entry", 3)

    @pytest.mark.parametrize(
        ("field", "values"),
        [
            *RUN_FIELD_FAULTS,
            ("status", [None, "running", True]),
            ("turn", [None, "9", True, 0, -1, 9.5, 1e999]),
        ],
    )
    def test_a_usage_record_that_is_none_is_dropped_from_a_history_and_refused_of_a_failed_run(
        self, field, values
    ):
        for value in values:
            record = {**usage(9), field: value}
            log = LogBuilder().bootstrap("goal", usage_history=[usage(4)])
            log.records[1]["usageHistory"] = [record, usage(4), record]
            read = read_session_log(log.data())
            assert read.usage_history == read.revisions[0].usage_history == [usage(4)]
            assert read.interaction_count == 4
            assert corruption(LogBuilder().fail(usage=record)) == ("entry", 2)

    @pytest.mark.parametrize("value", [None, 1, "usage", [], [usage(9)], {}])
    def test_what_is_no_object_is_no_usage_record(self, value):
        log = LogBuilder().bootstrap(state=False)
        log.records[1]["usageHistory"] = [value, usage(2)]
        read = read_session_log(log.data())
        assert (read.usage_history, read.interaction_count) == ([usage(2)], 2)

    def test_integers_may_be_written_as_floats_and_records_are_kept_whole(self):
        log = LogBuilder().fail(usage=usage(1, status="failed"))
        log.bootstrap(usage_history=[usage(2.0, status="failed", tokenCountSource="mixed", more={"b": 1.50})])
        log.turn("goal", "answer").checkpoint()
        for record in log.records[1:]:
            for name in ("turn", "turnCount", "interactionCount"):
                if name in record:
                    record[name] = float(record[name])
        for count in COUNTS:
            log.records[3]["metadata"][count] = 5.0
        read = read_session_log(log.data())
        assert (read.interaction_count, read.turn_count) == (3, 1)
        assert (read.failures[0].turn, read.revisions[1].turn) == (1, 3)
        assert read.usage_history == log.records[2]["usageHistory"]
        assert read.revisions[1].metadata == log.records[3]["metadata"]
