"""One Cypher text, two engines: the same columns, rows and Python types."""

from __future__ import annotations

import pytest

from stateweave_graph import open_repository
from stateweave_graph.repository.transfer import copy_agent
from tests.support.cypher_texts import ALL_TEXTS, fill, parameters_of


@pytest.fixture(scope="module")
def both(neo4j_server):
    neo4j_server.empty()
    with open_repository(":memory:") as embedded, open_repository(**neo4j_server.arguments()) as server:
        given = fill(embedded)
        for agent in embedded.agents():
            copy_agent(embedded.store, server.store, agent.agent_id)
        yield embedded, server, given


@pytest.mark.parametrize("agent", ["coding-agent", "support-bot", "hostile"])
@pytest.mark.parametrize("text", ALL_TEXTS, ids=range(len(ALL_TEXTS)))
def test_both_engines_give_the_same(both, text, agent):
    embedded, server, given = both
    parameters = parameters_of(text, agent, given)
    one = embedded.cypher(text, parameters=parameters, max_rows=100_000)
    other = server.cypher(text, parameters=parameters, max_rows=100_000)
    assert one.columns == other.columns
    assert one.rows == other.rows
    assert [[type(value) for value in row.values()] for row in one] == [
        [type(value) for value in row.values()] for row in other
    ]
