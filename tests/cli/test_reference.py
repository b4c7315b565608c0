"""Every command explains itself, and the reference says what the commands say."""

from __future__ import annotations

import re
import shlex

import pytest
from typer.testing import CliRunner

from stateweave_graph.cli.app import app
from stateweave_graph.cli.reference import commands, reference
from tests.support.command import ROOT, run

NEED_A_SERVER = ("cypher", "copy")
PAGE = ROOT / "docs" / "cli.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text("utf-8") == reference(), (
        "run: python -m stateweave_graph.cli.reference > docs/cli.md"
    )


@pytest.mark.parametrize("name", sorted(commands()))
def test_a_command_has_help_for_all_it_takes_and_an_example(name):
    command = commands()[name]
    first, *_, example = command.help.strip().split("\n\n")
    assert first.endswith("."), "the first sentence stands alone in the list of commands"
    assert "\n" not in first
    assert example.startswith(f"Example: stateweave-graph {name}")
    for parameter in command.params:
        assert parameter.help, parameter.name
        assert parameter.help.endswith("."), parameter.name


@pytest.mark.parametrize("name", sorted(commands()))
def test_help_fits_the_terminal(name):
    done = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "80"})
    assert done.exit_code == 0
    assert f"Example: stateweave-graph {name}" in " ".join(done.output.split())
    assert max(map(len, done.output.splitlines())) <= 80


def test_the_list_of_commands_cuts_no_sentence(tmp_path):
    listed = run("--help", cwd=tmp_path, environment={"COLUMNS": "80"})
    for name, command in commands().items():
        first = command.help.strip().split("\n\n")[0]
        assert re.search(rf"^  {name} +{re.escape(first)}$", listed.out, re.MULTILINE), name
    assert "Exit codes: 0 done, 1 the data is wrong" in listed.out
    assert list(tmp_path.iterdir()) == []


def test_the_examples_of_the_reference_work_as_typed(tmp_path):
    for name in ("support-bot.jsonl", "coding-agent.json"):
        (tmp_path / name).write_bytes((ROOT / "examples" / name).read_bytes())
    typed = re.findall(r"^\$ stateweave-graph (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert {line.split()[0] for line in typed} == set(commands())
    # In the order of the page, but the agent is needed until the end, and validate reads what export writes.
    for line in sorted(
        (line for line in typed if line.split()[0] not in NEED_A_SERVER),
        key=lambda line: line.startswith("delete"),
    ):
        answers = ["--yes"] if line.startswith("delete") else []
        done = run(*shlex.split(line), *answers, cwd=tmp_path)
        assert (done.code, done.err) == (0, ""), line
