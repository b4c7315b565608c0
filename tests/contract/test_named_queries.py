"""The named queries on the embedded engine, and their commands."""

from __future__ import annotations

import re

import pytest

from stateweave_graph import open_repository
from stateweave_graph.cyphertext import cypher_folder
from stateweave_graph.queries import named_queries
from tests.support.command import run
from tests.support.query_contract import QueryContract, fill

WANTED = {
    "activity", "agents-by-size", "busiest-nodes", "dangling-branches", "failures", "fan-in", "fan-out", "goal-funnel",
    "hot-resources", "memory-growth", "stale-reads", "tool-latency", "tool-usage", "turns",
}  # fmt: skip


@pytest.fixture(scope="module")
def filled():
    with open_repository(":memory:") as repository:
        fill(repository)
        yield repository


class TestEmbedded(QueryContract):
    pass


def test_each_query_says_what_it_asks():
    queries = named_queries()
    assert set(queries) >= WANTED
    for name, query in queries.items():
        assert query.question.rstrip(")").endswith("?") or "(" in query.question, name
        assert query.example.startswith(f"stateweave-graph query {name}"), name
        assert set(re.findall(r"\$(\w+)", query.text)) == set(query.parameters), name
        assert query.sorted_by or "ORDER BY" in query.text, name
    assert len(list((cypher_folder() / "queries").glob("*.cypher"))) == len(queries)


def test_the_commands(tmp_path):
    assert run("import", f"{cypher_folder().parent}/examples/triage-agent.json", cwd=tmp_path).code == 0
    listed = run("queries", cwd=tmp_path)
    assert all(name in listed.out for name in WANTED)
    assert {query["name"] for query in run("queries", "--json", cwd=tmp_path).json()} >= WANTED
    asked = ("query", "goal-funnel", "--agent", "triage-agent")
    expected = {"goals": 4, "answered": 2, "failed": 1, "abandoned": 1}
    assert (
        run(*asked, "--json", cwd=tmp_path).json()
        == run(*asked, "--format", "json", cwd=tmp_path).json()
        == [expected]
    )
    assert run(*asked, "--format", "csv", cwd=tmp_path).out == "goals,answered,failed,abandoned\n4,2,1,1\n"
    assert run(*asked, cwd=tmp_path).out.split() == [*expected, "4", "2", "1", "1"]
    assert run(*asked, "--format", "parquet", "-o", "out.parquet", cwd=tmp_path).code == 0
    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == [expected]
    assert run(*asked, "-o", "out.txt", cwd=tmp_path).code == 2
    assert run("query", "nothing", cwd=tmp_path).code == 2
    assert run("query", "turns", "--agent", "nobody", cwd=tmp_path).code == 3
