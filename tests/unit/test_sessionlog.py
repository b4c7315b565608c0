"""Reading the SDK's session log: each rule of format.md, *The SDK's session log*, and the vectors."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateweave_graph.errors import (
    LimitExceededError,
    NotFoundError,
    SessionLogError,
    StateWeaveGraphError,
)
from stateweave_graph.identity import node_id
from stateweave_graph.sessionlog import MAX_LOG_BYTES, is_session_log, read_session_log
from stateweave_graph.validation import validate

VECTORS = Path(__file__).parents[1] / "vectors"
SESSIONS = VECTORS / "sessions"
EXPECTED = json.loads((SESSIONS / "expected.json").read_text("utf-8"))
INVALID_RULES = json.loads((SESSIONS / "invalid-rules.json").read_text("utf-8"))

SESSION_ID = "sws_0123456789abcdef0123456789abcdef"
AT = "2026-05-01T09:00:00.000Z"
HEADER = {"type": "session", "version": 1, "sessionId": SESSION_ID, "createdAt": AT}
COUNTS = {
    "latestContextTokens": 10,
    "peakContextTokens": 20,
    "totalInputTokens": 30,
    "outputTokens": 4,
    "modelCalls": 1,
    "maxPromptTokens": 64000,
    "projectionTargetTokens": 16000,
}
RUN = {"runId": "sw_1", "startedAt": AT, "completedAt": AT, "tokenCountSource": "provider", **COUNTS}
METADATA = {**RUN, "engine": "causal-weave-v3", "status": "done"}


def usage(turn: float, **fields: Any) -> dict[str, Any]:
    return {**RUN, "turn": turn, "status": "done", **fields}


def copy_of(value: Any) -> Any:
    return json.loads(json.dumps(value))


def text_of(value: Any) -> str:
    """For the states that these tests build, Python's compact JSON is JavaScript's."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("Infinity", "1e999")


def hash_of(state: dict[str, Any]) -> str:
    return hashlib.sha256(text_of(state).encode("utf-8", "surrogatepass")).hexdigest()


