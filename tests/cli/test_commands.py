"""Each command, as a user types it."""

from __future__ import annotations

import json
import re
import sqlite3

import pytest

from stateweave_graph import AgentState, open_repository
from tests.support import vectors
from tests.support.command import run
from tests.support.states import append, story


@pytest.fixture
def folder(tmp_path):
    """A folder with a snapshot, a session log, and a database with the agent ``story``."""
    (tmp_path / "snap.json").write_text(story(3).to_json(), encoding="utf-8")
    log = vectors.FOLDER / "sessions" / "failed-turns-between.jsonl"
    (tmp_path / "log.jsonl").write_bytes(log.read_bytes())
    with open_repository(tmp_path / "stateweave.db") as repo:
        repo.save("story", story(1), expected_revision=0, metadata={"input": "asked"})
        repo.save("story", story(3), expected_revision=1)
        repo.record_failure("story", input="and then", error="it broke")
    return tmp_path


def test_import_of_both_kinds(folder):
    done = run("import", "snap.json", "log.jsonl", cwd=folder)
    assert done == (0, "snap: 1 commit, 19 nodes added; now at revision 1\n"
                       "log: 2 commits, 17 nodes, 2 failed runs added; now at revision 2\n", "")  # fmt: skip
    again = run("import", "log.jsonl", "snap.json", "--json", cwd=folder)
    assert [(item["agent_id"], item["commits"], item["nodes"]) for item in again.json()] == [
        ("log", 0, 0),
        ("snap", 0, 0),
    ]
    assert run("import", "snap.json", cwd=folder).out == "snap: nothing new; now at revision 1\n"
    with open_repository(folder / "stateweave.db") as repo:
        assert repo.load("snap").state == story(3)


def test_import_from_standard_input_into_a_named_agent(folder):
    text = story(2).to_json().encode()
    assert run("import", "-", cwd=folder, stdin=text).code == 2
    assert run("import", "-", "--agent", "mine", cwd=folder, stdin=text).out.startswith("mine: 1 commit")
    assert run("import", "a.json", "b.json", "--agent", "mine", cwd=folder).code == 2


def test_a_bad_file_among_good_ones_imports_what_stands_before_it(folder):
    (folder / "bad.json").write_text("{}")
    done = run("import", "snap.json", "bad.json", "log.jsonl", cwd=folder)
    assert done.code == 1
    assert "breaks" in done.err
    agents = run("agents", "--json", cwd=folder).json()
    assert [agent["agent_id"] for agent in agents] == ["snap", "story"]


def test_export_gives_the_snapshot_back(folder):
    done = run("export", "story", cwd=folder)
    assert done.out == story(3).to_json() + "\n"
    assert run("export", "story", "--revision", "1", cwd=folder).out == story(1).to_json() + "\n"
    assert run("export", "story", "-o", "out.json", cwd=folder) == (0, "", "")
    assert AgentState.from_json((folder / "out.json").read_bytes()) == story(3)
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []
    assert run("export", "story", "--output", "no/such/out.json", cwd=folder).code == 2


def test_export_of_a_lone_surrogate(folder):
    with open_repository(folder / "stateweave.db") as repo:
        repo.append("odd", [append("goal", {"\ud800": "é \x1b[31m"})], expected_revision=0)
    done = run("export", "odd", cwd=folder)
    assert "\\ud800" in done.out
    assert AgentState.from_json(done.out).nodes[0].payload == {"\ud800": "é \x1b[31m"}
    shown = run("show", "odd", AgentState.from_json(done.out).nodes[0].id, cwd=folder)
    assert shown.code == 0
    assert "\x1b" not in shown.out


def test_validate(folder):
    assert run("validate", "snap.json", "log.jsonl", cwd=folder) == (
        0,
        "snap.json: valid\nlog.jsonl: valid\n",
        "",
    )
    wire = story(1).to_dict()
    wire["version"] = "1"
    wire["nodes"][2]["payload"] = "changed"
    (folder / "bad.json").write_text(json.dumps(wire))
    done = run("validate", "bad.json", cwd=folder)
    assert done.code == 1
    assert "bad.json: 2 violations" in done.out
    for word in ("rule", "path", "version", "identity", "$.nodes[2].id"):
        assert word in done.out
    found = run("validate", "snap.json", "bad.json", "--json", cwd=folder)
    assert found.code == 1
    first, second = found.json()
    assert first == {"file": "snap.json", "valid": True, "violations": []}
    assert [violation["rule"] for violation in second["violations"]] == ["version", "identity"]
    broken = (folder / "log.jsonl").read_text().replace('"finalAnswer"', '"final"', 1)
    (folder / "broken.jsonl").write_text(broken)
    (violation,) = run("validate", "broken.jsonl", "--json", cwd=folder).json()[0]["violations"]
    assert violation["rule"] == "entry"
    assert violation["path"].startswith("line ")
    limited = run("validate", "snap.json", "--max-nodes", "3", "--json", cwd=folder)
    assert [v["rule"] for v in limited.json()[0]["violations"]] == ["size"]
    assert run("validate", "-", cwd=folder, stdin=b"[]").code == 1


def test_agents(folder):
    run("import", "snap.json", "log.jsonl", cwd=folder)
    assert [agent["agent_id"] for agent in run("agents", "--json", cwd=folder).json()] == [
        "log",
        "snap",
        "story",
    ]
    page = run("agents", "--after", "log", "--limit", "1", "--json", cwd=folder).json()
    assert [(agent["agent_id"], agent["revision"], agent["node_count"]) for agent in page] == [
        ("snap", 1, 19)
    ]
    lines = run("agents", cwd=folder).out.splitlines()
    assert lines[0].split() == ["agent", "revision", "nodes", "updated"]
    assert [line.split()[:3] for line in lines[1:]] == [
        ["log", "2", "17"],
        ["snap", "1", "19"],
        ["story", "2", "19"],
    ]


