"""The named queries, on either engine, against answers worked out by hand."""

from __future__ import annotations

import pytest

from stateweave_graph import AgentState, FailedRun, NotFoundError, QueryError, Repository, read_session_log
from stateweave_graph.queries import named_queries
from stateweave_graph.shipped import example_files
from tests.support.worked_out import WorkedOut

QUERIES = named_queries()
OF_ONE = [name for name, query in QUERIES.items() if query.parameters]
AGENTS = [path.stem for path in example_files()]


def fill(repository: Repository) -> None:
    """Bring in all examples."""
    for path in example_files():
        if path.suffix == ".jsonl":
            repository.import_session_log(path.stem, read_session_log(path))
        else:
            repository.import_state(path.stem, AgentState.from_json(path.read_bytes()))


class QueryContract:
    """Each query, on each example; the module supplies the fixture ``filled``, a repository with all of them."""

    @pytest.mark.parametrize("agent", AGENTS)
    @pytest.mark.parametrize("name", OF_ONE)
    def test_a_query_gives_what_was_worked_out(self, filled, name, agent):
        runs = [entry for entry in filled.log(agent)[::-1] if isinstance(entry, FailedRun)]
        expected = WorkedOut(filled.load(agent).state, runs).answers()[name]
        found = filled.query(name, agent=agent)
        assert tuple(found.columns) == QUERIES[name].columns
        assert len(found) == len(expected)
        for row, wanted in zip(found, expected, strict=True):
            assert row == {
                column: pytest.approx(value, abs=0.0101) if isinstance(value, float) else value
                for column, value in wanted.items()
            }  # engines round halves apart

    def test_queries_over_all_agents(self, filled):
        sizes = filled.query("agents-by-size").rows
        summaries = sorted(filled.agents(), key=lambda agent: (-agent.node_count, agent.agent_id))
        assert [(row["agent"], row["nodes"]) for row in sizes] == [
            (agent.agent_id, agent.node_count) for agent in summaries
        ]
        days = filled.query("activity").rows
        assert sum(row["nodes"] for row in days) == sum(agent.node_count for agent in summaries)
        assert sum(row["commits"] for row in days) == sum(agent.revision for agent in summaries)
        assert [row["day"] for row in days] == sorted(row["day"] for row in days)
        assert days[0] == {"day": 20703, "commits": 6, "nodes": 39, "agents": 1}

    def test_parameters_are_checked(self, filled):
        for asked in (
            lambda: filled.query("turns"),
            lambda: filled.query("turns", agent="coding-agent", more=1),
            lambda: filled.query("activity", agent="coding-agent"),
            lambda: filled.query("no-such-query", agent="coding-agent"),
        ):
            with pytest.raises(QueryError):
                asked()
        with pytest.raises(NotFoundError):
            filled.query("turns", agent="nobody")

    def test_frames_and_tables(self, filled):
        found = filled.query("tool-usage", agent="coding-agent")
        frame = found.to_df()
        assert list(frame.columns) == found.columns
        assert frame.to_dict("records") == found.rows
        assert found.to_arrow().to_pylist() == found.rows
        empty = filled.query("stale-reads", agent="tabi-agent")
        assert list(empty.to_df().columns) == empty.columns
        assert empty.to_arrow().column_names == empty.columns

    def test_queries_of_ones_own(self, filled, tmp_path):
        header = "// question: How many?\n// parameters: agent, kind\n// columns: n\n// example: none\n"
        text = "MATCH (s:AgentState {agentId: $agent}) MATCH (n:CausalNode) WHERE n.history = s.history AND n.kind = $kind "
        (tmp_path / "count.cypher").write_text(f"{header}{text}RETURN count(*) AS n ORDER BY n")
        (tmp_path / "turns.cypher").write_text(f"{header}{text}RETURN 7 AS n LIMIT 1")
        assert filled.query("count", agent="coding-agent", kind="goal", folder=tmp_path).rows == [{"n": 40}]
        assert filled.query("turns", agent="coding-agent", kind="goal", folder=tmp_path).rows == [{"n": 7}]
        (tmp_path / "bad.cypher").write_text("RETURN 1 AS n")
        for folder in (tmp_path, tmp_path / "nothing"):
            with pytest.raises(QueryError):
                filled.query("count", agent="coding-agent", kind="goal", folder=folder)
