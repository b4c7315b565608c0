"""What a turn promises, on every store."""

from __future__ import annotations

from typing import Any

import pytest

from stateweave_graph.errors import (
    ConflictError,
    InvalidAppendError,
    InvalidRequestError,
    NotFoundError,
    UnknownParentError,
    VocabularyError,
)
from stateweave_graph.model import CausalNode, NodeKind
from stateweave_graph.repository.repository import Repository
from stateweave_graph.testing.fixtures import OpenRepo, RepositoryFixtures
from stateweave_graph.testing.samples import append, story


class TurnContract(RepositoryFixtures):
    """The unit of work: all or nothing, with the parents that the format gives."""

    def test_default_parents_and_payloads(self, repo: Repository) -> None:
        with repo.turn("a", metadata={"run": 1}) as turn:
            assert turn.head is None
            system = turn.system("Be brief.")
            assert (system.parents, repo_frontier(turn)) == ([], [])
            goal = turn.goal("g")
            assert goal.parents == [system.id]
            slip = turn.inference("no action")
            assert slip.parents == sorted([system.id, goal.id])
            error = turn.protocol_error("one action, please")
            assert error.parents == [slip.id]
            call = turn.tool_call("read_file", {"path": "a.txt"}, raw="{}")
            assert call.parents == sorted([system.id, goal.id, slip.id, error.id])
            assert call.payload == {"name": "read_file", "args": {"path": "a.txt"}, "raw": "{}"}
            result = turn.tool_result(call, {"ok": True})
            assert (result.parents, result.payload) == (
                [call.id],
                {"tool": "read_file", "result": {"ok": True}},
            )
            version = turn.resource("a.txt", operation="read", content_hash="ff", bytes=3)
            assert version.parents == [result.id]
            assert version.resource_key == "a.txt"
            assert list(version.payload.items()) == [
                ("path", "a.txt"),
                ("operation", "read"),
                ("contentHash", "ff"),
                ("bytes", 3),
                ("succeeded", True),
            ]
            assert turn.verification({"method": "command"}).parents == [result.id]
            memory = turn.remember("Memory", "The Key", {"n": 1})
            assert memory.parents == [result.id]
            assert memory.resource_key == "semantic:memory:the-key"
            assert memory.payload == {"type": "memory", "key": "the-key", "content": {"n": 1}}
            answer = turn.answer("x")
            assert set(answer.parents) >= {goal.id, call.id, result.id, version.id, memory.id}
            assert turn.remember("memory", "k", 2).parents == [answer.id]
            assert repo_frontier(turn) == [answer.id]
        assert turn.commit is not None
        assert turn.commit.revision == 1
        assert len(turn.commit.added) == 11
        assert repo.load("a").state.nodes[4].payload == call.payload
        call_without_raw = {"name": "x", "args": None}
        with repo.turn("a") as turn:
            assert turn.tool_call("x", None).payload == call_without_raw

    def test_the_system_prompt_is_kept_until_it_changes(self, open_repo: OpenRepo) -> None:
        repo = open_repo()
        with repo.turn("a") as turn:
            first = turn.system("one")
            turn.goal("g")
        for again in (repo, open_repo()):
            with again.turn("a") as turn:
                assert turn.system("one") == first
            assert turn.commit is None
        with repo.turn("a") as turn:
            changed = turn.system("two")
            assert changed.parents == repo.head("a").frontier
            assert repo_frontier(turn) == [changed.id]
            assert turn.system("two") == changed
            goal = turn.goal("next")
            assert goal.parents == [changed.id]
        assert repo.head("a").system_id == changed.id

    def test_a_failed_turn_writes_nothing(self, repo: Repository) -> None:
        with pytest.raises(RuntimeError, match="the model failed"), repo.turn("a") as turn:
            turn.goal("g")
            raise RuntimeError("the model failed")
        with pytest.raises(NotFoundError):
            repo.head("a")
        repo.save("a", story(1), expected_revision=0)
        with pytest.raises(KeyboardInterrupt), repo.turn("a") as turn:
            turn.goal("g")
            raise KeyboardInterrupt
        assert turn.commit is None
        assert repo.load("a").state == story(1)
        with repo.turn("a") as turn:
            turn.goal("g")
        assert repo.head("a").revision == 2

    def test_a_turn_without_appends_is_no_commit(self, repo: Repository) -> None:
        with repo.turn("a") as turn:
            pass
        assert turn.commit is None
        assert repo.agents() == []

    def test_a_conflict_brings_the_appends_along(self, open_repo: OpenRepo) -> None:
        repo = open_repo()
        repo.save("a", story(1), expected_revision=0)
        with pytest.raises(ConflictError) as caught, repo.turn("a") as turn:
            goal = turn.goal("g")
            turn.answer("x")
            open_repo().append("a", [append("goal", "between")], expected_revision=1)
        assert (caught.value.expected, caught.value.actual) == (1, 2)
        assert [one.payload for one in caught.value.appends] == ["g", "x"]
        assert turn.commit is None
        assert repo.head("a").revision == 2
        commit = repo.append("a", caught.value.appends, expected_revision=2)
        assert commit.ids[0] == goal.id

    def test_a_conflict_may_show_while_a_turn_looks_something_up(self, open_repo: OpenRepo) -> None:
        repo = open_repo()
        repo.save("a", story(2), expected_revision=0)
        with pytest.raises(ConflictError) as caught, repo.turn("a") as turn:
            turn.goal("g")
            open_repo().append("a", [append("goal", "between")], expected_revision=1)
            turn.resource("a.txt", operation="write")
        assert caught.value.appends[0].payload == "g"
        assert repo.head("a").revision == 2

    def test_a_turn_from_an_expected_revision(self, repo: Repository) -> None:
        commit = repo.save("a", story(1), expected_revision=0)
        for expected in (0, 2):
            with pytest.raises(ConflictError):
                repo.turn("a", expected_revision=expected).__enter__()
        with repo.turn("a", expected_revision=commit) as turn:
            assert turn.head == repo.head("a")
            turn.goal("g")
        assert turn.commit is not None
        assert turn.commit.revision == 2

    def test_a_turn_on_chosen_heads(self, repo: Repository) -> None:
        repo.append("a", [append("goal", "root")], expected_revision=0)
        root = repo.head("a").frontier[0]
        heads = [append("inference", name, [root]) for name in ("left", "right", "middle")]
        left, right, middle = repo.append("a", heads, expected_revision=1).ids
        assert repo.head("a").frontier == [left, right, middle]
        with repo.turn("a", parents=[left]) as turn:
            goal = turn.goal("on the left")
            assert goal.parents == [left]
            assert turn.tool_call("x", {}).parents == [goal.id]
        assert turn.commit is not None
        assert turn.commit.frontier[:2] == [right, middle]
        with repo.turn("a", parents=[right, repo.node("a", middle)]) as turn:
            assert turn.goal("merged").parents == sorted([right, middle])
        assert len(repo.head("a").frontier) == 2
        with pytest.raises(UnknownParentError):
            repo.turn("a", parents=["cw_nowhere"]).__enter__()

    def test_parents_and_times_can_be_given(self, repo: Repository) -> None:
        repo.save("a", story(2), expected_revision=0)
        old = story(2).nodes[3]
        with repo.turn("a") as turn:
            goal = turn.goal("g", parents=[old, old.id], created_at="2020-01-01")
            assert (goal.parents, goal.created_at) == ([old.id], "2020-01-01")
            with pytest.raises(UnknownParentError):
                turn.answer("x", parents=["cw_nowhere"])
            with pytest.raises(InvalidAppendError):
                turn.answer("x", created_at="yesterday")
            with pytest.raises(VocabularyError):
                turn.remember("日本", "k", 1)
            with pytest.raises(VocabularyError, match="100000"):
                turn.remember("memory", "k", "x" * 100_000)
            turn.answer("x", parents=[goal])
        assert turn.commit is not None
        assert len(turn.commit.added) == 2
        assert repo.node("a", goal.id) == goal

    def test_a_result_needs_a_call(self, repo: Repository) -> None:
        with repo.turn("a") as turn:
            goal = turn.goal("g")
            call = turn.tool_call("read", {})
            for wrong in (goal, goal.id):
                with pytest.raises(InvalidRequestError, match="no tool call"):
                    turn.tool_result(wrong, 1)
            turn.tool_result(call.id, 1)
        with repo.turn("a") as turn:
            assert turn.tool_result(call.id, "late").payload["tool"] == "read"
            with pytest.raises(NotFoundError):
                turn.tool_result("cw_nowhere", 1)

    def test_versions_join_the_one_before(self, open_repo: OpenRepo) -> None:
        repo = open_repo()
        repo.save("a", story(3), expected_revision=0)
        newest: CausalNode = repo.resource("a", "a.txt")[0]
        for again in (repo, open_repo()):
            with again.turn("a") as turn:
                turn.goal("g")
                version = turn.resource("a.txt", operation="write", succeeded=again is repo)
                assert newest.id in version.parents
                other = turn.resource("b.txt", operation="write", key=f"key {again is repo}")
                assert other.resource_key == f"key {again is repo}"
            newest = version
        assert repo.resource("a", "a.txt")[0] == version
        assert len(repo.resource("a", "a.txt")) == 5

    def test_a_turn_is_used_in_its_block(self, repo: Repository) -> None:
        turn = repo.turn("a")
        for use in (turn.goal, turn.system, turn.answer):
            with pytest.raises(InvalidRequestError, match="with"):
                use("text")
        with turn:
            turn.goal("g")
        with pytest.raises(InvalidRequestError, match="with"):
            turn.answer("x")
        with pytest.raises(InvalidRequestError, match="once"), turn:
            pass

    def test_an_old_node_is_found_again(self, open_repo: OpenRepo) -> None:
        repo = open_repo()
        with repo.turn("a") as turn:
            turn.goal("g", parents=[], created_at="2020-01-01")
            turn.answer("x")
        for number, again in enumerate((repo, open_repo())):
            with again.turn("a") as turn:
                found = turn.goal("g", parents=[])
                turn.answer(f"answer {number}", parents=[found])
            assert turn.commit is not None
            assert len(turn.commit.added) == 1
            assert turn.commit.ids[0] == found.id
        assert repo.load("a").state.nodes[0].created_at == "2020-01-01"
        assert repo.head("a").node_count == 4


def repo_frontier(turn: Any) -> list[str]:
    """The frontier as the turn has it so far."""
    frontier: list[str] = turn._open().ground.mirror.frontier
    assert all(turn._own[node_id].kind in NodeKind for node_id in frontier if node_id in turn._own)
    return frontier
