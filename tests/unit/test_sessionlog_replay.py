"""How records of a session log follow one another: parents, turns, states, hashes, checkpoints."""

from __future__ import annotations

import hashlib
import json

import pytest

from stateweave_graph.sessionlog import read_session_log
from stateweave_graph.validation import validate
from tests.support.sessionlogs import (
    AT,
    HEADER,
    LogBuilder,
    corrupt,
    corruption,
    hash_of,
    text_of,
    two_turns,
    usage,
)


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
