"""Large histories: brought in, forked and swept in many transactions, of which nobody sees the middle."""

from __future__ import annotations

import json
import threading

import pytest

from stateweave_graph import (
    AgentState,
    ConflictError,
    LimitExceededError,
    NotFoundError,
    Repository,
    StoreError,
    open_repository,
)
from stateweave_graph.stores.neo4j import Neo4jStore
from stateweave_graph.stores.neo4j_staging import Sizes
from stateweave_graph.testing.import_contract import session_log
from stateweave_graph.testing.repository_contract import RepositoryContract
from stateweave_graph.testing.samples import dense_state
from tests.support.processes import start
from tests.support.states import append, story

SMALL = Sizes(nodes=4, edges=30, commits=3, swept=5)


def opened(server, **options) -> Repository:
    arguments = server.arguments()
    uri = arguments.pop("uri")
    return Repository(Neo4jStore(uri, **arguments, **{"max_commit_nodes": 6, "sizes": SMALL, **options}))


@pytest.fixture
def repo(server):
    with opened(server) as repository:
        yield repository


@pytest.fixture
def count(server):
    """How many nodes of the database have a label."""

    def counted(label: str) -> int:
        with server.session() as session:
            return int(session.run(f"MATCH (n:{label}) RETURN count(*) AS n").single()["n"])

    return counted


class TestEverythingStaged(RepositoryContract):
    """The contract again, on a store that stages every new history."""

    @pytest.fixture
    def open_repo(self, server):
        stores = []

        def open_one():
            stores.append(opened(server, max_commit_nodes=20_000, max_whole_nodes=2))
            return stores[-1]

        yield open_one
        for repository in stores:
            repository.close()


@pytest.mark.parametrize("kind", ["snapshot", "log", "save"])
def test_a_large_history_is_whole(repo, count, kind):
    done: list[tuple[int, int]] = []
    state = story(6)
    if kind == "snapshot":
        repo.import_state("a", state, progress=lambda *said: done.append(said))
    elif kind == "log":
        repo.import_session_log("a", session_log(6, failed_after=2), progress=lambda *said: done.append(said))
    else:
        repo.save("a", state, expected_revision=0)
    assert repo.load("a").state == state
    assert repo.memory("a")[0].versions == 6
    assert [node.payload["turn"] for node in repo.resource("a", "a.txt")] == [5, 4, 3, 2, 1, 0]
    assert repo.head("a").revision == (6 if kind == "log" else 1)
    assert (count("StagedHistory"), count("DeletedHistory"), count("AgentState")) == (0, 0, 1)
    if kind != "save":
        assert done[-1] == (len(state.nodes), len(state.nodes))
        assert done == sorted(done)
        assert len(done) > 3
    if kind == "log":
        assert len(repo.log("a")) == 8
        for number in range(1, 7):
            assert repo.load("a", revision=number).state == story(number)
    with repo.turn("a") as turn:
        assert turn.resource("a.txt", operation="read").parents
    assert len(repo.resource("a", "a.txt")) == 7


def test_nobody_sees_the_middle(server, repo, count):
    seen: list[list[str]] = []

    def look(done: int, total: int) -> None:
        with open_repository(**server.arguments()) as other:
            seen.append([agent.agent_id for agent in other.agents()])
            with pytest.raises(NotFoundError):
                other.load("a")

    repo.import_state("a", story(5), progress=look)
    assert len(seen) > 5
    assert not any(seen)
    assert [agent.agent_id for agent in repo.agents()] == ["a"]


class _PlugPulledError(BaseException):
    pass


def interrupt(repo: Repository, after: int, state: AgentState) -> None:
    calls = [0]

    def stop(done: int, total: int) -> None:
        calls[0] += 1
        if calls[0] == after:
            raise _PlugPulledError

    with pytest.raises(_PlugPulledError):
        repo.import_state("a", state, progress=stop)


def test_an_interrupted_import_is_taken_up_where_it_was(server, repo, count):
    state = story(8)
    interrupt(repo, 6, state)
    assert count("StagedHistory") == 1
    written = count("CausalNode")
    assert 0 < written < len(state.nodes)
    assert repo.agents() == []
    with server.session() as session:
        session.run("MATCH (s:StagedHistory) SET s.leaseUntil = timestamp() - 1").consume()
        (history,) = session.run("MATCH (s:StagedHistory) RETURN s.history").single()
    parts: list[int] = []
    done = repo.import_state("a", state, progress=lambda done, total: parts.append(done))
    assert done.history == history
    assert min(parts) > written, "the first parts were not written again"
    assert repo.load("a").state == state
    assert repo.head("a").history == history
    assert (count("StagedHistory"), count("CausalNode")) == (0, len(state.nodes))


def test_a_killed_import_is_taken_up_by_the_next(server, repo, count):
    worker = start("bring", json.dumps(server.arguments()), "40")
    assert worker.stdout is not None
    for _ in range(8):
        said = worker.stdout.readline()
    worker.kill()
    worker.communicate()
    acknowledged = json.loads(said)["done"]
    assert repo.agents() == []
    assert count("CausalNode") >= acknowledged
    with server.session() as session:
        session.run("MATCH (s:StagedHistory) SET s.leaseUntil = timestamp() - 1").consume()
    parts: list[int] = []
    repo.import_state("a", story(40), progress=lambda done, total: parts.append(done))
    assert min(parts) > acknowledged
    assert repo.load("a").state == story(40)
    assert (count("StagedHistory"), count("CausalNode"), count("Commit")) == (0, len(story(40).nodes), 1)


