"""What the store sends to Neo4j: by index, never over a whole label or another agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stateweave_graph import open_repository
from stateweave_graph.cyphertext import cypher_folder, schema_statements, statement
from stateweave_graph.stores.neo4j_records import Neo4jReader
from stateweave_graph.stores.neo4j_writer import Neo4jWriter
from stateweave_graph.testing.samples import dense_state
from tests.support.states import append, story

STATEMENTS = sorted(path.stem for path in (cypher_folder() / "store").glob("*.cypher"))
SCANS = (
    "AllNodesScan",
    "NodeByLabelScan",
    "AllRelationshipsScan",
    "RelationshipTypeScan",
    "UnionNodeByLabelsScan",
)
ONCE = {"schema_version", "schema_record"}  # of the one node that says which schema there is

PARAMETERS: dict[str, Any] = {
    "abandoned_ms": 1, "after": "", "agent": {"agentId": "a"}, "agent_id": "a", "before": 9, "commit_id": "c",
    "commit": {"revision": 2}, "done": 1, "failures": [], "first": 1, "frontier": [[0, 1]], "history": "h",
    "id": "x", "ids": ["x", "y"], "key": "k", "key_hash": "k", "key_hashes": ["k"], "kinds": ["goal"],
    "last": 9, "lease_ms": 1, "limit": 9, "moved_resources": [{"keyHash": "k", "headId": "x", "versions": 2}],
    "new_resources": [{}], "now": "n", "owner": "o", "prefix": "cw_", "revision": 1, "sequence": 2,
    "semantic_only": True,
    "nodes": [{"label": "Goal", "properties": {}, "sequence": 2, "parents": [[1, None]]}],
    "sequences": [1, 2], "staged": {}, "ms": 1, "spans": [[1, 2]], "version": 1, "vocabulary": "v",
    "versions": [["k", 1, 2]],
}  # fmt: skip


def operators(plan: dict[str, Any]) -> list[str]:
    found = [plan["operatorType"].split("@")[0]]
    for child in plan.get("children", ()):
        found += operators(child)
    return found


@pytest.fixture(scope="module", params=["empty", "one history", "filled"])
def database(request, neo4j_server):
    """A database with the schema: empty, with one history only, or with several agents in it.

    With one history, an index that begins with it tells nothing apart: the planner would rather scan it.
    """
    neo4j_server.empty()
    with open_repository(**neo4j_server.arguments()) as repo:
        repo.store.apply_schema()
        for number in range({"empty": 0, "one history": 1, "filled": 5}[request.param]):
            repo.save(f"agent {number}", dense_state(2_000 // (4 * number + 1), 20), expected_revision=0)
    with neo4j_server.session() as session:
        session.run("CALL db.resampleOutdatedIndexes()").consume()
        session.run("CALL db.clearQueryCaches()").consume()
    return neo4j_server


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_scans(database, name):
    with database.session() as session:
        plan = session.run(f"EXPLAIN {statement(name)}", PARAMETERS).consume().plan
    found = operators(plan)
    assert not [operator for operator in found if any(scan in operator for scan in SCANS)], found
    if name in ("ancestors", "descendants"):
        assert any("Pruning,BFS" in operator for operator in found), found


def test_every_statement_says_what_it_is_for():
    for path in sorted(Path(cypher_folder()).rglob("*.cypher")):
        assert path.read_text("utf-8").startswith("// "), path


def count_statements(monkeypatch) -> list[str]:
    sent: list[str] = []
    run = Neo4jReader._run
    consume = Neo4jReader._consume

    def noted_run(self, name, **parameters):
        sent.append(name)
        return run(self, name, **parameters)

    def noted_consume(self, name, **parameters):
        sent.append(name)
        return consume(self, name, **parameters)

    monkeypatch.setattr(Neo4jReader, "_run", noted_run)
    monkeypatch.setattr(Neo4jReader, "_consume", noted_consume)
    writer_run = Neo4jWriter._run
    assert writer_run is not noted_run
    return sent


def test_a_warm_commit_is_two_statements(server, monkeypatch):
    with open_repository(**server.arguments()) as repo:
        repo.save("a", story(2), expected_revision=0)
        sent = count_statements(monkeypatch)
        with repo.turn("a") as turn:
            turn.goal("g")
            turn.resource("a.txt", operation="read")
            turn.remember("memory", "count", 7)
            turn.answer("x")
        assert sent[-2:] == ["lock_head", "write"]
        assert set(sent[:-2]) <= {"agent", "head", "lookup"}
        sent.clear()
        repo.append("a", [append("goal", "g2")], expected_revision=2)
        assert sent == ["lock_head", "write"]


def test_a_commit_touches_what_it_adds_and_not_the_history(server):
    """The database hits of a commit are the same after few nodes and after many."""
    hits = []
    with open_repository(**server.arguments()) as repo, server.session() as session:
        for name, nodes in (("short", 30), ("long", 1_500)):
            repo.save(name, dense_state(nodes, 10), expected_revision=0)
            head = repo.head(name)
            parameters = {
                **PARAMETERS,
                "agent_id": name,
                "ids": [head.frontier[0], "x"],
                "key_hashes": ["k"],
                "commit_id": "c",
            }
            with session.begin_transaction() as tx:
                summary = tx.run(f"PROFILE {statement('lock_head')}", parameters).consume()
                tx.rollback()
            hits.append(total_hits(summary.profile))
    assert hits[0] > 5
    assert hits[1] <= hits[0] + 3


def total_hits(plan: dict[str, Any]) -> int:
    return int(plan.get("dbHits", 0)) + sum(total_hits(child) for child in plan.get("children", ()))


def test_two_agents_never_meet(server):
    """Walking every edge in every direction from one agent reaches no node of the other."""
    with open_repository(**server.arguments()) as repo:
        for name in ("first", "second"):
            repo.save(name, story(3), expected_revision=0)
            with repo.turn(name) as turn:
                turn.goal("the same")
                turn.remember("memory", "count", 9)
            repo.record_failure(name, input="i", error="e")
        histories = {name: repo.head(name).history for name in ("first", "second")}
    with server.session() as session:
        reached = session.run(
            "MATCH (s:AgentState {agentId: 'first'})-[*1..12]-(n) RETURN n.history AS history LIMIT 200000"
        ).value()
        total = session.run(
            "MATCH (s:AgentState {agentId: 'first'}) MATCH p = (s)-[*1..3]-(n) RETURN count(DISTINCT n) AS n"
        ).single()["n"]
    assert len(reached) > 1_000
    assert set(reached) == {histories["first"]}
    assert total > 20


def test_the_graph_is_the_one_that_is_documented(server):
    with open_repository(**server.arguments()) as repo:
        repo.save("a", story(2), expected_revision=0)
        repo.record_failure("a", input="i", error="e")
    with server.session() as session:
        edges = session.run(
            "MATCH (a)-[r]->(b) WHERE NOT a:StateWeaveSchema "
            "RETURN DISTINCT [l IN labels(a) WHERE l IN $main][0] AS one, type(r) AS type, "
            "[l IN labels(b) WHERE l IN $main][0] AS other, keys(r) AS keys ORDER BY one, type",
            main=["AgentState", "Commit", "CausalNode", "ResourceKey", "FailedRun"],
        ).values()
        labels = session.run(
            "MATCH (n:CausalNode) UNWIND labels(n) AS l RETURN DISTINCT l ORDER BY l"
        ).value()
    found = {(one, kind, other): sorted(keys) for one, kind, other, keys in edges if kind != "PARENT"}
    assert found == {
        ("AgentState", "COMMITTED", "Commit"): ["revision"],
        ("AgentState", "FAILED", "FailedRun"): [],
        ("AgentState", "TRACKS", "ResourceKey"): [],
        ("Commit", "ADDED", "CausalNode"): ["sequence"],
        ("Commit", "FRONTIER", "CausalNode"): ["position"],
        ("CausalNode", "VERSION_OF", "ResourceKey"): ["version"],
    }
    parents = [sorted(keys) for _, kind, _, keys in edges if kind == "PARENT"]
    assert sorted(parents) == [["resourceKey", "sequence"], ["sequence"]]
    assert labels == [
        "Answer",
        "CausalNode",
        "Goal",
        "Resource",
        "Semantic",
        "System",
        "ToolCall",
        "ToolResult",
    ]


def test_the_schema_is_sent_once(server, monkeypatch):
    with open_repository(**server.arguments()) as repo:
        repo.append("a", [append("goal", "g")], expected_revision=0)
    sent = []
    monkeypatch.setattr("stateweave_graph.stores.neo4j.make_schema", lambda *_: sent.append(1))
    with open_repository(**server.arguments()) as repo:
        repo.append("a", [append("goal", "h")], expected_revision=1)
        repo.store.apply_schema()
    assert not sent
    assert len(schema_statements()) == 17
