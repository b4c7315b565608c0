"""The named queries on Neo4j: the same answers, by index, and never by walking paths."""

from __future__ import annotations

import pytest

from stateweave_graph import open_repository
from stateweave_graph.queries import named_queries
from tests.neo4j.test_plans import SCANS, operators
from tests.support.query_contract import QueryContract, fill

OVER_ALL = {"activity", "agents-by-size"}


@pytest.fixture(scope="module")
def filled(neo4j_server):
    neo4j_server.empty()
    with open_repository(**neo4j_server.arguments()) as repository:
        fill(repository)
        yield repository


class TestNeo4j(QueryContract):
    @pytest.mark.parametrize("name", sorted(named_queries()))
    def test_no_query_scans_other_agents(self, filled, neo4j_server, name):
        query = named_queries()[name]
        with neo4j_server.session() as session:
            plan = session.run(f"EXPLAIN {query.text}", agent="coding-agent").consume().plan
        found = operators(plan)
        scans = [operator for operator in found if any(scan in operator for scan in SCANS)]
        assert not scans or name in OVER_ALL, found
        paths = [
            operator for operator in found if "VarLengthExpand" in operator and "Pruning" not in operator
        ]
        assert not paths, found