def test_an_import_that_is_still_running_is_not_taken_over(repo, count):
    interrupt(repo, 3, story(8))
    repo.import_state("a", story(8))  # the lease of the first has not run out
    assert repo.load("a").state == story(8)
    assert count("StagedHistory") == 1


def test_what_an_interrupted_import_left_is_swept_later(server, repo, count):
    interrupt(repo, 5, story(8))
    with server.session() as session:
        session.run("MATCH (s:StagedHistory) SET s.leaseUntil = timestamp() - 2 * 60 * 60 * 1000").consume()
    repo.save("b", story(5), expected_revision=0)
    assert (count("StagedHistory"), count("DeletedHistory")) == (0, 0)
    assert count("CausalNode") == len(story(5).nodes)
    assert count("Commit") == 1


def test_an_import_that_was_taken_over_says_so(server, repo, count):
    def steal(done: int, total: int) -> None:
        with server.session() as session:
            session.run("MATCH (s:StagedHistory) SET s.owner = 'somebody else'").consume()

    with pytest.raises(StoreError, match="taken over"):
        repo.import_state("a", story(8), progress=steal)
    assert repo.agents() == []


def test_two_imports_of_one_agent_at_once(server, repo, count):
    """One publishes; the other finds the agent there, and adds nothing."""
    results = []
    barrier = threading.Barrier(2)

    def bring() -> None:
        with opened(server) as own:
            barrier.wait()
            results.append(own.import_state("a", story(8)))

    threads = [threading.Thread(target=bring) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result.commits for result in results) == [0, 1]
    assert repo.load("a").state == story(8)
    assert (count("StagedHistory"), count("DeletedHistory"), count("AgentState")) == (0, 0, 1)
    assert count("CausalNode") == len(story(8).nodes)


def test_an_agent_that_was_made_meanwhile_is_a_conflict(server, repo):
    """A large save that must not exist yet finds, when it is published, that somebody was first."""
    with opened(server) as other:

        def first(done: int) -> None:
            if not other.agents():
                other.append("a", [append("goal", "somebody was first")], expected_revision=0)

        write = repo.store.write
        repo.store.write = lambda work, report=None: write(work, first)
        with pytest.raises(ConflictError):
            repo.save("a", story(8), expected_revision=0)
        assert repo.head("a").node_count == 1


def test_a_commit_onto_a_history_has_a_limit(repo):
    repo.append("a", [append("goal", "g")], expected_revision=0)
    appends = [append("goal", number) for number in range(7)]
    with pytest.raises(LimitExceededError, match="6 nodes"):
        repo.append("a", appends, expected_revision=1)
    assert repo.head("a").node_count == 1
    assert repo.append("a", appends[:6], expected_revision=1).revision == 2


def test_edges_have_a_limit_of_their_own(server):
    """A dense history of few nodes outgrows a server's memory as well."""
    dense = dense_state(40, 10)
    edges = sum(len(node.parents) for node in dense.nodes)
    whole: list[int] = []
    parts: list[int] = []
    with opened(server, max_commit_nodes=1_000, max_commit_edges=edges) as repo:
        repo.import_state("in one", dense, progress=lambda said, _: whole.append(said))
    with opened(server, max_commit_nodes=1_000, max_commit_edges=edges - 1) as repo:
        repo.import_state("staged", dense, progress=lambda said, _: parts.append(said))
        assert len(parts) > len(whole) + 5
        assert repo.load("staged").state == dense
        repo.append("onto", [append("goal", "g")], expected_revision=0)
        first = append("goal", "first", parents=[])
        fan = [first, *(append("goal", number, parents=[first]) for number in range(edges))]
        with pytest.raises(LimitExceededError, match=f"{edges - 1} edges"):
            repo.append("onto", fan, expected_revision=1)
        assert repo.head("onto").node_count == 1
        assert repo.append("onto", fan[:-1], expected_revision=1).revision == 2


def test_a_delete_hides_at_once_and_sweeps_behind(server, repo, count):
    repo.import_state("a", story(8))
    repo.import_state("b", story(2))
    repo.record_failure("a", input="i", error="e")
    kept = repo.load("b")
    repo.delete("a")
    assert repo.load("b") == kept
    assert count("CausalNode") == len(story(2).nodes)
    assert (count("DeletedHistory"), count("FailedRun"), count("Commit")) == (0, 0, 1)
    assert count("ResourceKey") == 2


def test_what_an_interrupted_sweep_left_is_swept_later(server, repo, count):
    repo.import_state("a", story(8))
    with server.session() as session:
        session.run(
            "MATCH (s:AgentState) REMOVE s:AgentState, s.agentId SET s:DeletedHistory, s.leaseUntil = 0"
        ).consume()
    assert repo.agents() == []
    repo.store.sweep()
    assert [count(label) for label in ("DeletedHistory", "CausalNode", "Commit", "ResourceKey")] == [
        0,
        0,
        0,
        0,
    ]


def test_a_fork_is_independent(repo, count):
    repo.import_session_log("a", session_log(6, failed_before={1: 1}, failed_after=1))
    head = repo.fork("a", "b", revision=4)
    assert (head.agent_id, head.revision, head.node_count) == ("b", 4, 25)
    assert repo.load("b").state == story(4)
    assert [entry.hash for entry in repo.log("b") if hasattr(entry, "hash")] == [
        entry.hash for entry in repo.log("a", before=5) if hasattr(entry, "hash")
    ]
    with repo.turn("b") as turn:
        turn.goal("only here")
    assert repo.load("a").state == story(6)
    repo.delete("a")
    assert repo.head("b").revision == 5
    with pytest.raises(ConflictError):
        repo.fork("b", "b")
    with pytest.raises(NotFoundError):
        repo.fork("b", "c", revision=9)