def test_log(folder):
    lines = run("log", "story", cwd=folder).out.splitlines()
    assert [line.split()[0] for line in lines] == ["revision", "failed", "2", "1"]
    assert "and then: it broke" in lines[1]
    assert lines[3].endswith("+7     asked")
    entries = run("log", "story", "--json", cwd=folder).json()
    assert [(entry["type"], entry["revision"]) for entry in entries] == [
        ("failed_run", 2),
        ("commit", 2),
        ("commit", 1),
    ]
    assert len(run("log", "story", "--before", "2", "--json", cwd=folder).json()) == 1


def test_show(folder):
    head = run("show", "story", "--json", cwd=folder).json()
    assert (head["revision"], head["node_count"], head["frontier"]) == (2, 19, story(3).frontier)
    assert f"revision: {head['revision']}" in run("show", "story", cwd=folder).out
    node = story(3).nodes[2]
    assert run("show", "story", node.id, "--json", cwd=folder).json() == node.to_dict()
    assert '"name": "read_file"' in run("show", "story", node.id, cwd=folder).out


def test_lineage_and_impact(folder):
    state = story(3)
    with open_repository(folder / "stateweave.db") as repo:
        above, below = (
            repo.lineage("story", state.nodes[-1].id).ids,
            repo.impact("story", state.nodes[1].id).ids,
        )
    found = run("lineage", "story", state.nodes[-1].id, "--json", cwd=folder).json()
    assert [item["id"] for item in found] == above
    found = run("lineage", "story", state.nodes[1].id, "--impact", "--json", cwd=folder).json()
    assert [item["id"] for item in found] == below
    assert above[0] in run("lineage", "story", state.nodes[-1].id, cwd=folder).out


def test_memory(folder):
    (found,) = run("memory", "story", "--json", cwd=folder).json()
    assert (found["type"], found["key"], found["content"], found["versions"]) == ("memory", "count", 2, 3)
    assert found["node"]["resourceKey"] == "semantic:memory:count"
    assert run("memory", "story", "--type", "preference", "--json", cwd=folder).json() == []
    assert run("memory", "story", cwd=folder).out.splitlines()[1].split() == ["memory", "count", "3", "2"]


def test_delete_asks(folder):
    refused = run("delete", "story", cwd=folder)
    assert refused.code == 2
    assert "--yes" in refused.err
    assert run("delete", "story", "--yes", cwd=folder).out == "story: deleted\n"
    assert run("show", "story", cwd=folder).code == 3
    run("import", "snap.json", cwd=folder)
    assert run("delete", "snap", "-y", "--json", cwd=folder).json()["deleted"] == "snap"


def test_schema(folder):
    assert run("schema", cwd=folder).out == "./stateweave.db: schema 1\n"
    assert run("schema", "--json", cwd=folder).json() == {"store": "./stateweave.db", "schema": 1}
    text = run("schema", "--print", "--db", "new.db", cwd=folder).out
    assert "CREATE TABLE nodes" in text
    assert not (folder / "new.db").exists()
    connection = sqlite3.connect(":memory:")
    connection.executescript(text)
    connection.close()
    assert run("schema", "--apply", "--db", "new.db", cwd=folder).out == "new.db: schema 1\n"
    assert (folder / "new.db").exists()


def test_the_store_is_the_option_or_the_environment_or_the_default(folder):
    with open_repository(folder / "other.db") as repo:
        repo.save("there", story(1), expected_revision=0)
    assert "story" in run("agents", cwd=folder).out
    assert "there" in run("agents", cwd=folder, environment={"STATEWEAVE_GRAPH_DB": "other.db"}).out
    assert "there" in run("agents", "--db", "sqlite:///other.db", cwd=folder).out
    assert (
        "story"
        in run(
            "agents", "--db", "stateweave.db", cwd=folder, environment={"STATEWEAVE_GRAPH_DB": "other.db"}
        ).out
    )


def test_demo(tmp_path):
    done = run("demo", cwd=tmp_path)
    assert done.code == 0, done.err
    for part in (
        "imported coding-agent.json",
        "imported support-bot.jsonl",
        "committed a turn",
        "flowchart TD",
    ):
        assert part in done.out
    assert str(tmp_path / "stateweave-demo.db") in done.out
    typed = re.findall(r"^  stateweave-graph (.*)$", done.out, re.MULTILINE)
    assert len(typed) >= 3
    for line in typed:
        assert run(*line.split(), cwd=tmp_path).code == 0, line
    again = run("demo", "--json", cwd=tmp_path)
    assert again.code == 0
    assert {item["agent_id"] for item in again.json()["imported"]} >= {"coding-agent", "support-bot"}


def test_version_and_help(tmp_path):
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", run("--version", cwd=tmp_path).out)
    listed = run("--help", cwd=tmp_path)
    assert listed.code == 0
    for command in (
        "import",
        "export",
        "validate",
        "agents",
        "log",
        "show",
        "lineage",
        "memory",
        "delete",
        "schema",
    ):
        assert f"  {command} " in listed.out
        text = run(command, "--help", cwd=tmp_path).out
        assert f"Example: stateweave-graph {command}" in " ".join(text.split()), command
    assert list(tmp_path.iterdir()) == []
