"""What the store asks of SQLite: by index, never over all of a table."""

from __future__ import annotations

import pytest

from stateweave_graph import Append, open_repository
from stateweave_graph.testing.samples import dense_state
from tests.support.states import append, story

AGENTS = 40
ROWS_AT_HAND = {"SCAN found", "SCAN CONSTANT ROW"}  # what a recursive query has found so far


@pytest.fixture(scope="module")
def repo():
    """A store with a long history among many short ones, in memory, where one connection does everything."""
    with open_repository(":memory:") as repo:
        repo.save("long", dense_state(300, 12), expected_revision=0)
        repo.save("told", story(3), expected_revision=0)
        with repo.turn("told") as turn:
            turn.goal("g")
            turn.resource("a.txt", operation="read")
            turn.remember("memory", "count", 7)
        repo.record_failure("told", input="i", error="e")
        for number in range(AGENTS):
            repo.append(f"short {number:02}", [append("goal", number)], expected_revision=0)
        yield repo


CALLS = {
    "agents": lambda repo: repo.agents(limit=5),
    "agents, from behind one": lambda repo: repo.agents(after="short 20", limit=5),
    "head": lambda repo: repo.head("told"),
    "heads": lambda repo: repo.heads("told"),
    "load": lambda repo: repo.load("told"),
    "load, as it was": lambda repo: repo.load("told", revision=1),
    "log": lambda repo: repo.log("told", limit=5),
    "diff": lambda repo: repo.diff("told", 1, 2),
    "resource": lambda repo: repo.resource("told", "a.txt"),
    "resources": lambda repo: repo.resources("told"),
    "memory": lambda repo: repo.memory("told"),
    "memory, as it was": lambda repo: repo.memory("told", at_revision=1),
    "memory history": lambda repo: repo.memory_history("told", "memory", "count"),
    "lineage": lambda repo: list(repo.lineage("long", repo.head("long").frontier[0])),
    "lineage, to a depth": lambda repo: list(repo.lineage("long", repo.head("long").frontier[0], depth=2)),
    "why": lambda repo: repo.why("told", repo.head("told").frontier[0]),
    "impact": lambda repo: list(repo.impact("long", repo.load("long").state.nodes[40].id)),
    "path": lambda repo: repo.path(
        "told", repo.head("told").frontier[0], repo.load("told").state.nodes[0].id
    ),
    "known at": lambda repo: repo.known_at("told", repo.head("told").frontier[0]),
    "mirror": lambda repo: repo.mirror("told"),
    "failed run": lambda repo: repo.record_failure("told", input="i", error="e"),
    "fork and delete": lambda repo: (repo.fork("told", "copy", revision=1), repo.delete("copy")),
    "append": lambda repo: repo.append("told", [Append(kind="goal", payload="n")], expected_revision=2),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_statement_scans(repo, name):
    steps = plan(repo, CALLS[name])
    assert any(step.startswith("SEARCH") for step in steps)
    assert {step for step in steps if step.startswith("SCAN")} <= ROWS_AT_HAND, steps


def test_a_page_of_agents_is_read_in_the_order_of_the_index(repo):
    steps = plan(repo, CALLS["agents"])
    assert len(steps) == 1, "a second step would be a sort of all agents"
    assert "agent_id>?" in steps[0]


def plan(repo, call) -> list[str]:
    """The steps of the plans of all statements that a call runs, but for what opens the file."""
    asked: list[str] = []
    repo.store.administer(lambda connection: connection.set_trace_callback(asked.append))
    call(repo)
    repo.store.administer(lambda connection: connection.set_trace_callback(None))
    statements = [text for text in asked if text.startswith(("SELECT", "WITH", "UPDATE", "DELETE", "\n"))]
    assert statements
    return [
        row[3]
        for text in statements
        for row in repo.store.administer(
            lambda connection, text=text: connection.execute(f"EXPLAIN QUERY PLAN {text}").fetchall()
        )
    ]
