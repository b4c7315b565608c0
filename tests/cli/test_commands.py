"""Each command, as a user types it."""

from __future__ import annotations

import json
import os
import re
import shlex
import sqlite3
import subprocess
from contextlib import closing

import pytest

from stateweave_graph import AgentState, LogEntry, __version__, open_repository, read_session_log
from stateweave_graph.shipped import example_files
from tests.support import vectors
from tests.support.command import ROOT, run
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
    assert done.out == "snap: 1 commit, 19 nodes added; now at revision 1\n"
    assert "breaks" in done.err
    again = run("import", "log.jsonl", "bad.json", "snap.json", "--json", cwd=folder)
    assert [item["file"] for item in again.json()] == ["log.jsonl"], "what was done is said"
    assert json.loads(again.err)["error"]["type"] == "InvalidStateError"
    agents = run("agents", "--json", cwd=folder).json()
    assert [agent["agent_id"] for agent in agents] == ["log", "snap", "story"]


def test_export_and_import_of_all_revisions(folder):
    for ending in ("jsonl", "graphml"):
        assert run("export", "story", "-o", f"out.{ending}", cwd=folder) == (0, "", "")
    assert (folder / "out.graphml").read_text("utf-8").startswith("<?xml")
    done = run("import", "out.jsonl", "--agent", "again", cwd=folder)
    assert done.out == "again: 2 commits, 19 nodes, 1 failed run added; now at revision 2\n"
    assert (
        run("import", "out.jsonl", "--agent", "story", cwd=folder).out
        == "story: nothing new; now at revision 2\n"
    )
    piped = run("export", "again", "--format", "jsonl", "--revision", "1", cwd=folder)
    assert run("import", "-", "--agent", "piped", cwd=folder, stdin=piped.out.encode()).code == 0
    with open_repository(folder / "stateweave.db") as repo:
        assert repo.load("again").state == story(3)
        assert repo.load("piped").state == story(1)
        assert [entry.digest for entry in repo.log("again") if isinstance(entry, LogEntry)] == [
            entry.digest for entry in repo.log("story") if isinstance(entry, LogEntry)
        ]
    lines = (folder / "out.jsonl").read_bytes().replace(b'"goal 0"', b'"goal O"')
    (folder / "out.jsonl").write_bytes(lines)
    refused = run("import", "out.jsonl", "--agent", "wrong", cwd=folder)
    assert (refused.code, refused.out) == (1, "")
    assert "line 2" in refused.err
    judged = run("validate", "out.jsonl", "--json", cwd=folder)
    assert judged.code == 1
    assert judged.json()[0]["violations"][0]["rule"] == "identity"
    assert judged.json()[0]["violations"][0]["path"].startswith("line 2, $.nodes[")
    assert run("import", "out.jsonl", "--agent", "wrong", cwd=folder).code == 1


def test_export_of_a_session_log_into_a_folder(folder):
    (folder / "sessions").mkdir()
    said = run("export", "story", "--format", "session-log", "-o", "sessions", "--json", cwd=folder).json()
    (file,) = (folder / "sessions").iterdir()
    assert said["files"] == [f"sessions/{file.name}"]
    log = read_session_log(file)
    assert file.name == f"{log.session_id}.jsonl"
    assert log.state == story(3)


def test_export_of_tables_needs_a_folder(folder):
    assert run("export", "story", "--format", "parquet", cwd=folder).code == 2
    assert run("export", "story", "-o", "tables.parquet", cwd=folder) == (0, "", "")
    assert sorted(path.name for path in (folder / "tables.parquet").iterdir()) == [
        "edges.parquet",
        "nodes.parquet",
    ]
    assert run("export", "story", "-o", "snap.json", "--format", "parquet", cwd=folder).code == 2


def test_search_finds_and_says_what_it_did_not(folder):
    found = run("search", "story", "GOAL", "1", cwd=folder)
    assert found.code == 0
    assert "goal 1" in found.out
    rows = run("search", "story", "goal", "--kind", "goal", "-n", "2", "--json", cwd=folder).json()
    assert [row["snippet"] for row in rows] == ["goal 2", "goal 1"]
    assert [row["marks"] for row in rows] == [[[0, 4]], [[0, 4]]]
    page = run("search", "story", "goal", "--kind", "goal", "-n", "2", cwd=folder)
    assert f"--before {rows[1]['sequence']}" in page.err
    none = run("search", "story", "zebra", cwd=folder)
    assert (none.code, none.out) == (0, "")
    assert "zebra" in none.err
    assert run("search", "story", "zebra", "--json", cwd=folder).json() == []
    assert run("search", "story", " ", cwd=folder).code == 2
    assert run("search", "nobody", "x", cwd=folder).code == 3


