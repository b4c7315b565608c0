"""What exports promise, on every store: real readers read them, and what comes back is what went out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from stateweave_graph.errors import (
    DivergedError,
    HistoryFileError,
    InvalidRequestError,
    NotFoundError,
    VocabularyError,
)
from stateweave_graph.model import AgentState
from stateweave_graph.records import AgentRecord, CommitRecord
from stateweave_graph.repository.repository import Repository
from stateweave_graph.repository.transfer import History, read_history
from stateweave_graph.results import FailedRun
from stateweave_graph.sessionlog import read_session_log
from stateweave_graph.stores.base import StoreReader
from stateweave_graph.testing.fixtures import OpenRepo, RepositoryFixtures
from stateweave_graph.testing.import_contract import session_log
from stateweave_graph.testing.samples import append, hostile_state, story
from stateweave_graph.vocabulary import NodeType, Vocabulary


def whole(repo: Repository, agent_id: str) -> History:
    """Every record of an agent, but for what tells it from a copy."""

    def work(tx: StoreReader) -> History:
        agent = tx.agent(agent_id)
        assert agent is not None
        found = read_history(tx, agent)
        return found._replace(agent=_nameless(found.agent))

    return repo.store.read(work)


def _nameless(agent: AgentRecord) -> AgentRecord:
    return agent._replace(agent_id="", history="")


def _commits(repo: Repository, agent_id: str) -> list[CommitRecord]:
    return whole(repo, agent_id).commits


def filled(repo: Repository, agent_id: str = "a", first: AgentState | None = None) -> Repository:
    """An agent with what an export can get wrong: turns, hostile texts, moved frontiers, failed runs."""
    metadata = {"from": "a file", "é": [1.5, None]}
    repo.save(agent_id, first or hostile_state(), expected_revision=0, metadata=metadata)
    with repo.turn(agent_id, commit_id="a turn", metadata={"runId": "r7", "outputTokens": 12}) as turn:
        turn.goal("What now?")
        call = turn.tool_call("read_file", {"path": "a.txt"})
        turn.tool_result(call, {"content": "\u2028 </script> \x00"})
        turn.resource("a.txt", operation="read")
        turn.remember("memory", "count", 7)
        turn.answer("This.")
    repo.record_failure(agent_id, input="again", error="no", run_id="r8", usage={"tokens": 1})
    goal = repo.load(agent_id).state.nodes[-6]
    repo.append(
        agent_id,
        [append("goal", "What now?", goal.parents), append("inference", {"x": 1}, [goal.id])],
        expected_revision=2,
        commit_id="twice",
    )
    repo.record_failure(agent_id, input="and again", error="no")
    state = repo.load(agent_id).state
    moved = AgentState.unchecked(state.nodes, [state.nodes[0].id])
    repo.save(agent_id, moved, expected_revision=3)
    return repo


class ExportContract(RepositoryFixtures):
    """``export`` in every format, and ``import_history``."""

    def test_a_snapshot_is_what_load_gives(self, repo: Repository, tmp_path: Path) -> None:
        filled(repo)
        for revision in (None, 1, 2, 3, 4):
            done = repo.export("a", tmp_path / "a.json", revision=revision)
            stored = repo.load("a", revision=revision)
            assert (tmp_path / "a.json").read_text("utf-8") == stored.state.to_json() + "\n"
            assert (done.revision, done.nodes, done.history) == (
                stored.revision,
                len(stored.state.nodes),
                stored.history,
            )
            assert done.files == [str(tmp_path / "a.json")]

    def test_a_history_comes_back_to_the_letter(self, open_repo: OpenRepo, tmp_path: Path) -> None:
        repo = filled(open_repo())
        file = tmp_path / "a.jsonl"
        repo.export("a", file, format="jsonl")
        done = repo.import_history("b", file)
        assert (done.commits, done.nodes, done.failures, done.revision) == (
            4,
            repo.head("a").node_count,
            2,
            4,
        )
        again = open_repo()
        assert whole(again, "b") == whole(again, "a")
        assert again.head("b").history != again.head("a").history
        assert again.load("b").state == again.load("a").state
        assert [entry for entry in again.log("b") if isinstance(entry, FailedRun)]
        goal = again.load("b").state.nodes[-7]
        said = [append("goal", "What now?", goal.parents), append("inference", {"x": 1}, [goal.id])]
        assert again.append("b", said, expected_revision=2, commit_id="twice").replayed
        again.export("b", tmp_path / "b.jsonl", format="jsonl", revision=4)
        lines, copied = (path.read_bytes().splitlines()[1:] for path in (file, tmp_path / "b.jsonl"))
        assert lines == copied

    def test_one_commit_a_line(self, repo: Repository, tmp_path: Path) -> None:
        filled(repo).export("a", tmp_path / "a.jsonl", format="jsonl")
        records = [json.loads(line) for line in (tmp_path / "a.jsonl").read_bytes().splitlines()]
        assert [record["type"] for record in records] == [
            "history",
            *["commit"] * 4,
            *["failed_run"] * 2,
            "end",
        ]
        commits = [record for record in records if record["type"] == "commit"]
        assert [commit["revision"] for commit in commits] == [1, 2, 3, 4]
        nodes = [node for commit in commits for node in commit["nodes"]]
        assert nodes == json.loads(repo.load("a").state.to_json())["nodes"]
        assert commits[1]["metadata"] == {"runId": "r7", "outputTokens": 12}
        assert len(commits[2]["appended"]) == 2

    def test_what_is_there_is_not_brought_in_again(self, repo: Repository, tmp_path: Path) -> None:
        filled(repo)
        repo.export("a", tmp_path / "two.jsonl", format="jsonl", revision=2)
        repo.export("a", tmp_path / "all.jsonl", format="jsonl")
        first = repo.import_history("b", tmp_path / "two.jsonl")
        assert (first.commits, first.failures, first.revision) == (2, 1, 2)
        more = repo.import_history("b", (tmp_path / "all.jsonl").read_bytes())
        assert (more.commits, more.failures, more.revision, more.history) == (2, 1, 4, first.history)
        for name in ("two", "all"):
            nothing = repo.import_history("b", tmp_path / f"{name}.jsonl")
            assert (nothing.commits, nothing.nodes, nothing.failures, nothing.revision) == (0, 0, 0, 4)
        assert whole(repo, "b").commits == whole(repo, "a").commits

    def test_another_history_is_refused(self, repo: Repository, tmp_path: Path) -> None:
        filled(repo).export("a", tmp_path / "a.jsonl", format="jsonl")
        repo.append("b", [append("goal", "another")], expected_revision=0)
        with pytest.raises(DivergedError, match="another history"):
            repo.import_history("b", tmp_path / "a.jsonl")
        assert repo.head("b").revision == 1
        with repo.turn("a") as turn:
            turn.goal("mine")
        with repo.turn("a") as turn:
            turn.goal("mine too")
        repo.import_history("c", tmp_path / "a.jsonl")
        with repo.turn("c") as turn:
            turn.goal("theirs")
        repo.export("c", tmp_path / "c.jsonl", format="jsonl")
        with pytest.raises(DivergedError):
            repo.import_history("a", tmp_path / "c.jsonl")
        assert repo.head("a").revision == 6

    def test_a_vocabulary_comes_along_and_holds(self, repo: Repository, tmp_path: Path) -> None:
        vocabulary = Vocabulary(node_types=[NodeType(name="memory", description="What to keep in mind.")])
        filled(repo).set_vocabulary("a", vocabulary)
        repo.export("a", tmp_path / "a.jsonl", format="jsonl")
        repo.import_history("b", tmp_path / "a.jsonl")
        assert repo.vocabulary("b") == repo.vocabulary("a") == vocabulary
        repo.set_vocabulary("a", None)
        with repo.turn("a") as turn:
            turn.goal("g")
            turn.remember("preference", "channel", "email")
        repo.export("a", tmp_path / "more.jsonl", format="jsonl")
        with pytest.raises(VocabularyError, match="preference"):
            repo.import_history("b", tmp_path / "more.jsonl")
        assert repo.head("b").revision == 4

    def test_a_file_that_was_changed_leaves_nothing(self, repo: Repository, tmp_path: Path) -> None:
        filled(repo).export("a", tmp_path / "a.jsonl", format="jsonl")
        lines = (tmp_path / "a.jsonl").read_bytes().splitlines(keepends=True)
        for number, broken in (
            (3, [*lines[:2], lines[2].replace(b"What now?", b"What then"), *lines[3:]]),
            (4, [*lines[:3], *lines[4:]]),
            (len(lines), lines[:-1]),
            (2, [lines[0], lines[1][:-20]]),
        ):
            with pytest.raises(HistoryFileError) as caught:
                repo.import_history("b", b"".join(broken))
            assert caught.value.line == number
            assert [agent.agent_id for agent in repo.agents()] == ["a"]

    def test_a_session_log_that_the_sdk_takes(self, repo: Repository, tmp_path: Path) -> None:
        filled(repo)
        repo.export("a", tmp_path / "a.jsonl", format="session-log")
        log = read_session_log(tmp_path / "a.jsonl")
        state = repo.load("a").state
        assert log.state == state
        assert re.fullmatch("sws_[0-9a-f]{32}", log.session_id)
        assert [revision.kind for revision in log.revisions] == ["bootstrap", *["turn_commit"] * 3]
        assert [len(revision.nodes) for revision in log.revisions] == [
            commit.last_sequence - commit.first_sequence + 1 for commit in _commits(repo, "a")
        ]
        turn = log.revisions[1]
        assert (turn.input, turn.final_answer, turn.run_id) == ("What now?", "This.", "r7")
        assert turn.metadata is not None
        assert (turn.metadata["outputTokens"], turn.metadata["modelCalls"]) == (12, 0)
        named = {node.id: node.kind for node in turn.nodes}
        assert (named[str(turn.user_node_id)], named[str(turn.assistant_node_id)]) == ("goal", "answer")
        assert [(failure.input, failure.revision) for failure in log.failures] == [
            ("again", 2),
            ("and again", 3),
        ]
        repo.import_session_log("b", log)
        assert [repo.load("b", revision=number).state for number in (1, 2, 3, 4)] == [
            repo.load("a", revision=number).state for number in (1, 2, 3, 4)
        ]

    def test_an_imported_session_log_goes_out_as_it_came(self, repo: Repository, tmp_path: Path) -> None:
        log = session_log(4, failed_before={0: 1, 2: 2}, failed_after=1)
        repo.import_session_log("a", log)
        done = repo.export("a", tmp_path, format="session-log")
        assert done.files == [str(tmp_path / f"sws_{done.history}.jsonl")]
        again = read_session_log(done.files[0])

        def told(revision: Any) -> dict[str, Any]:
            return {name: value for name, value in vars(revision).items() if name != "line"}

        assert list(map(told, again.revisions)) == list(map(told, log.revisions))
        assert (again.turn_count, again.interaction_count) == (log.turn_count, log.interaction_count)
        assert [(item.timestamp, item.turn, item.input, item.usage) for item in again.failures] == [
            (item.timestamp, item.turn, item.input, item.usage) for item in log.failures
        ]
        assert repo.import_session_log("a", again).commits == 0

    def test_networkx_reads_graphml(self, repo: Repository, tmp_path: Path) -> None:
        filled(repo, first=story(2)).export("a", tmp_path / "a.graphml", format="graphml")
        graph = nx.read_graphml(tmp_path / "a.graphml")
        state = repo.load("a").state
        mine = repo.mirror("a").graph
        assert list(graph.nodes) == [node.id for node in state.nodes]
        assert set(graph.edges) == set(mine.edges)
        assert graph.graph["agentId"] == "a"
        for node in state.nodes:
            told = graph.nodes[node.id]
            assert (told["kind"], told["sequence"], told["createdAt"]) == (
                node.kind.value,
                node.sequence,
                node.created_at,
            )
            assert json.loads(told["payload"]) == node.payload
            assert told["frontier"] is (node.id in state.frontier)
            assert told.get("resourceKey") == node.resource_key
        assert {data["sequence"] for _, _, data in graph.edges(data=True)} <= set(range(len(state.nodes) + 1))
        assert any("resourceKey" in data for _, _, data in graph.edges(data=True)) == any(
            mine.edges[edge].get("resourceKey") for edge in mine.edges
        )

    def test_what_xml_cant_carry_is_refused(self, repo: Repository, tmp_path: Path) -> None:
        folder = tmp_path / "out"
        folder.mkdir()
        repo.append("a", [append("resource", "x", [], resource_key="a\x01b")], expected_revision=0)
        with pytest.raises(InvalidRequestError, match=r"U\+0001.*resourceKey"):
            repo.export("a", folder / "a.graphml", format="graphml")
        assert list(folder.iterdir()) == []

    def test_pandas_reads_parquet(self, repo: Repository, tmp_path: Path) -> None:
        pd = pytest.importorskip("pandas")
        filled(repo).export("a", tmp_path / "tables", format="parquet")
        nodes, edges = (
            pd.read_parquet(tmp_path / "tables" / f"{name}.parquet") for name in ("nodes", "edges")
        )
        state = repo.load("a").state
        assert list(nodes.id) == [node.id for node in state.nodes]
        assert [json.loads(text) for text in nodes.payload] == [node.payload for node in state.nodes]
        assert list(nodes[nodes.frontier].id) == sorted(
            state.frontier, key=[node.id for node in state.nodes].index
        )
        assert sorted(zip(edges.child, edges.parent, strict=True)) == sorted(
            (node.id, parent) for node in state.nodes for parent in node.parents
        )
        assert set(edges.childSequence - edges.parentSequence > 0) == {True}

    def test_what_can_not_be_given_out(self, repo: Repository, tmp_path: Path) -> None:
        folder = tmp_path / "out"
        folder.mkdir()
        repo.save("a", story(1), expected_revision=0)
        with pytest.raises(InvalidRequestError, match="session-log"):
            repo.export("a", folder / "a", format="xml")
        for error, asked in (
            (NotFoundError, {"agent_id": "b"}),
            (NotFoundError, {"revision": 2}),
            (InvalidRequestError, {"revision": 0}),
            (InvalidRequestError, {"target": folder / "none" / "a"}),
            (InvalidRequestError, {"target": folder}),
        ):
            with pytest.raises(error):
                repo.export(**{"agent_id": "a", "target": folder / "a", **asked})  # type: ignore[arg-type]
        assert list(folder.iterdir()) == []
        for missing in (folder / "none.jsonl", folder):
            with pytest.raises((NotFoundError, InvalidRequestError)):
                repo.import_history("b", missing)
