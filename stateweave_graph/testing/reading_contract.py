"""What a repository promises about reading, deleting and names, on every store."""

from __future__ import annotations

from datetime import datetime, timezone
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest

from stateweave_graph.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    UnknownParentError,
    VocabularyError,
)
from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import NodeKind
from stateweave_graph.repository.repository import Repository
from stateweave_graph.results import FailedRun, Head, LogEntry
from stateweave_graph.testing.fixtures import OpenRepo, RepositoryFixtures
from stateweave_graph.testing.samples import append, dense_state, story


class ReadingContract(RepositoryFixtures):
    """Heads, pages, lineage, resources, memory, logs, deleting, names and metadata."""

    def test_what_is_not_there(self, repo: Repository) -> None:
        repo.save("a", story(1), expected_revision=0)
        some = story(1).nodes[0].id
        for missing in (
            lambda: repo.load("b"),
            lambda: repo.head("b"),
            lambda: repo.log("b"),
            lambda: repo.node("b", some),
            lambda: repo.lineage("b", some),
            lambda: repo.impact("b", some),
            lambda: repo.resource("b", "a.txt"),
            lambda: repo.memory("b"),
            lambda: repo.mirror("b"),
            lambda: repo.delete("b"),
            lambda: repo.record_failure("b", input="i", error="e"),
            lambda: repo.node("a", "cw_nowhere"),
            lambda: repo.lineage("a", "cw_nowhere"),
            lambda: repo.impact("a", "cw_nowhere"),
            lambda: repo.resource("a", "nothing"),
        ):
            with pytest.raises(NotFoundError, match=r"'b'|'a'"):
                missing()

    def test_the_head_needs_no_history(self, repo: Repository) -> None:
        commit = repo.save("a", story(2), expected_revision=0, metadata={"run": "r"})
        head = repo.head("a")
        assert isinstance(head, Head)
        assert (head.revision, head.node_count, head.frontier) == (1, 13, commit.frontier)
        assert head.system_id == story(2).nodes[0].id
        assert (head.generation, head.metadata) == (0, None)
        assert head.created_at <= head.updated_at

    def test_agents_in_pages(self, repo: Repository) -> None:
        names = [f"agent-{number:02}" for number in range(7)]
        for name in names[::-1]:
            repo.append(name, [append("goal", name)], expected_revision=0)
        assert [agent.agent_id for agent in repo.agents()] == names
        page = repo.agents(limit=3)
        assert [agent.agent_id for agent in page] == names[:3]
        assert [agent.agent_id for agent in repo.agents(after=page[-1].agent_id, limit=3)] == names[3:6]
        assert repo.agents(after=names[-1]) == []
        for limit in (0, -1, True, "3"):
            with pytest.raises(InvalidRequestError):
                repo.agents(limit=limit)  # type: ignore[arg-type]

    def test_lineage_and_impact_against_networkx(self, repo: Repository) -> None:
        state = dense_state(80, 14)
        repo.save("a", state, expected_revision=0)
        graph = CausalMirror(state).graph
        order = {node.id: node.sequence for node in state.nodes}
        for node in state.nodes[::11]:
            above = sorted(nx.descendants(graph, node.id), key=order.__getitem__)
            below = sorted(nx.ancestors(graph, node.id), key=order.__getitem__)
            assert repo.lineage("a", node.id).ids == above
            assert repo.impact("a", node.id).ids == below
        found = repo.lineage("a", state.nodes[-1].id)
        assert len(found) == len(found.ids) == len(found.nodes())
        assert found.nodes() == [node for node in state.nodes if node.id in found]
        assert [ref.id for ref in found] == found.ids
        assert next(iter(found)) == (state.nodes[0].id, 1, NodeKind.INFERENCE, 0)

    def test_resources_and_memory(self, repo: Repository) -> None:
        state = story(3)
        repo.save("a", state, expected_revision=0)
        versions = [node for node in state.nodes if node.resource_key == "a.txt"]
        assert repo.resource("a", "a.txt") == versions[::-1]
        (memory,) = repo.memory("a")
        assert (memory.type, memory.key, memory.content, memory.versions) == ("memory", "count", 2, 3)
        assert memory.node == [node for node in state.nodes if node.kind == "semantic"][-1]
        assert repo.memory("a", type="preference") == []
        with repo.turn("a") as turn:
            turn.remember("Preference", "Hotel style", "quiet")
            turn.remember("artifact", "b", {"path": "x"})
            turn.remember("artifact", "a", None)
        assert [(found.type, found.key) for found in repo.memory("a")] == [
            ("artifact", "a"),
            ("artifact", "b"),
            ("memory", "count"),
            ("preference", "hotel-style"),
        ]
        assert [found.content for found in repo.memory("a", type="Preference")] == ["quiet"]

    def test_the_log_has_failed_runs_where_they_happened(self, repo: Repository) -> None:
        for number in range(3):
            repo.append("a", [append("goal", number)], expected_revision=number, metadata={"n": number})
            if number != 1:
                repo.record_failure(
                    "a", input=f"asked {number}", error="failed", run_id="r", usage={"t": number}
                )
        moment = datetime(2026, 9, 1, 12, tzinfo=timezone.utc)
        failed = repo.record_failure("a", input="a \ud800", error="e", at=moment)
        assert (failed.at, failed.input, failed.revision) == ("2026-09-01T12:00:00.000Z", "a \\ud800", 3)
        log = repo.log("a")
        shown = [entry.revision if isinstance(entry, LogEntry) else entry.input for entry in log]
        assert shown == ["a \\ud800", "asked 2", 3, 2, "asked 0", 1]
        assert log[0] == failed
        assert isinstance(log[1], FailedRun)
        assert log[1].usage == {"t": 2}
        assert [entry.metadata for entry in log if isinstance(entry, LogEntry)] == [
            {"n": 2},
            {"n": 1},
            {"n": 0},
        ]
        page = repo.log("a", before=3, limit=1)
        assert [entry.revision for entry in page] == [2]
        assert [entry.revision for entry in repo.log("a", before=2)] == [1, 1]
        assert repo.head("a").revision == 3
        with pytest.raises(InvalidRequestError, match="zone"):
            repo.record_failure("a", input="i", error="e", at=datetime(2026, 9, 1))

    def test_delete_and_create_again_is_another_history(self, open_repo: OpenRepo) -> None:
        warm, other = open_repo(), open_repo()
        first = warm.save("a", story(2), expected_revision=0)
        other.delete("a")
        with pytest.raises(NotFoundError):
            warm.load("a")
        with pytest.raises(ConflictError):
            warm.append("a", [append("goal", "g")], expected_revision=first)
        second = other.append("a", [append("goal", "g")], expected_revision=0)
        assert second.history != first.history
        third = warm.append("a", [append("answer", "x")], expected_revision=1)
        assert third.history == second.history
        assert warm.load("a").state.nodes[-1].parents == second.ids
        lineage = warm.lineage("a", third.ids[0])
        other.delete("a")
        with pytest.raises(NotFoundError, match="deleted"):
            lineage.nodes()

    def test_a_warm_repository_notices_that_others_moved_the_history(self, open_repo: OpenRepo) -> None:
        warm, other = open_repo(), open_repo()
        warm.append("a", [append("goal", "g")], expected_revision=0)
        other.append("a", [append("resource", 1, resource_key="k")], expected_revision=1)
        commit = warm.append("a", [append("resource", 2, resource_key="k")], expected_revision=2)
        assert warm.node("a", commit.ids[0]).parents == other.resource("a", "k")[-1:][0].id.split()
        other.append("a", [append("answer", "x")], expected_revision=3)
        with warm.turn("a") as turn:
            goal = turn.goal("next")
        assert goal.parents == other.load("a", revision=4).state.frontier

    @pytest.mark.parametrize(
        "name", ["", "x" * 201, "é" * 101, "a\nb", "a\x00", "\x7f", "\x85", "\ud800", 5, None]
    )
    def test_names_that_are_refused(self, repo: Repository, name: Any) -> None:
        for use in (
            lambda: repo.append(name, [append("goal", "g")], expected_revision=0),
            lambda: repo.load(name),
            lambda: repo.turn(name),
            lambda: repo.append("a", [append("goal", "g")], expected_revision=0, commit_id=name or ""),
        ):
            with pytest.raises(InvalidRequestError, match=r"agent id|commit id"):
                use()

    def test_arguments_that_are_no_good(self, repo: Repository) -> None:
        repo.save("a", story(1), expected_revision=0)
        turn = repo.turn("a").__enter__()
        some: Any = turn.goal("g")
        no: Any = 5
        for refused in (
            lambda: repo.load("a", revision=0),
            lambda: repo.load("a", revision=True),
            lambda: repo.log("a", before=0),
            lambda: repo.agents(after=no),
            lambda: repo.agents(after="\ud800"),
            lambda: repo.save("a", no, expected_revision=1),
            lambda: repo.import_state("a", no),
            lambda: repo.import_session_log("a", no),
            lambda: repo.record_failure("a", input=no, error=""),
            lambda: repo.record_failure("a", input="", error=no),
            lambda: repo.record_failure("a", input="", error="", run_id=no),
            lambda: repo.record_failure("a", input="", error="", usage=no),
            lambda: repo.record_failure("a", input="", error="", at=no),
            lambda: repo.turn("a", parents=some),
            lambda: repo.turn("a", parents="cw_x"),
            lambda: repo.turn("a", parents=[no]),
            lambda: turn.goal("h", parents=some),
            lambda: turn.goal("h", parents=[no]),
            lambda: turn.tool_call(no, {}),
        ):
            with pytest.raises(InvalidRequestError):
                refused()
        for missing in (
            lambda: repo.load("a", revision=2**70),
            lambda: repo.node("a", "\ud800"),
            lambda: repo.node("a", no),
            lambda: repo.lineage("a", "\ud800"),
            lambda: repo.resource("a", "\ud800"),
            lambda: repo.resource("a", no),
        ):
            with pytest.raises(NotFoundError):
                missing()
        with pytest.raises(UnknownParentError):
            repo.append("a", [append("goal", "h", ["\ud800"])], expected_revision=1)
        with pytest.raises(VocabularyError):
            turn.remember(no, "k", 1)
        assert len(repo.agents(limit=2**70)) == len(repo.log("a", before=2**70, limit=2**70)) == 1
        turn.__exit__(None, None, None)
        assert turn.commit is not None
        assert turn.commit.ids == [some.id]

    @pytest.mark.parametrize(
        "name", ["x" * 200, "é" * 100, " ", "a/b:c", "名前", "e\u0301", "😀", "'; DROP TABLE agents"]
    )
    def test_names_that_are_taken_as_they_are(self, repo: Repository, name: str) -> None:
        repo.append(name, [append("goal", "g")], expected_revision=0, commit_id=name)
        assert repo.head(name).agent_id == name
        assert [agent.agent_id for agent in repo.agents()] == [name]
        with pytest.raises(NotFoundError):
            repo.head(f"{name[:-1]}X")

    def test_metadata_comes_back(self, repo: Repository) -> None:
        metadata = {"tokens": 10**30, "text": "\x00 😀", "list": [1.5, None, {"b": 1, "a": 2}]}
        repo.append("a", [append("goal", "g")], expected_revision=0, metadata=metadata)
        entry = repo.log("a")[0]
        assert isinstance(entry, LogEntry)
        assert entry.metadata == metadata
        deep: Any = {}
        for _ in range(32):
            deep = {"a": deep}
        refused: list[Any] = [
            [1],
            "text",
            {"a": float("nan")},
            {1: 2},
            {"a": object()},
            deep,
            {"a": "x" * 2**20},
        ]
        for bad in refused:
            with pytest.raises(InvalidRequestError, match="metadata"):
                repo.append("a", [append("goal", "h")], expected_revision=1, metadata=bad)

    def test_nodes_come_one_at_a_time(self, repo: Repository) -> None:
        repo.save("a", story(2), expected_revision=0)
        repo.save("a", story(3), expected_revision=1)
        assert list(repo.iter_nodes("a")) == story(3).nodes
        assert list(repo.iter_nodes("a", revision=1)) == story(2).nodes
        assert list(repo.iter_nodes("a", first=5)) == story(3).nodes[4:]
        assert list(repo.iter_nodes("a", first=len(story(3).nodes) + 1)) == []
        large = dense_state(4_500, 3)
        repo.save("b", large, expected_revision=0)
        nodes = repo.iter_nodes("b")
        first = [next(nodes) for _ in range(10)]
        with repo.turn("b") as turn:
            turn.goal("meanwhile")
        assert [*first, *nodes] == large.nodes, "what is committed meanwhile is not among them"
        with pytest.raises(NotFoundError):
            repo.iter_nodes("a", revision=9)
        with pytest.raises(NotFoundError):
            repo.iter_nodes("c")
        for bad in ({"revision": 0}, {"first": 0}):
            with pytest.raises(InvalidRequestError):
                repo.iter_nodes("a", **bad)

    def test_nodes_of_a_history_that_goes_away(self, repo: Repository) -> None:
        repo.save("a", dense_state(2_500, 2), expected_revision=0)
        nodes = repo.iter_nodes("a")
        next(nodes)
        repo.delete("a")
        repo.save("a", story(1), expected_revision=0)
        with pytest.raises(NotFoundError, match="deleted"):
            list(nodes)

    def test_the_beginning_of_an_id(self, repo: Repository) -> None:
        repo.append("a", [append("goal", number) for number in range(700)], expected_revision=0)
        repo.save("b", story(1), expected_revision=0)
        ids = sorted(node.id for node in repo.load("a").state.nodes)
        for node_id in ids[::100]:
            assert repo.resolve("a", node_id) == node_id
            assert repo.resolve("a", node_id[:20]) == node_id
        alike = [one for one, two in pairwise(ids) if one[:7] == two[:7]]
        with pytest.raises(InvalidRequestError, match=f"{alike[0]}.*say more"):
            repo.resolve("a", alike[0][:7])
        other = repo.load("b").state.nodes[0].id
        with pytest.raises(NotFoundError):
            repo.resolve("a", other[:10])
        assert repo.resolve("a", "cw_abc") == "cw_abc", "too short to be looked up"
        with pytest.raises(NotFoundError):
            repo.resolve("c", other)
