"""What a history answers, on every store: time, causes and effects, what was known when."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest

from stateweave_graph.errors import ConflictError, InvalidRequestError, NotFoundError
from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import NodeKind
from stateweave_graph.repository.repository import Repository
from stateweave_graph.results import LogEntry, Moved
from stateweave_graph.testing.fixtures import RepositoryFixtures
from stateweave_graph.testing.import_contract import session_log
from stateweave_graph.testing.samples import append, dense_state, story


class HistoryContract(RepositoryFixtures):
    """Time travel, causality, resources and memory as they were."""

    def test_a_state_at_an_instant(self, repo: Repository) -> None:
        with repo.turn("a") as turn:
            turn.goal("first")
        committed = turn.commit.committed_at if turn.commit else ""
        moment = datetime.strptime(committed, "%Y-%m-%dT%H:%M:%S.%f%z")
        with pytest.raises(NotFoundError, match="no commit was made until"):
            repo.load("a", at=moment - timedelta(milliseconds=1))
        assert repo.load("a", at=moment).revision == 1
        elsewhere = moment.astimezone(timezone(timedelta(hours=9)))
        assert repo.load("a", at=elsewhere).revision == 1
        repo.append("a", [append("goal", "second")], expected_revision=1)
        assert repo.load("a", at=datetime.now(timezone.utc) + timedelta(days=1)).revision == 2
        for bad in (datetime(2026, 9, 1), "2026-09-01", 5):
            with pytest.raises(InvalidRequestError, match="zone"):
                repo.load("a", at=bad)  # type: ignore[arg-type]
        with pytest.raises(InvalidRequestError):
            repo.load("a", at=moment, revision=1)

    def test_imported_times_in_any_order(self, repo: Repository) -> None:
        repo.import_session_log("a", session_log(3))  # all at 2026-09-01T12:00:00Z
        assert repo.load("a", at=datetime(2026, 9, 1, 12, tzinfo=timezone.utc)).revision == 3
        with pytest.raises(NotFoundError):
            repo.load("a", at=datetime(2026, 9, 1, 11, 59, tzinfo=timezone.utc))

    def test_the_log_tells_what_was_added(self, repo: Repository) -> None:
        repo.save("a", story(1), expected_revision=0)
        repo.save("a", story(3), expected_revision=1)
        long = "word " * 100
        with repo.turn("a") as turn:
            turn.goal(long)
            turn.inference({"not": "text"})
        moved = story(3).nodes[0].id
        repo.save("a", repo.load("a").state.model_copy(update={"frontier": [moved]}), expected_revision=3)
        entries = [entry for entry in repo.log("a") if isinstance(entry, LogEntry)]
        assert [entry.kinds for entry in entries[::-1]] == [
            {
                "system": 1,
                "goal": 1,
                "semantic": 1,
                "tool_call": 1,
                "tool_result": 1,
                "resource": 1,
                "answer": 1,
            },
            {"goal": 2, "semantic": 2, "tool_call": 2, "tool_result": 2, "resource": 2, "answer": 2},
            {"goal": 1, "inference": 1},
            {},
        ]
        assert [(entry.goal, entry.answer) for entry in entries[:1:-1]] == [
            ("goal 0", "answer 0"),
            ("goal 2", "answer 2"),
        ]
        assert entries[1].goal is not None
        assert entries[1].goal.startswith("word word")
        assert len(entries[1].goal) == 200
        assert (entries[0].goal, entries[0].answer, entries[1].answer) == (None, None, None)

    def test_a_diff_between_revisions(self, repo: Repository) -> None:
        states = [story(number) for number in (1, 2, 3)]
        for number, state in enumerate(states):
            repo.save("a", state, expected_revision=number)
        diff = repo.diff("a", 1, 3)
        assert [ref.id for ref in diff.added] == [node.id for node in states[2].nodes[len(states[0].nodes) :]]
        assert (diff.left, diff.joined) == (states[0].frontier, states[2].frontier)
        newest = [{node.resource_key: node.id for node in state.nodes} for state in states]
        key = "semantic:memory:count"
        assert diff.resources == [
            Moved(
                resource_key="a.txt",
                type=None,
                key=None,
                before=newest[0]["a.txt"],
                after=newest[2]["a.txt"],
                versions=2,
            )
        ]
        assert [(move.type, move.key, move.before, move.after) for move in diff.memory] == [
            ("memory", "count", newest[0][key], newest[2][key])
        ]
        whole = repo.diff("a", 0, 3)
        assert len(whole.added) == len(states[2].nodes)
        assert (whole.left, whole.resources[0].before, whole.resources[0].versions) == ([], None, 3)
        nothing = repo.diff("a", 2, 2)
        assert (nothing.added, nothing.left, nothing.joined, nothing.resources, nothing.memory) == ([],) * 5
        with pytest.raises(InvalidRequestError):
            repo.diff("a", 3, 1)
        with pytest.raises(NotFoundError):
            repo.diff("a", 1, 4)

    def test_branches(self, repo: Repository) -> None:
        repo.append("a", [append("goal", "root")], expected_revision=0)
        (root,) = repo.heads("a")
        sides = [append("inference", side, [root.id]) for side in ("left", "right")]
        repo.append("a", sides, expected_revision=1)
        left, right = repo.heads("a")
        assert (left.payload, right.payload) == ("left", "right")
        with repo.turn("a", parents=[left]) as turn:
            turn.answer("of the left")
        assert [head.payload for head in repo.heads("a")] == ["right", "of the left"]
        with repo.turn("a", parents=repo.heads("a")) as turn:
            turn.goal("merged")
        assert [head.payload for head in repo.heads("a")] == ["merged"]
        of_the_left = repo.load("a", revision=3).state.nodes[-1]
        assert repo.heads("a")[0].parents == sorted([right.id, of_the_left.id])

    def test_a_fork_is_independent(self, repo: Repository) -> None:
        repo.import_session_log("a", session_log(4, failed_before={1: 1}, failed_after=1))
        head = repo.fork("a", "b", revision=2)
        assert (head.agent_id, head.revision) == ("b", 2)
        assert head.history != repo.head("a").history
        assert repo.load("b").state == repo.load("a", revision=2).state
        assert repo.log("b") == repo.log("a", before=3)
        with repo.turn("b") as turn:
            turn.resource("a.txt", operation="write")
        assert (len(repo.resource("b", "a.txt")), len(repo.resource("a", "a.txt"))) == (3, 4)
        assert repo.fork("a", "c").revision == 4
        repo.delete("a")
        assert repo.load("c").state == story(4)
        with pytest.raises(ConflictError):
            repo.fork("b", "c")
        with pytest.raises(NotFoundError):
            repo.fork("a", "d")
        with pytest.raises(NotFoundError):
            repo.fork("b", "d", revision=9)

    def test_lineage_to_a_depth_and_of_kinds(self, repo: Repository) -> None:
        state = dense_state(60, 8)
        repo.save("a", state, expected_revision=0)
        graph = CausalMirror(state).graph
        order = {node.id: node.sequence for node in state.nodes}
        for node in (state.nodes[5], state.nodes[30], state.nodes[-1]):
            for depth in (1, 2, 3, 50):
                above = nx.single_source_shortest_path_length(graph, node.id, cutoff=depth)
                below = nx.single_source_shortest_path_length(
                    graph.reverse(copy=False), node.id, cutoff=depth
                )
                for found, expected in (
                    (repo.lineage("a", node.id, depth=depth).ids, above),
                    (repo.impact("a", node.id, depth=depth).ids, below),
                ):
                    assert found == sorted(expected.keys() - {node.id}, key=order.__getitem__)
        repo.save("b", story(3), expected_revision=0)
        last = story(3).nodes[-1].id
        chosen = repo.lineage("b", last, kinds=["goal", NodeKind.TOOL_RESULT])
        assert {ref.kind for ref in chosen} == {NodeKind.GOAL, NodeKind.TOOL_RESULT}
        assert len(repo.impact("b", story(3).nodes[1].id, kinds=["answer"])) == 3
        for bad in ({"depth": 0}, {"depth": True}, {"kinds": ["nothing"]}):
            with pytest.raises(InvalidRequestError):
                repo.lineage("b", last, **bad)

    def test_shortest_paths_against_networkx(self, repo: Repository) -> None:
        state = dense_state(60, 6)
        repo.save("a", state, expected_revision=0)
        graph = CausalMirror(state).graph
        ids = [node.id for node in state.nodes]
        for first, second in ((0, 59), (59, 0), (10, 50), (30, 31), (7, 7), (20, 58)):
            one, other = ids[first], ids[second]
            chain = [node.id for node in repo.path("a", one, other)]
            effect, cause = (other, one) if first <= second else (one, other)
            if not nx.has_path(graph, effect, cause):
                assert chain == []
                continue
            assert (chain[0], chain[-1]) == (one, other)
            assert len(chain) == nx.shortest_path_length(graph, effect, cause) + 1
            steps = chain if first >= second else chain[::-1]
            assert all(graph.has_edge(*step) for step in pairwise(steps))
        repo.append("b", [append("goal", "one", []), append("goal", "other", [])], expected_revision=0)
        one, other = (node.id for node in repo.load("b").state.nodes)
        assert repo.path("b", one, other) == []

    def test_why_and_what_was_known(self, repo: Repository) -> None:
        state = story(3)
        repo.save("a", state, expected_revision=0)
        answer = state.nodes[-1]
        why = repo.why("a", answer.id)
        assert why.node == answer
        below = {ref.id for ref in repo.lineage("a", answer.id)}
        for group, kinds in (
            (why.goals, {"goal"}),
            (why.tool_results, {"tool_result"}),
            (why.resources, {"resource"}),
            (why.memory, {"semantic"}),
        ):
            expected = [node for node in state.nodes[::-1] if node.kind.value in kinds and node.id in below]
            assert group == expected
        middle = next(node for node in state.nodes if node.payload == "answer 1")
        known = repo.known_at("a", middle.id)
        assert {key: node.payload["turn"] for key, node in known.resources.items()} == {"a.txt": 1}
        assert [(memory.content, memory.versions) for memory in known.memory] == [(1, 2)]
        first = repo.known_at("a", state.nodes[0].id)
        assert (first.resources, first.memory) == ({}, [])

    def test_versions_have_the_action_that_made_them(self, repo: Repository) -> None:
        repo.save("a", story(2), expected_revision=0)
        with repo.turn("a") as turn:
            goal = turn.goal("g")
            turn.resource("a.txt", operation="write", parents=[goal])
            call = turn.tool_call("edit", {})
            turn.tool_result(call, {"ok": True})
            turn.resource("a.txt", operation="write", bytes=1)
        found = repo.resource("a", "a.txt")
        assert [version.version for version in found] == [4, 3, 2, 1]
        actions = [version.action for version in found]
        assert actions[0] == call
        assert actions[1] is None
        assert [action.payload["turn"] for action in actions[2:] if action] == [1, 0]
        assert all(repo.node("a", version.id) == version for version in found)

    def test_memory_as_it_was(self, repo: Repository) -> None:
        for number in (1, 2, 3):
            repo.save("a", story(number), expected_revision=number - 1)
        with repo.turn("a") as turn:
            turn.remember("preference", "Hotel Style", "quiet")
        now: list[Any] = [(memory.key, memory.content, memory.versions) for memory in repo.memory("a")]
        assert now == [("count", 2, 3), ("hotel-style", "quiet", 1)]
        then = [(memory.key, memory.content, memory.versions) for memory in repo.memory("a", at_revision=2)]
        assert then == [("count", 1, 2)]
        assert [memory.content for memory in repo.memory("a", key="Hotel style")] == ["quiet"]
        assert [node.payload["content"] for node in repo.memory_history("a", "Memory", "Count")] == [2, 1, 0]
        assert set(repo.resources("a")) == {
            "a.txt",
            "semantic:memory:count",
            "semantic:preference:hotel-style",
        }
        assert repo.resources("a")["a.txt"] == repo.resource("a", "a.txt")[0]
        for missing in (
            lambda: repo.memory("a", at_revision=9),
            lambda: repo.memory_history("a", "memory", "x"),
        ):
            with pytest.raises(NotFoundError):
                missing()