class LogBuilder:
    """Builds a valid log record by record, and counts as format.md says, apart from the code under test."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = [copy_of(HEADER)]
        self.nodes: list[dict[str, Any]] = []
        self.frontier: list[str] = []
        self.has_state = False
        self.leaf: str | None = None
        self.turn_count = 0
        self.interactions = 0
        self.failed = 0
        self.revisions: list[tuple[str, int, list[str], str]] = []

    def state(self) -> dict[str, Any]:
        return {"version": 1, "nodes": copy_of(self.nodes), "frontier": list(self.frontier)}

    def new_nodes(self, *kinds: str, payload: Any = "text", **fields: Any) -> list[dict[str, Any]]:
        """Nodes in a chain from the last one; they join the state that is built."""
        added = []
        for kind in kinds:
            parents = [self.nodes[-1]["id"]] if self.nodes else []
            node = {
                "id": node_id(kind, parents, payload, fields.get("resourceKey")),
                "kind": kind,
                "parents": parents,
                "payload": payload,
                "createdAt": AT,
                "sequence": len(self.nodes) + 1,
                **fields,
            }
            self.nodes.append(node)
            added.append(copy_of(node))
        if added:
            self.frontier = [added[-1]["id"]]
        return added

    def entry(self, kind: str, **fields: Any) -> dict[str, Any]:
        number = len(self.records)
        record = {"type": kind, "id": f"{number:016x}", "parentId": self.leaf, "timestamp": AT, **fields}
        self.records.append(record)
        return record

    def bootstrap(
        self, *kinds: str, usage_history: list[Any] | None = None, state: bool = True
    ) -> LogBuilder:
        history = usage_history or []
        if state:
            self.new_nodes(*kinds)
            self.entry("bootstrap", state=self.state(), usageHistory=history)
            self._revision("bootstrap")
        else:
            self.entry("bootstrap", usageHistory=history)
        kinds_there = [node["kind"] for node in self.nodes] if state else []
        self.turn_count += kinds_there.count("answer")
        messages = kinds_there.count("goal") + kinds_there.count("answer") + 2 * self.failed
        turns = [record["turn"] for record in history]
        self.interactions = max([self.interactions, -(-messages // 2), *turns])
        return self

    def turn(self, *kinds: str, **fields: Any) -> LogBuilder:
        self.interactions += 1
        self.turn_count += 1
        added = self.new_nodes(*kinds, **fields)
        record = self.entry(
            "turn_commit",
            turn=self.interactions,
            runId="sw_1",
            input="question",
            finalAnswer="reply",
            newNodes=added,
            frontier=list(self.frontier),
            stateHash=hash_of(self.state()),
            metadata=copy_of(METADATA),
        )
        self._revision("turn_commit")
        self.leaf = record["id"]
        return self

    def fail(self, **fields: Any) -> LogBuilder:
        self.interactions += 1
        self.failed += 1
        self.entry("run_error", turn=self.interactions, input="question", error="503", **fields)
        return self

    def checkpoint(self, *kinds: str) -> LogBuilder:
        """A checkpoint of the state there; with kinds, one that brings in a state of such nodes."""
        self.new_nodes(*kinds)
        state = self.state()
        self.entry(
            "checkpoint",
            turnCount=self.turn_count,
            interactionCount=self.interactions,
            state=state,
            stateHash=hash_of(state),
        )
        if not self.has_state:
            self._revision("checkpoint")
        return self

    def _revision(self, kind: str) -> None:
        self.has_state = True
        self.revisions.append((kind, len(self.nodes), list(self.frontier), hash_of(self.state())))

    def data(self) -> bytes:
        return "".join(text_of(record) + "\n" for record in self.records).encode()


def two_turns() -> LogBuilder:
    return LogBuilder().turn("system", "goal", "answer").turn("goal", "answer")


def corrupt(data: bytes) -> SessionLogError:
    with pytest.raises(SessionLogError) as caught:
        read_session_log(data)
    return caught.value


def corruption(log: LogBuilder) -> tuple[str, int]:
    error = corrupt(log.data())
    return error.rule, error.line


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


class TestParent:
    def test_each_entry_extends_the_last_turn(self):
        log = two_turns().fail().checkpoint().fail().turn("goal")
        assert [record["parentId"] for record in log.records[3:]] == [f"{2:016x}"] * 4
        assert read_session_log(log.data()).current_turn_id == f"{6:016x}"

    @pytest.mark.parametrize("index", [3, 4, 5, 6])
    @pytest.mark.parametrize("parent", [None, f"{1:016x}", f"{99:016x}"])
    def test_another_parent_is_refused(self, index, parent):
        log = two_turns().fail().checkpoint().fail().turn("goal")
        log.records[index]["parentId"] = parent
        assert corruption(log) == ("parent", index + 1)

    @pytest.mark.parametrize("index", [1, 2, 3, 4, 5])
    def test_before_the_first_turn_there_is_no_parent(self, index):
        log = LogBuilder().fail().bootstrap("goal").checkpoint().fail().turn("goal")
        assert len(read_session_log(log.data()).revisions) == 2
        log.records[index]["parentId"] = f"{1:016x}"
        assert corruption(log) == ("parent", index + 1)

    def test_an_entry_that_is_no_turn_is_nobodys_parent(self):
        log = two_turns().fail().turn("goal")
        log.records[4]["parentId"] = log.records[3]["id"]
        assert corruption(log) == ("parent", 5)


class TestTurn:
    @pytest.mark.parametrize("index", [1, 2, 3, 5])
    @pytest.mark.parametrize("step", [-1, 1, -100, 100])
    def test_each_interaction_has_the_next_number(self, index, step):
        log = LogBuilder().turn("goal").fail().turn("goal").checkpoint().fail()
        log.records[index]["turn"] += step
        assert corruption(log) == ("turn", index + 1)

    def test_failed_runs_count_as_interactions_and_not_as_turns(self):
        log = LogBuilder().fail().turn("goal", "answer", "answer").fail().fail().turn("goal")
        read = read_session_log(log.data())
        assert (read.turn_count, read.interaction_count) == (2, 5)
        assert [revision.turn for revision in read.revisions] == [2, 5]
        assert [(failure.turn, failure.revision) for failure in read.failures] == [(1, 0), (3, 1), (4, 1)]


class TestBootstrap:
    @pytest.mark.parametrize(
        ("failed", "kinds", "usage_turns", "turns", "interactions"),
        [
            (0, [], [], 0, 0),
            (0, ["goal"], [], 0, 1),
            (0, ["goal", "answer"], [], 1, 1),
            (0, ["goal", "answer", "goal"], [], 1, 2),
            (0, ["answer", "answer", "answer"], [], 3, 2),
            (0, ["goal", "answer"], [7, 2], 1, 7),
            (0, ["goal"] * 5, [2], 0, 3),
            (2, [], [], 0, 2),
            (2, [], [1], 0, 2),
            (2, [], [3], 0, 3),
            (3, ["goal", "tool_call", "tool_result", "answer"], [], 1, 4),
            (3, ["system", "goal", "answer", "goal"], [4], 1, 5),
            (1, ["goal", "answer"], [9], 1, 9),
            (4, ["system", "inference"], [2], 0, 4),
        ],
    )
    def test_its_counters(self, failed, kinds, usage_turns, turns, interactions):
        log = LogBuilder()
        for _ in range(failed):
            log.fail()
        log.bootstrap(*kinds, usage_history=[usage(turn) for turn in usage_turns])
        read = read_session_log(log.data())
        assert (read.turn_count, read.interaction_count) == (turns, interactions)
        read = read_session_log(log.turn("goal").data())
        assert (read.turn_count, read.interaction_count) == (turns + 1, interactions + 1)
        assert read.revisions[-1].turn == interactions + 1

    def test_without_a_state_it_is_no_revision(self):
        read = read_session_log(LogBuilder().bootstrap(state=False, usage_history=[usage(3)]).data())
        assert (read.revisions, read.state, read.interaction_count) == ([], None, 3)
        assert read.usage_history == [usage(3)]

    def test_an_empty_state_is_a_state(self):
        read = read_session_log(LogBuilder().bootstrap().data())
        assert [(revision.kind, revision.nodes) for revision in read.revisions] == [("bootstrap", [])]
        assert read.state is not None
        assert read.state.to_dict() == {"version": 1, "nodes": [], "frontier": []}
        assert read.revisions[0].state_hash == hash_of(read.state.to_dict())

    def test_there_is_one(self):
        assert corruption(LogBuilder().bootstrap("goal").bootstrap()) == ("bootstrap", 3)
        assert corruption(LogBuilder().bootstrap(state=False).fail().bootstrap("goal")) == ("bootstrap", 4)

    @pytest.mark.parametrize("state", [True, False])
    def test_it_stands_before_any_turn(self, state):
        log = LogBuilder().turn("goal").bootstrap(state=state)
        assert corruption(log) == ("bootstrap", 3)
        log.records[2]["parentId"] = None
        assert corruption(log) == ("bootstrap", 3)

    def test_its_state_may_extend_the_one_that_a_checkpoint_brought_in(self):
        log = LogBuilder().checkpoint("goal", "answer").bootstrap("goal", "answer").turn("goal")
        read = read_session_log(log.data())
        assert [(revision.kind, len(revision.nodes)) for revision in read.revisions] == [
            ("checkpoint", 2), ("bootstrap", 2), ("turn_commit", 1),
        ]  # fmt: skip
        assert (read.turn_count, read.interaction_count) == (3, 3)
        assert read.state is not None
        assert read.state.to_dict() == log.state()

    def test_its_state_does_not_replace_the_one_that_a_checkpoint_brought_in(self):
        log = LogBuilder().checkpoint("goal", "answer")
        other = LogBuilder().bootstrap("system", "goal", "answer").records[1]
        log.records.append({**other, "id": f"{2:016x}"})
        assert corruption(log) == ("bootstrap", 3)
        shorter = LogBuilder().bootstrap("goal").records[1]
        log.records[2] = {**shorter, "id": f"{2:016x}"}
        assert corruption(log) == ("bootstrap", 3)


class TestState:
    def test_the_state_is_what_the_turns_add_up_to(self):
        log = LogBuilder().bootstrap("system", "goal", "answer").turn("goal", "answer").turn().turn("goal")
        read = read_session_log(log.data())
        assert [len(revision.nodes) for revision in read.revisions] == [3, 2, 0, 1]
        assert read.state is not None
        assert read.state.to_dict() == log.state()
        assert validate(read.state.to_json()) == []

    def test_unknown_fields_of_a_node_and_times_are_kept(self):
        log = LogBuilder().turn("goal", createdAt="2026-05-01", note={"b": 1, "a": [None]}).turn("answer")
        read = read_session_log(log.data())
        assert read.revisions[0].nodes[0].extra == {"note": {"b": 1, "a": [None]}}
        assert read.state is not None
        assert read.state.to_dict() == log.state()

    @pytest.mark.parametrize(
        ("change", "violated"),
        [
            (lambda entry: entry["newNodes"][0].update(id="cw_0"), "identity"),
            (lambda entry: entry["newNodes"][0].update(payload="other"), "identity"),
            (lambda entry: entry["newNodes"][0].update(sequence=1), "sequence"),
            (lambda entry: entry["newNodes"][0].update(kind="note"), "kind"),
            (lambda entry: entry["newNodes"][0].update(createdAt="soon"), "created_at"),
            (lambda entry: entry["newNodes"][0].update(resourceKey=None), "resource_key"),
            (lambda entry: entry["newNodes"][0].update(parents=["cw_unknown"]), "parents"),
            (lambda entry: entry["newNodes"][0].update(payload=[1e999]), "payload"),
            (lambda entry: entry["newNodes"][0].update(further=-1e999), "payload"),
            (lambda entry: entry["newNodes"][0].pop("payload"), "shape"),
            (lambda entry: entry["newNodes"].insert(0, None), "shape"),
            (lambda entry: entry["newNodes"].append(entry["newNodes"][0]), "duplicate_id"),
            (lambda entry: entry["newNodes"].reverse(), "parents"),
            (lambda entry: entry["frontier"].append("cw_unknown"), "frontier"),
            (lambda entry: entry["frontier"].append(entry["frontier"][0]), "frontier"),
            (lambda entry: entry["frontier"].append(None), "frontier"),
        ],
    )
    def test_every_import_rule_holds_after_every_turn(self, change, violated):
        log = LogBuilder().turn("system").turn("goal", "answer").turn("goal")
        change(log.records[2])
        error = corrupt(log.data())
        assert (error.rule, error.line) == ("state", 3)
        assert violated in {violation.rule for violation in error.violations}
        assert all(violation.path.startswith(("$.newNodes", "$.frontier")) for violation in error.violations)

    def test_a_node_that_was_there_before_is_not_new(self):
        log = LogBuilder().turn("system", "goal").turn("answer")
        log.records[2]["newNodes"][0] = {**log.records[1]["newNodes"][1], "sequence": 3}
        error = corrupt(log.data())
        assert (error.rule, error.line) == ("state", 3)
        assert "duplicate_id" in {violation.rule for violation in error.violations}

    @pytest.mark.parametrize("kind", ["bootstrap", "checkpoint"])
    @pytest.mark.parametrize(
        ("change", "path"),
        [
            (lambda state: state.update(version=2), "$.state.version"),
            (lambda state: state.update(version=True), "$.state.version"),
            (lambda state: state.pop("nodes"), "$.state.nodes"),
            (lambda state: state.update(further=1), "$.state.further"),
            (lambda state: state["nodes"][1].update(payload="other"), "$.state.nodes[1].id"),
            (lambda state: state["nodes"][1].update(payload=1e999), "$.state.nodes[1].payload"),
            (lambda state: state["frontier"].append("cw_unknown"), "$.state.frontier[1]"),
        ],
    )
    def test_a_state_brought_in_holds_every_import_rule(self, kind, change, path):
        log = LogBuilder()
        (log.bootstrap if kind == "bootstrap" else log.checkpoint)("goal", "answer")
        change(log.records[1]["state"])
        error = corrupt(log.data())
        assert (error.rule, error.line) == ("state", 2)
        assert [violation.path for violation in error.violations] == [path]

    def test_a_long_list_of_violations_is_told_in_one_line(self):
        log = LogBuilder().turn(*["goal"] * 50)
        for node in log.records[1]["newNodes"]:
            node["kind"] = "note"
        error = corrupt(log.data())
        assert len(error.violations) == 100
        assert "and 99 more" in str(error)
        assert "\n" not in str(error)


class TestStateHash:
    @pytest.mark.parametrize(
        ("payload", "as_javascript_writes_it"),
        [
            ('{"b":1,"10":2,"9":3,"a":4}', '{"9":3,"10":2,"b":1,"a":4}'),
            ("[1.0,1e21,-0.0,1.50]", "[1,1e+21,0,1.5]"),
            ("9007199254740993", "9007199254740992"),
            (r'"\ud800 \u0041 \/ \u001F"', r'"\ud800 A / \u001f"'),
            ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
            ('"é 最大 \U0001f600"', '"é 最大 \U0001f600"'),
        ],
    )
    def test_it_is_over_the_text_that_javascript_writes(self, payload, as_javascript_writes_it):
        log = LogBuilder()
        node = log.turn("goal", payload=json.loads(payload)).records[1]["newNodes"][0]
        line = text_of({**log.records[1], "newNodes": ["NODE"]}).replace(
            '"NODE"', text_of({**node, "payload": 0})
        )
        line = line.replace('"payload":0', f'"payload":{payload}').replace('"sequence":1', '"sequence":1.0')
        state = (
            f'{{"version":1,"nodes":[{{"id":"{node["id"]}","kind":"goal","parents":[],'
            f'"payload":{as_javascript_writes_it},"createdAt":"{AT}","sequence":1}}],"frontier":["{node["id"]}"]}}'
        )
        digest = hashlib.sha256(state.encode()).hexdigest()
        line = line.replace(log.records[1]["stateHash"], digest)
        read = read_session_log(f"{text_of(HEADER)}\n{line}\n".encode())
        assert read.revisions[0].state_hash == digest

    @pytest.mark.parametrize(
        "change",
        [
            lambda entry: entry.update(stateHash="0" * 64),
            lambda entry: entry.update(stateHash=entry["stateHash"].upper()),
            lambda entry: entry.update(stateHash=""),
            lambda entry: entry["frontier"].clear(),
            lambda entry: entry["newNodes"][0].update(createdAt="2026-05-02"),
            lambda entry: entry["newNodes"][0].update(note=None),
            lambda entry: entry["newNodes"].__setitem__(1, dict(sorted(entry["newNodes"][1].items()))),
        ],
    )
    def test_what_changes_the_text_changes_the_hash(self, change):
        log = LogBuilder().turn("system").turn("goal", "answer").turn("goal")
        change(log.records[2])
        assert corruption(log) == ("state_hash", 3)

    @pytest.mark.parametrize("prepare", [LogBuilder, lambda: LogBuilder().turn("goal", "answer")])
    def test_a_checkpoint_has_the_hash_of_its_own_state(self, prepare):
        log = prepare().checkpoint()
        log.records[-1]["stateHash"] = "0" * 64
        assert corruption(log) == ("state_hash", len(log.records))


class TestCheckpoint:
    def test_it_adds_nothing_where_there_is_a_state(self):
        with_checkpoints = (
            LogBuilder().bootstrap("goal", "answer").checkpoint().turn("goal").checkpoint().checkpoint()
        )
        read = read_session_log(with_checkpoints.data())
        assert [revision.kind for revision in read.revisions] == ["bootstrap", "turn_commit"]
        assert read.state is not None
        assert read.state.to_dict() == with_checkpoints.state()

    def test_it_brings_a_state_in_where_there_is_none(self):
        log = LogBuilder().fail().checkpoint("goal", "answer", "goal").fail().turn("answer").checkpoint()
        read = read_session_log(log.data())
        assert [(revision.kind, revision.line, len(revision.nodes)) for revision in read.revisions] == [
            ("checkpoint", 3, 3), ("turn_commit", 5, 1),
        ]  # fmt: skip
        assert read.revisions[0].turn is None
        assert read.revisions[0].metadata is None
        assert (read.turn_count, read.interaction_count) == (1, 3)
        assert [failure.revision for failure in read.failures] == [0, 1]
        assert read.state is not None
        assert read.state.to_dict() == log.state()

    def test_a_bootstrap_without_a_state_leaves_it_to_bring_one_in(self):
        log = LogBuilder().bootstrap(state=False, usage_history=[usage(2)]).checkpoint("goal")
        read = read_session_log(log.data())
        assert [revision.kind for revision in read.revisions] == ["checkpoint"]
        assert (read.turn_count, read.interaction_count) == (0, 2)

    def test_an_empty_state_is_one_that_it_must_equal(self):
        log = LogBuilder().bootstrap().checkpoint()
        assert len(read_session_log(log.data()).revisions) == 1
        assert corruption(LogBuilder().bootstrap().checkpoint("goal")) == ("checkpoint", 3)

    @pytest.mark.parametrize("name", ["turnCount", "interactionCount"])
    @pytest.mark.parametrize("step", [-1, 1])
    @pytest.mark.parametrize(
        "prepare",
        [lambda: LogBuilder().fail(), lambda: LogBuilder().bootstrap("goal", "answer").fail().turn("goal")],
    )
    def test_its_counters_are_the_ones_there(self, name, step, prepare):
        log = prepare().checkpoint()
        log.records[-1][name] += step
        assert corruption(log) == ("checkpoint", len(log.records))

    @pytest.mark.parametrize(
        "change",
        [
            lambda state: state["frontier"].clear(),
            lambda state: state["nodes"][0].update(createdAt="2026-05-02"),
            lambda state: state.update(nodes=state["nodes"][:1], frontier=[]),
        ],
    )
    def test_its_state_is_the_one_there(self, change):
        log = LogBuilder().turn("goal", "answer").checkpoint()
        change(log.records[2]["state"])
        log.records[2]["stateHash"] = hash_of(log.records[2]["state"])
        assert corruption(log) == ("checkpoint", 3)

    def test_states_are_equal_when_javascript_writes_them_alike(self):
        log = LogBuilder().turn("goal", "answer", payload={"a": 1}).checkpoint().turn("goal")
        checkpoint = log.records[2]["state"]
        log.records[2]["state"] = {
            "frontier": checkpoint["frontier"],
            "version": 1.0,
            "nodes": [
                {**node, "sequence": float(node["sequence"]), "payload": {"a": 1.0}}
                for node in checkpoint["nodes"]
            ],
        }
        assert len(read_session_log(log.data()).revisions) == 2


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
