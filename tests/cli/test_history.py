"""``log`` and ``show`` as people know them from git: a pager, a graph, following, beginnings of ids."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import pairwise

import pytest
from rich.cells import cell_len

from stateweave_graph import open_repository
from tests.support.command import run
from tests.support.states import append, story
from tests.support.terminal import COMMAND, CTRL_C, Terminal, environment

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]")


@pytest.fixture
def folder(tmp_path):
    """A database with the agent ``long`` of 60 commits, and ``branches``."""
    with open_repository(tmp_path / "stateweave.db") as repo:
        for number in range(60):
            repo.append("long", [append("goal", f"question {number}")], expected_revision=number)
        with repo.turn("branches") as turn:
            goal = turn.goal("plan a trip to 京都 🦊")
        with repo.turn("branches", parents=[goal]) as turn:
            turn.goal("hotels")
        repo.append(
            "branches", [append("goal", "flights", [goal.id])], expected_revision=2, commit_id="second branch"
        )
        repo.record_failure("branches", input="and trains", error="it broke")
        with repo.turn("branches") as turn:
            turn.goal("put it together")
    return tmp_path


def shown(text: str) -> str:
    """What a person sees of it."""
    return ESCAPES.sub("", text).replace("\r", "")


class TestPager:
    def test_what_is_longer_than_the_screen_is_paged(self, folder):
        terminal = Terminal("log", "long", cwd=folder)
        terminal.read_until("question 50")
        assert "question 1 " not in terminal.text
        terminal.type(" ")
        terminal.read_until("question 20")
        terminal.type("q")
        assert terminal.end() == 0
        assert "Traceback" not in terminal.text

    def test_what_is_short_is_shown_as_it_is(self, folder):
        terminal = Terminal("log", "long", "-n", "3", cwd=folder)
        assert terminal.end() == 0
        assert "question 57" in terminal.text
        assert "\x1b[33m" in terminal.text, "in colours"

    @pytest.mark.parametrize("arguments", [["log", "long", "--no-pager"], ["log", "long", "--json"]])
    def test_no_pager_where_none_is_wanted(self, folder, arguments):
        terminal = Terminal(*arguments, cwd=folder, variables={"PAGER": "false"})
        assert terminal.end() == 0
        assert "question 0" in terminal.text

    def test_the_pager_of_the_environment(self, folder):
        for variables, expected in (
            ({"PAGER": "tr o 0"}, "questi0n"),
            ({"PAGER": "false", "STATEWEAVE_GRAPH_PAGER": "tr o 0"}, "questi0n"),
            ({"PAGER": "cat"}, "question 0"),
            ({"PAGER": ""}, "question 0"),
        ):
            terminal = Terminal("log", "long", cwd=folder, variables=variables)
            assert terminal.end() == 0
            assert expected in terminal.text

    def test_a_pager_that_is_not_there(self, folder):
        terminal = Terminal("log", "long", cwd=folder, variables={"PAGER": "no-such-pager"})
        assert terminal.end() == 2
        assert "the pager 'no-such-pager' can't be started" in shown(terminal.text)

    def test_a_pager_that_goes_at_once(self, folder):
        terminal = Terminal("show", "long", "3", cwd=folder, variables={"PAGER": "true"})
        assert terminal.end() == 0
        assert "Traceback" not in terminal.text


class TestWidths:
    @pytest.mark.parametrize("columns", [40, 80, 200])
    @pytest.mark.parametrize(
        "arguments",
        [["log", "branches"], ["log", "branches", "--graph"], ["show", "branches", "1"], ["agents"]],
    )
    def test_no_line_is_longer_than_the_terminal(self, folder, columns, arguments):
        with open_repository(folder / "stateweave.db") as repo, repo.turn("branches") as turn:
            turn.goal("words and more words " * 20)
        terminal = Terminal(*arguments, cwd=folder, size=(50, columns), variables={"PAGER": "cat"})
        assert terminal.end() == 0
        lines = shown(terminal.text).split("\n")
        assert max(cell_len(line) for line in lines if not line.startswith(("hash:", "commit "))) <= columns
        assert len(lines) > 3

    def test_the_width_is_used(self, folder):
        with open_repository(folder / "stateweave.db") as repo, repo.turn("branches") as turn:
            turn.goal("words and more words " * 20)
        terminal = Terminal("log", "branches", cwd=folder, size=(50, 200), variables={"PAGER": "cat"})
        assert terminal.end() == 0
        assert max(map(cell_len, shown(terminal.text).split("\n"))) > 180


def test_a_graph_of_heads(folder):
    done = run("log", "branches", "--graph", cwd=folder)
    lines = [line.split("  ", 1) for line in done.out.splitlines()]
    pictures = [re.sub(r"[^●│├┬╮╯─ ].*", "", line).rstrip() for line in done.out.splitlines()]
    assert pictures == ["", "●", "├─╮", "│ │", "● │", "  ●", "  ●"]
    assert len(lines) == 7
    plain = run("log", "branches", "--graph", cwd=folder, environment={"PYTHONIOENCODING": "ascii"})
    assert plain.out.splitlines()[1].startswith("*")
    assert "|-." in plain.out


def test_all_that_is_known_of_a_commit(folder):
    done = run("log", "branches", "--full", "-n", "2", cwd=folder)
    assert "commit 3  second branch\n" in done.out
    assert "failed run\n" in done.out
    assert "nodes:    +1 (goal 1)\n" in done.out
    assert "error:    it broke\n" in done.out
    assert done.err == "there are older ones: --before 3\n"


class TestShow:
    def test_a_commit(self, folder):
        done = run("show", "branches", "3", cwd=folder)
        assert "commit 3  second branch\n" in done.out
        assert "flights" in done.out
        told = run("show", "branches", "3", "--json", cwd=folder).json()
        assert (told["type"], told["revision"], [node["payload"] for node in told["nodes"]]) == (
            "commit",
            3,
            ["flights"],
        )
        for revision in ("0", "5", "99"):
            assert run("show", "branches", revision, cwd=folder).code == 3

    def test_a_node_by_the_beginning_of_its_id(self, folder):
        with open_repository(folder / "stateweave.db") as repo:
            nodes = repo.load("long").state.nodes
        for length in (7, 12, 26, 27):
            given = nodes[4].id[:length]
            alike = [node.id for node in nodes if node.id.startswith(given)]
            done = run("show", "long", given, "--json", cwd=folder)
            assert (done.code == 0) == (len(alike) == 1)
            if done.code == 0:
                assert done.json()["id"] == nodes[4].id
        assert run("lineage", "long", nodes[4].id[:20], "--json", cwd=folder).code == 0
        assert run("show", "long", "cw_0000000", cwd=folder).code == 3
        assert run("show", "long", nodes[4].id[:6], cwd=folder).code == 3, "three digits are too few"

    def test_a_beginning_that_more_than_one_has(self, tmp_path):
        """With enough nodes, two begin with the same four digits; their ids are named."""
        with open_repository(tmp_path / "stateweave.db") as repo:
            repo.append("many", [append("goal", number) for number in range(800)], expected_revision=0)
            ids = sorted(node.id for node in repo.load("many").state.nodes)
        one, two = next((a, b) for a, b in pairwise(ids) if a[:7] == b[:7])
        done = run("show", "many", one[:7], cwd=tmp_path)
        assert done.code == 2
        assert one in done.err
        assert two in done.err


class TestFollow:
    def test_commits_and_failed_runs_of_another_process_are_shown_as_they_are_made(self, folder):
        terminal = Terminal("log", "long", "-f", "-n", "2", "--interval", "0.05", cwd=folder)
        terminal.read_until("question 59")
        assert "question 57" not in terminal.text
        assert terminal.text.index("question 58") < terminal.text.index("question 59"), "oldest first"
        with open_repository(folder / "stateweave.db") as repo:
            for number in range(3):
                repo.append("long", [append("goal", f"new {number}")], expected_revision=60 + number)
            terminal.read_until("new 2")
            for _ in range(2):
                repo.record_failure("long", input="same", error="twice")
            terminal.read_until("same: twice(.|\n)*same: twice")
        terminal.type(CTRL_C)
        assert terminal.end() == 130
        assert "Traceback" not in terminal.text
        assert terminal.text.count("new 1") == 1
        assert terminal.text.count("same: twice") == 2

    def test_as_lines_of_json(self, folder):
        follower = subprocess.Popen(
            [*COMMAND, "log", "long", "-f", "-n", "1", "--json", "--interval", "0.05"],
            cwd=folder,
            stdout=subprocess.PIPE,
            env=environment(),
        )
        assert follower.stdout is not None
        try:
            first = json.loads(follower.stdout.readline())
            with open_repository(folder / "stateweave.db") as repo:
                repo.append("long", [append("goal", "new")], expected_revision=60)
            second = json.loads(follower.stdout.readline())
        finally:
            follower.kill()
            follower.stdout.close()
            follower.wait(timeout=30)
        assert [(entry["type"], entry["revision"]) for entry in (first, second)] == [
            ("commit", 60),
            ("commit", 61),
        ]

    def test_an_agent_that_goes_away(self, folder):
        terminal = Terminal("log", "long", "-f", "--interval", "0.05", cwd=folder)
        terminal.read_until("question 59")
        with open_repository(folder / "stateweave.db") as repo:
            repo.delete("long")
            repo.save("long", story(1), expected_revision=0)
        assert terminal.end() == 3
        assert re.search("deleted|no agent", shown(terminal.text))

    def test_what_can_not_be_followed(self, folder):
        assert run("log", "nobody", "-f", cwd=folder).code == 3
        for more in (["--graph"], ["--before", "3"]):
            assert run("log", "long", "-f", *more, cwd=folder).code == 2


class TestCompletion:
    def complete(self, folder, line: str, **variables: str) -> list[str]:
        """What bash is told, asked as its completion asks."""
        words = line.split(" ")
        done = subprocess.run(
            [sys.executable, "-c", "from stateweave_graph.cli.main import main; main()"],
            cwd=folder,
            capture_output=True,
            env=environment(
                _STATEWEAVE_GRAPH_COMPLETE="complete_bash",
                COMP_WORDS=line,
                COMP_CWORD=str(len(words) - 1),
                **variables,
            ),
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode().split()

    def test_commands_agents_kinds_and_queries(self, folder):
        assert self.complete(folder, "stateweave-graph exp") == ["export"]
        assert self.complete(folder, "stateweave-graph log ") == ["branches", "long"]
        assert self.complete(folder, "stateweave-graph show lo") == ["long"]
        assert self.complete(folder, "stateweave-graph show long") == ["long"]
        assert self.complete(folder, "stateweave-graph search long --kind tool_") == [
            "tool_call",
            "tool_result",
        ]
        assert self.complete(folder, "stateweave-graph query tool-u") == ["tool-usage"]
        assert self.complete(folder, "stateweave-graph export long --format gr") == ["graphml"]

    def test_of_the_store_that_is_named(self, folder, tmp_path):
        with open_repository(tmp_path / "other.db") as repo:
            repo.save("elsewhere", story(1), expected_revision=0)
        assert self.complete(folder, f"stateweave-graph log --db {tmp_path}/other.db e") == ["elsewhere"]
        assert self.complete(
            folder, "stateweave-graph log e", STATEWEAVE_GRAPH_DB=f"{tmp_path}/other.db"
        ) == ["elsewhere"]

    def test_a_store_that_is_not_there_completes_nothing(self, folder):
        assert self.complete(folder, "stateweave-graph log --db none.db e") == []
        assert self.complete(folder, "stateweave-graph log e", STATEWEAVE_GRAPH_DB="bolt://127.0.0.1:1") == []
        assert not (folder / "none.db").exists()
        (folder / "bad.db").write_text("no database at all, but a text that is long enough" * 5)
        assert self.complete(folder, "stateweave-graph log --db bad.db e") == []

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_every_shell_has_a_script(self, folder, shell):
        done = run("--show-completion", shell, cwd=folder, environment={"SHELL": f"/bin/{shell}"})
        assert (done.code, "stateweave-graph" in done.out) == (0, True) or os.environ.get("SHELL") is None
