"""The README is a promise: every block of it is run, and its output compared."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
from pathlib import Path

from stateweave_graph import Repository, StateWeaveGraphError, errors
from tests.support.command import run

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(name: str) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in BLOCK.finditer((ROOT / name).read_text("utf-8"))]


def test_python_blocks_print_what_is_shown(tmp_path, monkeypatch):
    shutil.copy(ROOT / "examples" / "support-bot.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    found = blocks("README.md")
    names: dict[str, object] = {}
    ran = 0
    for (language, code), (following, shown) in zip(found, [*found[1:], ("", "")], strict=True):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), names)
        assert printed.getvalue() == (shown if following == "output" else ""), code
        ran += 1
    assert ran >= 8
    repository = names["repo"]
    assert isinstance(repository, Repository)
    repository.close()


def test_commands_print_what_is_shown(tmp_path):
    for example in ("support-bot.jsonl", "coding-agent.json", "triage-agent.json"):
        shutil.copy(ROOT / "examples" / example, tmp_path)
    sessions = [code for language, code in blocks("README.md") if language == "console"]
    assert sessions
    for session in sessions:
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
            program, *arguments = shlex.split(command)
            assert program == "stateweave-graph"
            done = run(*arguments, cwd=tmp_path)
            assert (done.code, done.out) == (0, shown), command


def test_every_block_is_of_a_kind_that_is_run():
    kinds = {language for language, _ in blocks("README.md")}
    assert kinds == {"python", "output", "console", "cypher", ""}  # Cypher: tests/neo4j/test_cypher.py
    plain = [code.strip() for language, code in blocks("README.md") if not language]
    assert plain == ["make demo", "make test"]  # CI and the demo's own test run these


def test_the_table_of_errors_names_each_branch_of_the_tree():
    table = re.findall(r"^\| (`\w+Error`[^|]*) \|", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    named = set(re.findall(r"\w+Error", " ".join(table)))
    branches = {error.__name__ for error in StateWeaveGraphError.__subclasses__()}
    assert branches - {"MissingExtraError"} <= named  # no extra is asked for yet
    assert all(issubclass(getattr(errors, name), StateWeaveGraphError) for name in named)


def test_the_make_targets_that_are_named_exist():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for name in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"make ([a-z-]+)", (ROOT / name).read_text("utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_links_lead_somewhere():
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        for link in re.findall(r"\]\(([^)#]+)", (ROOT / name).read_text("utf-8")):
            assert (ROOT / link).exists() or link.startswith("https://"), link
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "make test" in (ROOT / ".ci" / "run").read_text("utf-8")
