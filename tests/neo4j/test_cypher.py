"""Cypher typed by hand: it reads, within bounds, and does nothing else."""

from __future__ import annotations

import pytest

from stateweave_graph import InvalidRequestError, QueryError, open_repository
from tests.support.command import run
from tests.support.states import append, story


@pytest.fixture
def repo(server):
    with open_repository(**server.arguments()) as repository:
        repository.save("a", story(3), expected_revision=0)
        yield repository


@pytest.fixture
def environment(server):
    return {
        "NEO4J_URI": server.uri,
        "NEO4J_USERNAME": server.user,
        "NEO4J_PASSWORD": server.password,
        **({"NEO4J_DATABASE": server.database} if server.database else {}),
    }


def test_rows_are_plain_python(repo):
    found = repo.cypher(
        "MATCH (n:CausalNode {kind: $kind}) RETURN n.sequence AS sequence, n.kind AS kind, $extra AS extra "
        "ORDER BY sequence",
        parameters={"kind": "goal", "extra": [1, None, {"a": 1.5}]},
    )
    assert found.columns == ["sequence", "kind", "extra"]
    assert len(found) == 3
    assert (
        next(iter(found)) == found.rows[0] == {"sequence": 2, "kind": "goal", "extra": [1, None, {"a": 1.5}]}
    )
    (row,) = repo.cypher(
        "MATCH (s:AgentState) MATCH p = (s)-[r:COMMITTED]->(c:Commit) "
        "RETURN s, r, p, date('2026-09-01') AS day, datetime('2026-09-01T12:00:00Z') AS moment, "
        "duration('P1D') AS span, point({x: 1, y: 2}) AS place"
    )
    assert row["s"]["labels"] == ["AgentState"]
    assert row["s"]["properties"]["agentId"] == "a"
    assert row["r"] == {"type": "COMMITTED", "properties": {"revision": 1}}
    assert [step.get("labels") or step["type"] for step in row["p"]] == [
        ["AgentState"],
        "COMMITTED",
        ["Commit"],
    ]
    assert (row["day"], row["moment"][:19], row["span"]) == ("2026-09-01", "2026-09-01T12:00:00", "P1D")
    assert row["place"]["coordinates"] == [1.0, 2.0]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE (n:X)",
        "MATCH (n) SET n.x = 1",
        "MATCH (n) DETACH DELETE n",
        "MATCH (n) REMOVE n:Goal RETURN n",
        "MERGE (n:X) RETURN n",
        "MATCH (n) CALL (n) { SET n.x = 1 } RETURN n",
        "CREATE INDEX x FOR (n:X) ON (n.x)",
        "DROP CONSTRAINT stateweave_node_id",
        "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
        "CALL dbms.listConnections() YIELD connectionId RETURN connectionId",
        "CALL db.awaitIndexes()",
        "CALL dbms.killConnection('x')",
        "SHOW TRANSACTIONS YIELD transactionId",
        "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
        "SHOW USERS",
        "SHOW DATABASES",
        "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'b'",
        "MATCH (n) CALL { WITH n DELETE n } IN TRANSACTIONS",
        "USE system SHOW USERS",
        "MATCH (n) RETURN n; CREATE (m)",
        "RETURN 1; RETURN 2",
        "",
        "no cypher at all",
        "MATCH (n) RETURN $missing",
        "RETURN 1/0",
        "EXPLAIN CREATE (n)",
        "// nothing",
    ],
)
def test_what_is_refused_changes_nothing(server, repo, text):
    def state():
        with server.session() as session:
            return session.run("MATCH (n) RETURN count(n) AS n, sum(size(keys(n))) AS keys").single().values()

    before = state()
    with pytest.raises(QueryError):
        repo.cypher(text)
    assert state() == before


def test_bounds(repo):
    with pytest.raises(QueryError, match="more than 3 rows"):
        repo.cypher("MATCH (n:CausalNode) RETURN n.id", max_rows=3)
    assert len(repo.cypher("MATCH (n:CausalNode) RETURN n.id LIMIT 3", max_rows=3)) == 3
    with pytest.raises(QueryError, match="longer"):
        repo.cypher(
            "UNWIND range(1, 1000000000) AS x WITH x WHERE x % 7 = 8 RETURN count(x) AS n", timeout=0.5
        )
    for bad in ({"max_rows": 0}, {"timeout": 0}, {"timeout": "x"}):
        with pytest.raises(InvalidRequestError):
            repo.cypher("RETURN 1 AS n", **bad)
    with pytest.raises(InvalidRequestError):
        repo.cypher(5)


