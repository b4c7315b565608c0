"""Mistakes at the command line, each tried with every command: one clear message, no traceback."""

from __future__ import annotations

import json
import sqlite3

import pytest

from stateweave_graph import open_repository
from stateweave_graph.cli.main import _run
from stateweave_graph.cli.reference import commands
from tests.support.states import story

PYTHON_NAMES = ("Traceback", "expected_revision", "max_rows", "ANY_REVISION", ".violations", "PosixPath(")

READS = {
    "log": ["story"],
    "show": ["story", "cw_0000"],
    "lineage": ["story", "cw_0000"],
    "memory": ["story"],
    "search": ["story", "word"],
    "export": ["story"],
    "view": ["story", "-o", "out.html"],
    "query": ["failures", "--agent", "story"],
    "agents": [],
}

STORES = ["missing.db", "folder", "table.csv", "foreign.db", "", "mysql://x", "no/such/x.db", "bolt://u:p@h"]

FILES = ["missing.json", "folder", "table.csv", "empty.json", "binary.json", "stateweave.db", "list.json"]

OUTPUTS = ["stateweave.db", "folder", "no/such/x.json", "/dev/full", "out.csv", "out.db", "table.csv/x.json"]

TABLE = [
    *([name, *rest, "--db", db] for name, rest in READS.items() for db in STORES),
    *([name, *rest, "--no-such-option"] for name, rest in READS.items()),
    *([name, "nobody", *rest[1:]] for name, rest in READS.items() if rest and name != "query"),
    *([name, "a\nb", *rest[1:]] for name, rest in READS.items() if rest and name != "query"),
    *([name, *rest, "--limit", n] for name, rest in READS.items() for n in ("-1", "0", "x")),
    *([command, file] for command in ("import", "validate") for file in FILES),
    *(["export", "story", "-o", output] for output in OUTPUTS),
    *(["export", "story", "--revision", n] for n in ("0", "-1", "x", "99", "1.5")),
    *(["export", "story", "--format", form] for form in ("csv", "", "parquet", "JSON!")),
    *([name] for name in READS if READS[name]),
    *(["view", "story", "-o", output] for output in OUTPUTS),
    *(["query", "failures", "--agent", "story", "--format", "json", "-o", output] for output in OUTPUTS),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    with open_repository(folder / "stateweave.db") as repo:
        repo.save("story", story(2), expected_revision=0)
    (folder / "folder").mkdir()
    (folder / "table.csv").write_text("a,b\n1,2\n")
    (folder / "empty.json").touch()
    (folder / "binary.json").write_bytes(bytes(range(256)))
    (folder / "list.json").write_text("[1]")
    with sqlite3.connect(folder / "foreign.db") as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    return folder


def test_the_table_is_long_enough():
    assert len(TABLE) >= 170
    assert set(READS) <= set(commands())


@pytest.mark.parametrize("arguments", TABLE, ids=" ".join)
def test_a_mistake_gets_a_clear_message(folder, monkeypatch, capsys, arguments):
    monkeypatch.chdir(folder)
    for name in ("STATEWEAVE_GRAPH_DB", "NEO4J_URI"):
        monkeypatch.delenv(name, raising=False)
    before = (folder / "stateweave.db").read_bytes()
    code = _run(list(arguments))
    said = capsys.readouterr()
    assert code in range(1, 7)
    assert (said.err + said.out).strip()
    assert not any(name in said.err for name in PYTHON_NAMES)
    as_json_code = _run([*arguments, "--json"])
    error = capsys.readouterr().err
    assert as_json_code == code
    if error:
        assert json.loads(error)["error"]["message"]
    assert (folder / "stateweave.db").read_bytes() == before
