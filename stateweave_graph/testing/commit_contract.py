"""What a repository promises about commits, on every store."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from stateweave_graph.errors import (
    CommitIdReusedError,
    ConflictError,
    DivergedError,
    InvalidAppendError,
    InvalidRequestError,
    NotFoundError,
    UnknownParentError,
)
from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import AgentState, Append
from stateweave_graph.repository.repository import Repository
from stateweave_graph.repository.requests import ANY_REVISION
from stateweave_graph.repository.retry import retry_on_conflict
from stateweave_graph.results import LogEntry
from stateweave_graph.testing.fixtures import OpenRepo, RepositoryFixtures
from stateweave_graph.testing.samples import append, dense_state, hostile_state, story


class CommitContract(RepositoryFixtures):
    """Saving, appending, compare-and-set, commit ids, and many writers at once."""

    @pytest.mark.parametrize(
        "state", [story(3), hostile_state(), dense_state(60, 20)], ids=["story", "hostile", "dense"]
    )
    def test_what_is_saved_is_loaded_to_the_letter(self, open_repo: OpenRepo, state: AgentState) -> None:
        commit = open_repo().save("a", state, expected_revision=0)
        stored = open_repo().load("a")
        assert stored.state.to_json() == state.to_json()
        assert (stored.agent_id, stored.revision, stored.history) == ("a", 1, commit.history)
        assert commit.added == commit.ids == [node.id for node in state.nodes]
        assert commit.frontier == state.frontier

    def test_every_revision_is_there_to_be_loaded(self, repo: Repository) -> None:
        states = [prefix(story(4), count) for count in (1, 7, 8, 25)]
        for number, state in enumerate(states):
            assert repo.save("a", state, expected_revision=number).revision == number + 1
        for number, state in enumerate(states, start=1):
            assert repo.load("a", revision=number).state.to_json() == state.to_json()
        for revision in (5, 99):
            with pytest.raises(NotFoundError, match="1 to 4"):
                repo.load("a", revision=revision)

    def test_a_save_writes_what_is_new(self, repo: Repository) -> None:
        repo.save("a", prefix(story(3), 8), expected_revision=0)
        commit = repo.save("a", story(3), expected_revision=1)
        assert commit.added == [node.id for node in story(3).nodes[8:]]
        entry = repo.log("a")[0]
        assert isinstance(entry, LogEntry)
        assert (entry.first_sequence, entry.last_sequence, entry.node_count) == (9, 19, 11)

    def test_a_save_that_changes_nothing_is_no_commit(self, repo: Repository) -> None:
        first = repo.save("a", story(2), expected_revision=0)
        again = repo.save("a", story(2), expected_revision=1)
        assert (again.revision, again.added, again.commit_id) == (1, [], first.commit_id)
        assert len(repo.log("a")) == 1

    def test_a_frontier_that_moves_is_a_commit(self, repo: Repository) -> None:
        state = story(2)
        repo.save("a", state, expected_revision=0)
        moved = state.model_copy(update={"frontier": [state.nodes[3].id, state.nodes[1].id]})
        commit = repo.save("a", moved, expected_revision=1)
        assert (commit.revision, commit.added, commit.frontier) == (2, [], moved.frontier)
        assert repo.load("a").state.frontier == moved.frontier
        assert repo.load("a", revision=1).state.frontier == state.frontier

    def test_an_empty_state_is_an_agent(self, repo: Repository) -> None:
        empty = AgentState(version=1, nodes=[], frontier=[])
        assert repo.save("a", empty, expected_revision=0).revision == 1
        assert repo.load("a").state == empty
        assert repo.append("a", [append("goal", "g")], expected_revision=1).revision == 2

    def test_a_snapshot_that_is_shorter_diverges(self, repo: Repository) -> None:
        repo.save("a", story(2), expected_revision=0)
        for expected in (1, ANY_REVISION):
            with pytest.raises(DivergedError) as caught:
                repo.save("a", story(1), expected_revision=expected)
            assert caught.value.sequence is None
        assert repo.head("a").revision == 1

    def test_the_first_node_that_differs_is_named(self, repo: Repository) -> None:
        repo.save("a", story(2), expected_revision=0)
        for field, value in (("createdAt", "2026-01-01"), ("note", "mine")):
            wire = story(3).to_dict()
            wire["nodes"][4][field] = value
            wire["nodes"][6][field] = value
            with pytest.raises(DivergedError) as caught:
                repo.save("a", AgentState.model_validate(wire), expected_revision=1)
            assert caught.value.sequence == 5
            assert caught.value.agent_id == "a"
            assert value in str(caught.value.given)
        other = CausalMirror(prefix(story(2), 3))
        other.append(append("answer", "something else"))
        with pytest.raises(DivergedError) as caught:
            repo.save("a", other.state(), expected_revision=ANY_REVISION)
        assert (caught.value.sequence, caught.value.stored) == (4, story(2).nodes[3].id)
        assert repo.load("a").state == story(2)

    def test_another_spelling_of_a_node_is_the_same_node(self, repo: Repository) -> None:
        mirror = CausalMirror()
        mirror.append(append("goal", {"b": 1, "a": 2.0}))
        wire = mirror.state().to_dict()
        wire["nodes"][0]["note"] = {"y": 1, "x": 2}
        repo.save("a", AgentState.model_validate(wire), expected_revision=0)
        first = repo.load("a").state.to_json()
        wire["nodes"][0]["payload"] = {"a": 2, "b": 1.0}
        wire["nodes"][0]["note"] = {"x": 2.0, "y": 1}
        assert repo.save("a", AgentState.model_validate(wire), expected_revision=1).revision == 1
        assert repo.load("a").state.to_json() == first
        longer = CausalMirror(AgentState.model_validate(wire))
        longer.append(append("answer", "ok"))
        assert repo.save("a", longer.state(), expected_revision=1).revision == 2
        assert repo.load("a", revision=1).state.to_json() == first

    def test_compare_and_set(self, repo: Repository) -> None:
        goal = [append("goal", "g")]
        with pytest.raises(ConflictError) as caught:
            repo.append("a", goal, expected_revision=1)
        assert (caught.value.agent_id, caught.value.expected, caught.value.actual) == ("a", 1, 0)
        with pytest.raises(NotFoundError):
            repo.head("a")
        repo.append("a", goal, expected_revision=0)
        for expected in (0, 2, 7):
            with pytest.raises(ConflictError) as caught:
                repo.append("a", [append("answer", "x")], expected_revision=expected)
            assert (caught.value.expected, caught.value.actual) == (expected, 1)
            with pytest.raises(ConflictError):
                repo.save("a", story(1), expected_revision=expected)
        assert repo.append("a", [append("answer", "x")], expected_revision=ANY_REVISION).revision == 2
        assert repo.append("b", goal, expected_revision=ANY_REVISION).revision == 1

    def test_what_was_given_back_pins_the_history(self, repo: Repository) -> None:
        commit = repo.save("a", story(1), expected_revision=0)
        head, stored = repo.head("a"), repo.load("a")
        assert head.history == stored.history == commit.history
        repo.delete("a")
        repo.save("a", story(1), expected_revision=0)
        for expected in (commit, head, stored):
            with pytest.raises(ConflictError, match="another history"):
                repo.append("a", [append("goal", "g")], expected_revision=expected)
            with pytest.raises(ConflictError):
                repo.turn("a", expected_revision=expected).__enter__()
        assert repo.append("a", [append("goal", "g")], expected_revision=repo.head("a")).revision == 2

    @pytest.mark.parametrize("expected", [None, True, -1, "1", 1.0])
    def test_what_is_no_revision_is_refused(self, repo: Repository, expected: Any) -> None:
        with pytest.raises(InvalidRequestError, match="expected_revision"):
            repo.append("a", [append("goal", "g")], expected_revision=expected)

    def test_a_revision_of_another_agent_is_refused(self, repo: Repository) -> None:
        other = repo.save("b", story(1), expected_revision=0)
        with pytest.raises(InvalidRequestError, match="'b'"):
            repo.append("a", [append("goal", "g")], expected_revision=other)

    def test_the_same_request_is_done_once(self, open_repo: OpenRepo) -> None:
        appends = [append("goal", "g"), append("answer", "x")]
        first = open_repo().append("a", appends, expected_revision=0, commit_id="c", metadata={"run": 1})
        open_repo().append("a", [append("goal", "later")], expected_revision=1)
        for expected in (0, 1, 2, ANY_REVISION):
            again = open_repo().append(
                "a", appends, expected_revision=expected, commit_id="c", metadata={"run": 1}
            )
            assert again.replayed
            assert again.model_copy(update={"replayed": False}) == first
        assert open_repo().head("a").revision == 2

    def test_a_saved_snapshot_is_done_once(self, open_repo: OpenRepo) -> None:
        first = open_repo().save("a", story(1), expected_revision=0, commit_id="c")
        open_repo().save("a", story(2), expected_revision=1)
        again = open_repo().save("a", story(1), expected_revision=0, commit_id="c")
        assert (again.replayed, again.revision, again.added) == (True, 1, first.added)

    def test_ids_of_old_nodes_are_replayed_too(self, open_repo: OpenRepo) -> None:
        repo = open_repo()
        goal = repo.append("a", [append("goal", "g", [])], expected_revision=0).ids[0]
        appends = [append("goal", "g", []), append("answer", "x"), append("goal", "g", [])]
        first = repo.append("a", appends, expected_revision=1, commit_id="c")
        assert first.ids == [goal, first.added[0], goal]
        again = open_repo().append("a", appends, expected_revision=1, commit_id="c")
        assert (again.ids, again.added, again.frontier) == (first.ids, first.added, first.frontier)

    def test_another_request_with_the_same_id_is_refused(self, repo: Repository) -> None:
        repo.append("a", [append("goal", "g")], expected_revision=0, commit_id="c", metadata={"n": 1})
        for appends, metadata in (
            ([append("goal", "other")], {"n": 1}),
            ([append("goal", "g")], {"n": 2}),
            ([append("goal", "g")], None),
            ([append("goal", "g", [])], {"n": 1}),
            ([append("goal", "g", advance=False)], {"n": 1}),
            ([append("goal", "g", resource_key="k")], {"n": 1}),
            ([append("goal", "g"), append("goal", "g")], {"n": 1}),
        ):
            with pytest.raises(CommitIdReusedError) as caught:
                repo.append("a", appends, expected_revision=1, commit_id="c", metadata=metadata)
            assert (caught.value.commit_id, caught.value.revision) == ("c", 1)
        with pytest.raises(CommitIdReusedError):
            repo.save("a", story(1), expected_revision=1, commit_id="c", metadata={"n": 1})
        later = [Append(kind="goal", payload="g", created_at="2020-01-01")]
        assert repo.append("a", later, expected_revision=9, commit_id="c", metadata={"n": 1}).replayed

    def test_a_turn_said_twice_is_done_once(self, open_repo: OpenRepo) -> None:
        def play(repo: Repository) -> Any:
            with repo.turn("a", commit_id="turn-1") as turn:
                turn.system("Be brief.")
                goal = turn.goal("g")
                call = turn.tool_call("read", {"path": "a"})
                turn.tool_result(call, {"ok": True})
                turn.answer("x", parents=[goal, call])
            return turn.commit

        first = play(open_repo())
        open_repo().append("a", [append("goal", "later")], expected_revision=1)
        again = play(open_repo())
        assert (again.replayed, again.revision, again.ids) == (True, 1, first.ids)
        with pytest.raises(CommitIdReusedError), open_repo().turn("a", commit_id="turn-1") as turn:
            turn.goal("g")

    def test_appends_on_a_repository_are_appends_on_a_mirror(self, open_repo: OpenRepo) -> None:
        """Whether a repository is warm or cold, and however the appends are cut into commits."""
        appends = [
            append("system", "s", advance=False),
            append("goal", "g"),
            append("resource", 1, resource_key="k"),
            append("resource", 2, [], resource_key="k"),
            append("semantic", 3, resource_key="m", advance=False),
            append("goal", "g", []),
            append("resource", 1, resource_key="k"),
            append("goal", "g", []),
            append("answer", "x"),
        ]
        mirror = CausalMirror()
        expected = [mirror.append(one).id for one in appends]
        warm = open_repo()
        for number, one in enumerate(appends):
            assert warm.append("warm", [one], expected_revision=ANY_REVISION).ids == [expected[number]]
            assert open_repo().append("cold", [one], expected_revision=ANY_REVISION).ids == [expected[number]]
        assert open_repo().append("whole", appends, expected_revision=0).ids == expected
        open_repo().append("halves", appends[:4], expected_revision=0)
        assert open_repo().append("halves", appends[4:], expected_revision=1).ids == expected[4:]
        for agent in ("warm", "cold", "whole", "halves"):
            assert open_repo().load(agent).state == mirror.state()
            assert open_repo().mirror(agent).resource_heads == mirror.resource_heads

    def test_parents_may_be_ids_of_old_nodes_and_earlier_appends(self, repo: Repository) -> None:
        old = repo.append("a", [append("goal", "g"), append("answer", "x")], expected_revision=0).ids[0]
        first = append("inference", 1, [old])
        commit = repo.append("a", [first, append("inference", 2, [first, old])], expected_revision=1)
        assert repo.node("a", commit.ids[1]).parents == sorted([old, commit.ids[0]])

    def test_an_unknown_parent_is_refused_and_nothing_written(self, repo: Repository) -> None:
        repo.append("a", [append("goal", "g")], expected_revision=0)
        with pytest.raises(UnknownParentError) as caught:
            repo.append(
                "a", [append("goal", "new"), append("answer", 1, ["cw_nowhere"])], expected_revision=1
            )
        assert caught.value.parents == ["cw_nowhere"]
        with pytest.raises(UnknownParentError):
            repo.append("b", [append("answer", 1, ["cw_nowhere"])], expected_revision=0)
        assert [agent.agent_id for agent in repo.agents()] == ["a"]
        assert repo.head("a").node_count == 1
        assert repo.append("a", [append("answer", "y")], expected_revision=1).revision == 2

    def test_no_appends_are_no_commit(self, repo: Repository) -> None:
        with pytest.raises(NotFoundError):
            repo.append("a", [], expected_revision=0)
        first = repo.append("a", [append("goal", "g", [])], expected_revision=0)
        for appends in ([], [append("goal", "g", [])]):
            commit = repo.append("a", appends, expected_revision=1)
            assert (commit.revision, commit.commit_id, commit.added) == (1, first.commit_id, [])
        assert commit.ids == first.ids
        with pytest.raises(InvalidAppendError):
            repo.append("a", ["goal"], expected_revision=1)  # type: ignore[list-item]

    def test_threads_share_a_repository(self, repo: Repository) -> None:
        repo.append("a", [append("goal", "g")], expected_revision=0)
        won: list[int] = []
        lost: list[ConflictError] = []
        start = threading.Barrier(4)

        def race(worker: int) -> None:
            start.wait()
            for number in range(10):
                head = repo.head("a")
                try:
                    commit = repo.append("a", [append("goal", [worker, number])], expected_revision=head)
                except ConflictError as error:
                    lost.append(error)
                else:
                    won.append(commit.revision)
                    assert repo.node("a", commit.ids[0]).parents == head.frontier

        threads = [threading.Thread(target=race, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(won) == list(range(2, len(won) + 2))
        assert len(won) + len(lost) == 40
        assert repo.head("a").revision == len(won) + 1
        repo.mirror("a").check_order()

    def test_retry_on_conflict_loses_nothing(self, open_repo: OpenRepo) -> None:
        def work(worker: int) -> None:
            repo = open_repo()
            for number in range(8):
                retry_on_conflict(repo, "a", lambda head, n=number: [append("goal", [worker, n])])  # type: ignore[misc]

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        state = open_repo().load("a").state
        assert sorted(node.payload for node in state.nodes) == [[w, n] for w in range(3) for n in range(8)]
        assert open_repo().head("a").revision == 24


def prefix(state: AgentState, count: int) -> AgentState:
    """The first nodes of a state, with the last of them on the frontier."""
    nodes = state.nodes[:count]
    return AgentState(version=1, nodes=nodes, frontier=[nodes[-1].id])