def test_procedures_that_tell_of_the_schema_are_allowed(repo):
    labels = {row["label"] for row in repo.cypher("CALL db.labels() YIELD label RETURN label")}
    assert {"CausalNode", "AgentState"} <= labels


def test_the_command(repo, environment, tmp_path):
    text = "MATCH (s:AgentState) RETURN s.agentId AS agent, s.revision AS revision, [1, 2] AS list"
    found = run("cypher", text, "--json", cwd=tmp_path, environment=environment)
    assert found.json() == [{"agent": "a", "revision": 1, "list": [1, 2]}]
    assert run("cypher", text, "--csv", cwd=tmp_path, environment=environment).out == (
        'agent,revision,list\na,1,"[1, 2]"\n'
    )
    assert run("cypher", text, cwd=tmp_path, environment=environment).out == (
        "agent  revision  list\na      1         [1,2]\n"
    )
    stdin = b"MATCH (n:CausalNode) WHERE n.kind = $kind AND n.turn = $turn RETURN n.sequence AS s"
    asked = ("cypher", "-", "-p", "kind=goal", "-p", "turn=2", "--json")
    assert run(*asked, cwd=tmp_path, stdin=stdin, environment=environment).json() == [{"s": 8}]
    refused = run("cypher", "CREATE (n)", cwd=tmp_path, environment=environment)
    assert (refused.code, refused.out) == (2, "")
    assert "only reading" in refused.err
    assert list(tmp_path.iterdir()) == []


def test_the_commands_on_a_server(repo, environment, tmp_path):
    assert "a" in run("agents", cwd=tmp_path, environment=environment).out
    assert "CREATE CONSTRAINT" in run("schema", "--print", cwd=tmp_path, environment=environment).out
    assert run("schema", "--apply", cwd=tmp_path, environment=environment).out.endswith("schema 1\n")
    wrong = run("agents", cwd=tmp_path, environment={**environment, "NEO4J_PASSWORD": "a wrong secret"})
    assert wrong.code == 5
    assert "secret" not in wrong.err
    repo.append("a", [append("goal", "one more")], expected_revision=1)
    assert (
        run("export", "a", cwd=tmp_path, environment=environment).out == repo.load("a").state.to_json() + "\n"
    )
    assert run("delete", "a", "--yes", cwd=tmp_path, environment=environment).code == 0
    assert repo.agents() == []


def test_copying_there_and_back(repo, server, environment, tmp_path):
    """Whole histories with all revisions, hashes and failed runs; said again, what is missing is added."""
    with open_repository(tmp_path / "one.db") as one:
        for number in range(1, 4):
            one.save("b", story(number), expected_revision=number - 1, metadata={"n": number})
        one.record_failure("b", input="i", error="e", usage={"t": 1})
        before = one.log("b")
    environment = {**environment, "NEO4J_TO_PASSWORD": server.password, "NEO4J_PASSWORD": "not this one"}
    arguments = ("copy", "--from", "one.db", "--to", server.uri)
    done = run(*arguments, cwd=tmp_path, environment=environment)
    assert done.out == (
        "b: 3 commits, 19 nodes, 1 failed run added; at revision 3, read back and compared\n"
    ), done.err
    assert repo.log("b") == before
    with open_repository(tmp_path / "one.db") as one:
        one.save("b", story(4), expected_revision=3)
        one.append("c", [append("goal", "g")], expected_revision=0)
    again = run(*arguments, "--json", cwd=tmp_path, environment=environment).json()
    assert [(item["agent_id"], item["commits"], item["nodes"]) for item in again] == [
        ("b", 1, 6),
        ("c", 1, 1),
    ]
    back = {**environment, "NEO4J_FROM_PASSWORD": server.password}
    done = run("copy", "--from", server.uri, "--to", "two.db", cwd=tmp_path, environment=back)
    assert done.code == 0, done.err
    with open_repository(tmp_path / "two.db") as two:
        assert [agent.agent_id for agent in two.agents()] == ["a", "b", "c"]
        for name in ("a", "b", "c"):
            assert two.log(name) == repo.log(name)
            assert two.load(name).state == repo.load(name).state
        with two.turn("b") as turn:
            turn.goal("another way")
    repo.append("b", [append("goal", "one way")], expected_revision=4)
    other = run("copy", "--from", server.uri, "--to", "two.db", "b", cwd=tmp_path, environment=back)
    assert other.code == 4
    assert "another history" in other.err
    assert run("copy", "--from", "one.db", cwd=tmp_path).code == 2
    assert run("copy", "--from", "one.db", "--to", "x.db", "nobody", cwd=tmp_path).code == 3
