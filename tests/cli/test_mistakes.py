"""Exit codes, and what a user sees who made a mistake: one line that helps, and no traceback."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from stateweave_graph import open_repository
from stateweave_graph.cli.exits import exit_code
from stateweave_graph.cli.output import line, print_table, visible
from stateweave_graph.errors import StateWeaveGraphError
from tests.support.command import ROOT, run
from tests.support.states import append, story


@pytest.fixture
def folder(tmp_path):
    with open_repository(tmp_path / "stateweave.db") as repo:
        repo.save("story", story(2), expected_revision=0)
    (tmp_path / "short.json").write_text(story(1).to_json())
    (tmp_path / "text.txt").write_text("no state")
    (tmp_path / "foreign.db").write_bytes(b"not a database, but long enough to look at" * 30)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["validate", "text.txt"], 1, "not a JSON value"),
        (["import", "text.txt"], 1, "not a JSON value"),
        (["import"], 2, "FILE"),
        (["nonsense"], 2, "nonsense"),
        (["log"], 2, "AGENT"),
        (["log", "story", "--limit", "0"], 2, "limit"),
        (["log", "a\nb"], 2, "control characters"),
        (["agents", "--db", "mysql://x"], 2, "mysql"),
        (["log", "nobody"], 3, "nobody"),
        (["show", "story", "cw_nowhere"], 3, "cw_nowhere"),
        (["export", "story", "--revision", "9"], 3, "1 to 1"),
        (["import", "no-such-file.json"], 3, "no-such-file"),
        (["validate", "no-such-file.json"], 3, "no-such-file"),
        (["import", "."], 2, "Is a directory"),
        (["delete", "story"], 2, "stateweave-graph delete story --yes"),
        (["agents", "--db", "nothing.db"], 3, "import something first"),
        (["delete", "nobody", "--yes"], 3, "nobody"),
        (["import", "short.json", "--agent", "story"], 4, "histories only grow"),
        (["agents", "--db", "foreign.db"], 5, "not a SQLite file"),
        (["import", "short.json", "--db", "no/such/folder.db"], 5, "make it first"),
        (["validate", "short.json", "--max-bytes", "10"], 1, "size"),
    ],
)
def test_exit_codes(folder, arguments, code, says):
    done = run(*arguments, cwd=folder)
    assert done.code == code, done
    assert says in " ".join((done.out + done.err).split())
    assert "Traceback" not in done.err
    assert not (folder / "nothing.db").exists()


def test_what_is_refused_makes_no_database(folder):
    for arguments in (["import", "text.txt"], ["import", "no-such-file.json"], ["delete", "x", "--yes"]):
        assert run(*arguments, "--db", "new.db", cwd=folder).code in (1, 3)
        assert not (folder / "new.db").exists()
    assert run("agents", "--db", "", cwd=folder).code == 2, "an empty variable is no default"


def test_an_agent_id_that_is_no_text(folder):
    arguments = [sys.executable.encode(), b"-m", b"stateweave_graph", b"log", b"caf\xe9"]
    done = subprocess.run(
        arguments, cwd=folder, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 2
    assert b"\\udce9" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_limit_has_its_own_code(folder):
    deep = '{"version": 1, "nodes": [], "frontier": ' + "[" * 500 + "]" * 500 + "}"
    (folder / "deep.json").write_text(deep)
    assert run("import", "deep.json", cwd=folder).code == 6


def test_errors_as_json(folder):
    done = run("log", "nobody", "--json", cwd=folder)
    assert (done.code, done.out) == (3, "")
    assert json.loads(done.err)["error"]["type"] == "NotFoundError"
    assert "nobody" in json.loads(done.err)["error"]["message"]
    assert json.loads(done.err)["error"]["retryable"] is False
    (violation,) = json.loads(run("import", "text.txt", "--json", cwd=folder).err)["error"]["violations"]
    assert (violation["rule"], violation["path"]) == ("json", "$")
    diverged = json.loads(run("import", "short.json", "--agent", "story", "--json", cwd=folder).err)["error"]
    assert (diverged["type"], diverged["agent_id"]) == ("DivergedError", "story")
    for arguments in (["log", "--json"], ["nonsense", "--json"], ["log", "story", "--json", "--limit", "x"]):
        done = run(*arguments, cwd=folder)
        assert (done.code, done.out) == (2, "")
        assert json.loads(done.err)["error"]["type"] == "UsageError"


def test_every_error_has_a_code():
    import stateweave_graph.errors as errors

    def instance(kind):
        return kind.__new__(kind)

    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, StateWeaveGraphError)
    ]
    codes = {kind.__name__: exit_code(instance(kind)) for kind in kinds}
    assert {codes[name] for name in ("InvalidStateError", "SessionLogError", "VocabularyError")} == {1}
    assert codes["InvalidRequestError"] == 2
    assert codes["NotFoundError"] == 3
    assert {codes[name] for name in ("ConflictError", "DivergedError", "CommitIdReusedError")} == {4}
    assert {codes[kind.__name__] for kind in kinds if issubclass(kind, errors.StoreError)} == {5}
    assert codes["LimitExceededError"] == 6


HOSTILE = "[red]bold[/red] :smile: \x1b[31m \u202eabc\x07 \ud800 {x} 'q' \"d\" \\ \n second line"


def test_hostile_texts_are_shown_and_not_obeyed(folder):
    with open_repository(folder / "stateweave.db") as repo:
        commit = repo.append(
            "odd", [append("goal", HOSTILE)], expected_revision=0, metadata={"input": HOSTILE}
        )
        repo.record_failure("odd", input=HOSTILE, error=HOSTILE)
        with repo.turn("odd") as turn:
            turn.remember("memory", "k", HOSTILE)
            answer = turn.answer(HOSTILE)
    for arguments in (
        ["log", "odd"],
        ["show", "odd", commit.ids[0]],
        ["lineage", "odd", answer.id],
        ["memory", "odd"],
    ):
        for environment in ({}, {"PYTHONIOENCODING": "ascii", "COLUMNS": "40"}):
            done = run(*arguments, cwd=folder, environment=environment)
            assert done.code == 0, done.err
            assert "[red]" in done.out
            for bad in ("\x1b", "\x07", "\u202e"):
                assert bad not in done.out
        assert run(*arguments, "--json", cwd=folder, environment={"PYTHONIOENCODING": "ascii"}).json()


texts = st.text("abc 日本é", min_size=1, max_size=70).filter(str.strip)


@given(rows=st.lists(st.tuples(st.integers(0, 9999), texts, texts), max_size=5), columns=st.integers(40, 120))
def test_a_table_fits_the_terminal_and_loses_nothing(rows, columns):
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as printed:
        patch.setenv("COLUMNS", str(columns))
        print_table(["number", "key", "content"], rows, fold=["key", "content"])
    shown = printed.getvalue()
    assert max(map(cell_len, shown.splitlines())) <= columns
    given_texts = ["number", "key", "content", *(str(value) for row in rows for value in row)]
    assert Counter("".join(shown.split())) == Counter("".join("".join(given_texts).split()))


def test_an_id_stays_in_one_piece_on_a_usual_terminal(folder):
    with open_repository(folder / "stateweave.db") as repo, repo.turn("words") as turn:
        goal = turn.goal("word " * 30)
        turn.protocol_error("w" * 60)
        answer = turn.answer("x")
    usual = run("lineage", "words", answer.id, cwd=folder, environment={"COLUMNS": "80"}).out
    assert goal.id in usual
    assert "…" in usual, "a long text is shortened"


def test_what_is_shown():
    assert visible("a\x1b[0m\u202e\x85\n") == "a\\x1b[0m\\u202e\\x85\\n"
    assert line({"a": "x" * 100}, 20) == '{"a":"xxxxxxxxxxxxx…'
    assert line("a\n\n  b\t c") == "a b c"
    assert visible("10\u202f000\xa0€ می\u200cخواهم שלום 日本") == "10\u202f000\xa0€ می\u200cخواهم שלום 日本"