def test_export_gives_the_snapshot_back(folder):
    done = run("export", "story", cwd=folder)
    assert done.out == story(3).to_json() + "\n"
    assert run("export", "story", "--revision", "1", cwd=folder).out == story(1).to_json() + "\n"
    assert run("export", "story", "-o", "out.json", cwd=folder) == (0, "", "")
    assert AgentState.from_json((folder / "out.json").read_bytes()) == story(3)
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []
    said = run("export", "story", "-o", "out.json", "--revision", "1", "--json", cwd=folder).json()
    size = len(story(1).to_json().encode()) + 1
    assert said == {
        "file": "out.json",
        "agent_id": "story",
        "revision": 1,
        "nodes": 7,
        "files": ["out.json"],
        "bytes": size,
    }
    assert run("export", "story", "--json", cwd=folder).out == story(3).to_json() + "\n"


def test_export_replaces_a_file_whole_or_not_at_all(folder):
    (folder / "real.json").write_text("before")
    (folder / "real.json").chmod(0o640)
    (folder / "link.json").symlink_to("real.json")
    assert run("export", "story", "-o", "link.json", cwd=folder).code == 0
    assert (folder / "link.json").is_symlink()
    assert (folder / "real.json").read_text() == story(3).to_json() + "\n"
    assert (folder / "real.json").stat().st_mode & 0o777 == 0o640
    before = sorted(path.name for path in folder.iterdir())
    for target in ("no/such/out.json", ".", "real.json/x"):
        refused = run("export", "story", "-o", target, cwd=folder)
        assert refused.code == 2
        assert "can't be written" in refused.err
    assert run("export", "nobody", "-o", "real.json", cwd=folder).code == 3
    assert (folder / "real.json").read_text() == story(3).to_json() + "\n"
    assert sorted(path.name for path in folder.iterdir()) == before
    assert run("export", "story", "-o", "/dev/null", cwd=folder).code == 0


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
    assert run("agents", "--limit", "2", cwd=folder).err == "there may be more: --after snap\n"
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
    assert run("log", "story", "--limit", "1", cwd=folder).err == "there are older ones: --before 2\n"
    assert run("log", "story", "--limit", "2", cwd=folder).err == ""


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


def test_copy_between_two_files(folder):
    run("import", "snap.json", cwd=folder)
    done = run("copy", "--from", "stateweave.db", "--to", "two.db", "--json", cwd=folder)
    assert [(item["agent_id"], item["commits"]) for item in done.json()] == [("snap", 1), ("story", 2)]
    with open_repository(folder / "stateweave.db") as one, open_repository(folder / "two.db") as two:
        for agent in ("snap", "story"):
            assert two.log(agent) == one.log(agent)
            assert two.load(agent).state == one.load(agent).state
    again = run("copy", "--from", "stateweave.db", "--to", "two.db", "story", cwd=folder)
    assert again.out == "story: nothing new; at revision 2, read back and compared\n"
    partly = run("copy", "--from", "stateweave.db", "--to", "x.db", "snap", "nobody", "--json", cwd=folder)
    assert (partly.code, [item["agent_id"] for item in partly.json()]) == (3, ["snap"])
    assert run("copy", "--from", "stateweave.db", cwd=folder).code == 2


def test_cypher_on_a_file(folder):
    found = run("cypher", "MATCH (n:CausalNode) RETURN count(*) AS nodes", "--json", cwd=folder)
    assert found.json() == [{"nodes": 19}]
    refused = run("cypher", "CREATE (n:CausalNode)", "--json", cwd=folder)
    assert (refused.code, refused.out) == (2, "")
    assert json.loads(refused.err)["error"]["type"] == "QueryError"
    unreadable = run("cypher", "-", cwd=folder, stdin=b"\xff")
    assert unreadable.code == 2
    assert "not UTF-8" in unreadable.err


