"""What only a terminal gets: questions, bars and colours; and keys and readers that go away."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stateweave_graph import open_repository
from tests.support.command import listen_to_ctrl_c
from tests.support.states import append, story
from tests.support.terminal import COMMAND, CTRL_C, Terminal, environment


@pytest.fixture
def folder(tmp_path):
    with open_repository(tmp_path / "stateweave.db") as repo:
        repo.save("story", story(2), expected_revision=0)
    return tmp_path


def there(folder) -> list[str]:
    with open_repository(folder / "stateweave.db") as repo:
        return [agent.agent_id for agent in repo.agents()]


@pytest.mark.parametrize(
    ("typed", "code", "left"),
    [("y\n", 0, []), ("n\n", 0, ["story"]), ("\n", 0, ["story"]), (CTRL_C, 130, ["story"])],
)
def test_delete_asks_and_does_what_is_answered(folder, typed, code, left):
    terminal = Terminal("delete", "story", cwd=folder)
    terminal.read_until(r"Delete story with 1 revision and 13 nodes\? \[y/N\]")
    terminal.type(typed)
    assert terminal.end() == code
    assert "Traceback" not in terminal.text
    assert there(folder) == left
    assert ("nothing was deleted" in terminal.text) == (typed in ("\n", "n\n"))


def test_the_question_is_no_part_of_the_output(folder):
    terminal = Terminal("delete", "story", "--json", cwd=folder, stdout=subprocess.PIPE)
    terminal.read_until("Delete story")
    terminal.type("y\n")
    assert terminal.process.stdout is not None
    printed = terminal.process.stdout.read()
    assert terminal.end() == 0
    assert printed.startswith(b"{")
    assert json.loads(printed)["deleted"] == "story"


def test_a_bar_is_shown_for_what_takes_long(folder):
    terminal = Terminal(
        "import", "-", "--agent", "slow", cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    terminal.read_until("import -")
    assert terminal.process.stdin is not None
    assert terminal.process.stdout is not None
    terminal.process.stdin.write(story(1).to_json().encode())
    terminal.process.stdin.close()
    assert terminal.process.stdout.read().startswith(b"slow: 1 commit, 7 nodes added")
    assert terminal.end() == 0


def test_no_bar_for_what_is_quick(folder):
    terminal = Terminal("export", "story", cwd=folder, stdout=subprocess.DEVNULL)
    assert terminal.end() == 0
    assert terminal.text == ""


def test_no_bar_where_nobody_looks(folder):
    worker = subprocess.Popen(
        [*COMMAND, "import", "-", "--agent", "slow"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    time.sleep(1.8)
    _, err = worker.communicate(story(1).to_json().encode(), timeout=30)
    assert (worker.returncode, err) == (0, b"")


def test_colours_are_for_terminals_that_want_them(folder):
    shown = Terminal("agents", cwd=folder)
    assert shown.end() == 0
    assert "\x1b[1m" in shown.text
    plain = subprocess.run(
        [*COMMAND, "agents"], cwd=folder, capture_output=True, env=environment(), check=True
    )
    assert b"\x1b" not in plain.stdout
    master, slave = pty.openpty()
    with os.fdopen(master, "rb", buffering=0) as reader, os.fdopen(slave, "wb", buffering=0) as terminal:
        subprocess.run(
            [*COMMAND, "log", "nobody"], cwd=folder, stderr=terminal, env=environment(NO_COLOR="1")
        )
        said = reader.read(4096)
    assert b"nobody" in said
    assert b"\x1b[31m" not in said
    assert b";31m" not in said


def test_ctrl_c_while_working_is_quiet_and_writes_nothing(folder):
    worker = subprocess.Popen(
        [*COMMAND, "import", "-", "--agent", "x"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        preexec_fn=listen_to_ctrl_c,
    )
    assert worker.stdin is not None
    worker.stdin.write(b"{")
    worker.stdin.flush()
    time.sleep(1.5)
    worker.send_signal(signal.SIGINT)
    out, err = worker.communicate(timeout=30)
    assert (worker.returncode, out, err) == (130, b"", b"")
    assert there(folder) == ["story"]


@pytest.mark.parametrize("arguments", ["export big", "show big", "log big --json", "lineage big NODE"])
def test_a_reader_that_has_seen_enough_is_no_error(folder, arguments):
    with open_repository(folder / "stateweave.db") as repo:
        appends = [append("goal", "x" * 60_000 + str(number)) for number in range(40)]
        commit = repo.append("big", appends, expected_revision=0, metadata={"input": "x" * 500_000})
    arguments = arguments.replace("NODE", commit.ids[-1]).replace("show big", f"show big {commit.ids[0]}")
    script = f"{sys.executable} -m stateweave_graph {arguments} | head -c 10; echo /${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, env=environment())
    assert done.stdout[10:] == b"/0\n"
    assert done.stderr == b""


def test_an_import_ends_its_work_when_its_reader_has_gone(folder):
    for name in ("a", "b", "c"):
        (folder / f"{name}.json").write_text(story(1).to_json())
    worker = subprocess.Popen(
        [*COMMAND, "import", "a.json", "b.json", "c.json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert worker.stdout is not None
    assert worker.stderr is not None
    worker.stdout.close()
    said = worker.stderr.read()
    assert (worker.wait(timeout=30), said) == (0, b"")
    worker.stderr.close()
    assert there(folder) == ["a", "b", "c", "story"]


@pytest.mark.parametrize("arguments", [["agents"], ["agents", "--json"], ["export", "story"], ["--version"]])
def test_output_that_cant_be_written_is_an_error(folder, arguments):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=folder, stdout=full, stderr=subprocess.PIPE, env=environment()
        )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"standard output can't be written: No space left on device" in done.stderr
