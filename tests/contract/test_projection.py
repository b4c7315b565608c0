"""Cypher on the embedded engine: only reading, within bounds, and always of what stands now."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from stateweave_graph import (
    InvalidRequestError,
    NodeType,
    NotFoundError,
    QueryError,
    StoreError,
    Vocabulary,
    open_repository,
)
from stateweave_graph.projection import in_dialect, refuse_other_than_reading
from stateweave_graph.testing.samples import dense_state, hostile_state
from tests.support.command import ROOT, run
from tests.support.cypher_texts import ALL_TEXTS, fill, parameters_of
from tests.support.states import append, story

COUNT = "MATCH (n:CausalNode) RETURN count(*) AS n"


@pytest.fixture
def repo(tmp_path):
    with open_repository(tmp_path / "history.db") as repository:
        repository.save("a", story(3), expected_revision=0)
        yield repository


def rows(repo, text, **options):
    return repo.cypher(text, **options).rows


def test_it_shows_what_stands_now(repo, tmp_path):
    assert rows(repo, COUNT) == [{"n": 19}]
    with repo.turn("a") as turn:
        turn.goal("one more")
    assert rows(repo, COUNT) == [{"n": 20}]
    with open_repository(tmp_path / "history.db") as other:
        other.append("b", [append("goal", "elsewhere")], expected_revision=0)
        other.record_failure("b", input="i", error="e")
    assert rows(repo, COUNT) == [{"n": 21}]
    assert rows(repo, "MATCH (f:FailedRun) RETURN f.error AS error") == [{"error": "e"}]
    repo.record_failure("a", input="i", error="again")
    assert len(rows(repo, "MATCH (f:FailedRun) RETURN f.error AS error")) == 2
    repo.delete("a")
    assert rows(repo, COUNT) == [{"n": 1}]
    repo.close()
    with pytest.raises(StoreError, match="closed"):
        rows(repo, COUNT)


def test_a_picture_that_followed_is_the_same_as_a_new_one(tmp_path):
    """Commits of this process and of others, new agents, resources, failures and vocabularies; then all texts."""
    with open_repository(tmp_path / "history.db") as repo, open_repository(tmp_path / "history.db") as other:
        given: dict[str, Any] = {"answer": "", "key": "src/kiosk/basket.py", "numbers": [1]}
        repo.cypher(COUNT)
        for step in range(4):
            if step == 1:
                given |= fill(other)
            for name in ("one", "two", "coding-agent")[: 3 if step else 2]:
                with (repo if step % 2 else other).turn(name) as turn:
                    turn.goal(f"goal {step}")
                    turn.resource("src/kiosk/basket.py", operation="read", bytes=step)
                    turn.remember("memory", f"key {step % 2}", step)
                    turn.answer(f"answer {step}")
                other.record_failure(name, input="i", error=f"failed {step}")
            if step == 2:
                other.set_vocabulary("one", Vocabulary([NodeType("memory", "what is known")]))
            repo.cypher(COUNT)
        other.set_vocabulary("one", None)
        with open_repository(tmp_path / "history.db") as fresh:
            for agent in ("one", "coding-agent", "support-bot"):
                for text in ALL_TEXTS:
                    asked = parameters_of(text, agent, given)
                    followed = repo.cypher(text, parameters=asked, max_rows=100_000)
                    assert followed.rows == fresh.cypher(text, parameters=asked, max_rows=100_000).rows, text
            vocabularies = "MATCH (s:AgentState) RETURN s.agentId AS a, s.vocabulary AS v ORDER BY a"
            assert repo.cypher(vocabularies).rows == fresh.cypher(vocabularies).rows


def test_it_shows_the_agents_asked_for(repo):
    repo.append("b", [append("goal", "g")], expected_revision=0)
    agents = "MATCH (s:AgentState) RETURN s.agentId AS agent ORDER BY agent"
    assert rows(repo, agents) == [{"agent": "a"}, {"agent": "b"}]
    assert rows(repo, agents, agents=["b"]) == [{"agent": "b"}]
    assert rows(repo, agents, agents=["b", "b", "a"]) == [{"agent": "a"}, {"agent": "b"}]
    assert rows(repo, agents, agents=[]) == []
    with pytest.raises(NotFoundError, match="'c'"):
        repo.cypher(agents, agents=["c"])


def test_properties_come_back_exactly(repo):
    state = hostile_state()
    repo.save("h", state, expected_revision=0)
    found = rows(
        repo,
        "MATCH (s:AgentState {agentId: 'h'}) MATCH (n:CausalNode) WHERE n.history = s.history "
        "RETURN n.id AS id, n.createdAt AS at, n.resourceKey AS key, n.sequence AS sequence ORDER BY sequence",
    )
    assert [tuple(row.values()) for row in found] == [
        (node.id, node.created_at, node.resource_key, node.sequence) for node in state.nodes
    ]


def test_recursion_never_walks_paths(repo):
    state = dense_state(400, 20)
    repo.save("dense", state, expected_revision=0)
    last = state.nodes[-1].id
    expected = len(repo.lineage("dense", last))
    for text in (
        "MATCH (a:CausalNode)-[:PARENT*1..]->(b:CausalNode) WHERE a.id = $id RETURN count(DISTINCT b.sequence) AS n",
        "MATCH (a:CausalNode)-[:PARENT*]->(b:CausalNode) WHERE a.id = $id RETURN count(DISTINCT b.sequence) AS n",
    ):
        assert rows(repo, text, parameters={"id": last}) == [{"n": expected}]
    near = "MATCH (a:CausalNode)-[:PARENT*1..2]->(b:CausalNode) WHERE a.id = $id RETURN count(DISTINCT b.id) AS n"
    assert rows(repo, near, parameters={"id": last}) == [{"n": len(repo.lineage("dense", last, depth=2))}]


def test_the_dialect():
    assert in_dialect("(a)-[:PARENT*2..5]->(b)") == "(a)-[:PARENT* SHORTEST 2..5]->(b)"
    assert in_dialect("(a)<-[ :PARENT * ]-(b)") == "(a)<-[ :PARENT * SHORTEST 1..1000000]-(b)"
    assert in_dialect("RETURN 2 * 3") == "RETURN 2 * 3"


@pytest.mark.parametrize(
    "text",
    [
        "CREATE (n:CausalNode {uid: 9})",
        "MATCH (n) SET n.sequence = 9 RETURN n",
        "MATCH (n) DELETE n",
        "MATCH (n) DETACH DELETE n",
        "MERGE (n:CausalNode {uid: 1})",
        "COPY (MATCH (n) RETURN n.id) TO 'no-such-folder/out.csv'",
        "COPY CausalNode FROM '/etc/passwd'",
        "LOAD FROM '/etc/passwd' RETURN *",
        "MATCH (n) LOAD FROM '/etc/passwd' RETURN n",
        "EXPORT DATABASE 'no-such-folder/x'",
        "IMPORT DATABASE 'no-such-folder/x'",
        "INSTALL httpfs",
        "ATTACH 'no-such-folder/x' AS x",
        "USE x",
        "CALL show_tables() RETURN *",
        "MATCH (n) CALL show_tables() RETURN *",
        "BEGIN TRANSACTION",
        "ROLLBACK",
        "DROP TABLE CausalNode",
        "ALTER TABLE CausalNode ADD x INT64",
        "MATCH (n) RETURN n.id; COPY (RETURN 1) TO 'no-such-folder/x'",
        "EXPLAIN MATCH (n) RETURN n",
        "/* MATCH */ CREATE (n:CausalNode {uid: 9})",
        "",
        "no cypher at all",
        "MATCH (n) RETURN $missing",
        "MATCH (n:Nothing) RETURN n.id",
        "MATCH (n:CausalNode) RETURN n.nothing",
    ],
)
def test_what_is_refused(repo, text):
    with pytest.raises(QueryError):
        repo.cypher(text)
    assert rows(repo, COUNT) == [{"n": 19}]


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (call:CausalNode) WHERE call.kind = 'tool_call' RETURN call.tool AS tool",
        "MATCH (n:CausalNode) RETURN 'CREATE; DELETE' AS text, n.sequence AS `set` // DROP it",
        'MATCH (n:CausalNode) WHERE n.payload CONTAINS "SET" RETURN n.id /* COPY */;',
        "UNWIND [1, 2] AS x RETURN x",
    ],
)
def test_words_in_texts_and_names_are_no_commands(repo, text):
    refuse_other_than_reading(text)
    repo.cypher(text)


def test_bounds(repo):
    with pytest.raises(QueryError, match="more than 3 rows"):
        repo.cypher("MATCH (n:CausalNode) RETURN n.id", max_rows=3)
    with pytest.raises(QueryError, match="longer"):
        repo.cypher(
            "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y WITH x, y WHERE x * y = -1 RETURN count(*) AS n",
            timeout=0.5,
        )
    assert rows(repo, COUNT) == [{"n": 19}]
    with pytest.raises(InvalidRequestError):
        repo.cypher(COUNT, max_rows=0)


def test_too_many_nodes_say_so(repo, monkeypatch):
    monkeypatch.setattr("stateweave_graph.projection.MAX_NODES", 10)
    with pytest.raises(QueryError, match=r"agents=\[…\]"):
        repo.cypher(COUNT)


MISSING = """
import sys
sys.modules["ladybug"] = None
from stateweave_graph import MissingExtraError, open_repository
try:
    open_repository(":memory:").cypher("RETURN 1 AS n")
except MissingExtraError as error:
    print(error)
"""


def test_what_is_missing_is_named_with_the_command_that_installs_it():
    done = subprocess.run(
        [sys.executable, "-c", MISSING], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert 'pip install "stateweave-graph[cypher]"' in done.stdout


def test_the_command(repo, tmp_path):
    text = "MATCH (s:AgentState) RETURN s.agentId AS agent, s.revision AS revision"
    done = run("cypher", text, "--db", "history.db", "--json", cwd=tmp_path)
    assert done.json() == [{"agent": "a", "revision": 1}]