def test_delete_without_a_terminal_says_what_to_type(folder):
    refused = run("delete", "story", "--db", "stateweave.db", cwd=folder)
    assert (refused.code, refused.out) == (2, "")
    (command,) = re.findall(r"type: stateweave-graph (.*)$", refused.err, re.MULTILINE)
    assert run("delete", "story", "--json", cwd=folder).code == 2
    assert run("show", "story", cwd=folder).code == 0
    assert run(*shlex.split(command), cwd=folder).out == "story: deleted\n"
    assert run("show", "story", cwd=folder).code == 3
    run("import", "snap.json", cwd=folder)
    assert run("delete", "snap", "-y", "--json", cwd=folder).json()["deleted"] == "snap"


def test_schema(folder):
    assert run("schema", cwd=folder).out == f"stateweave_graph {__version__}\n./stateweave.db: schema 1\n"
    expected = {"store": "./stateweave.db", "schema": 1, "package": __version__}
    assert run("schema", "--json", cwd=folder).json() == expected
    text = run("schema", "--print", "--db", "new.db", cwd=folder).out
    assert "CREATE TABLE nodes" in text
    assert run("schema", "--print", "--json", cwd=folder).json()["text"].strip() == text.strip()
    assert not (folder / "new.db").exists()
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(text)
        (count,) = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'nodes'").fetchone()
    assert count == 1
    assert run("schema", "--db", "new.db", cwd=folder).code == 3
    assert run("schema", "--apply", "--db", "new.db", cwd=folder).out.endswith("new.db: schema 1\n")
    assert (folder / "new.db").exists()
    assert run("schema", "--apply", "--print", "--db", "new.db", cwd=folder).code == 2


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
    assert (done.code, done.err) == (0, "")
    for part in (
        "imported coding-agent.json: 1 commit",
        "imported support-bot.jsonl: 6 commits",
        "committed a turn to support-bot: revision 7, 5 nodes",
        "the same to the letter",
        "flowchart TD",
        str(tmp_path / "stateweave-demo.db"),
    ):
        assert part in done.out
    typed = re.findall(r"^  (.* --db .*)$", done.out, re.MULTILINE)
    assert len(typed) == 6
    for line in typed:
        pasted = subprocess.run(
            ["bash", "-c", line],
            cwd=tmp_path,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert (pasted.returncode, pasted.stderr) == (0, b""), line
    state = AgentState.from_json((tmp_path / "support-bot.json").read_bytes())
    assert "support-bot, revision 7" in (tmp_path / "support-bot.html").read_text("utf-8")
    assert state.nodes[-2].payload == "It is on its way and should be with you on 3 December."


def test_demo_again_adds_a_turn_and_deletes_nothing(tmp_path):
    assert run("demo", "--keep", "my demo.db", cwd=tmp_path).code == 0
    again = run("demo", "--keep", "my demo.db", "--json", cwd=tmp_path).json()
    assert {item["agent_id"]: item["commits"] for item in again["imported"]} == {
        path.stem: 0 for path in example_files()
    }
    assert again["revision"] == 8
    with open_repository(tmp_path / "my demo.db") as repo:
        assert repo.node("support-bot", again["answer"]).kind == "answer"
        assert repo.head("support-bot").revision == 8


def test_demo_leaves_the_agents_of_others_alone(tmp_path):
    with open_repository(tmp_path / "mine.db") as repo:
        repo.save("support-bot", story(2), expected_revision=0)
    done = run("demo", "--db", "mine.db", cwd=tmp_path, environment={"STATEWEAVE_GRAPH_DB": "mine.db"})
    assert done.code == 2
    assert "--keep" in done.err
    with open_repository(tmp_path / "mine.db") as repo:
        assert repo.load("support-bot").state == story(2)
    assert run("demo", cwd=tmp_path, environment={"STATEWEAVE_GRAPH_DB": "mine.db"}).code == 0
    with open_repository(tmp_path / "mine.db") as repo:
        assert repo.load("support-bot").revision == 1


def test_version(tmp_path):
    assert run("--version", cwd=tmp_path) == (0, f"{__version__}\n", "")
    bare = run(cwd=tmp_path)
    assert bare.code in (0, 2)  # as the installed typer has it
    assert "Commands:" in bare.err + bare.out
