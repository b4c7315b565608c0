"""The command ``view``: a page for a browser, written whole or not at all."""

from __future__ import annotations

import json
import sys

import pytest

from stateweave_graph import open_repository
from tests.support.command import run
from tests.support.states import story


@pytest.fixture
def folder(tmp_path):
    """A folder with a database that has the agent ``story`` at revision 2."""
    with open_repository(tmp_path / "stateweave.db") as repo:
        repo.save("story", story(1), expected_revision=0)
        repo.save("story", story(3), expected_revision=1)
    return tmp_path


def test_a_page_is_written(folder):
    assert run("view", "story", "-o", "page.html", cwd=folder) == (0, "", "")
    with open_repository(folder / "stateweave.db") as repo:
        assert (folder / "page.html").read_text("utf-8") == repo.view("story")
        assert run("view", "story", "-o", "-", "--revision", "1", cwd=folder).out == repo.view(
            "story", revision=1
        )
    said = run("view", "story", "-o", "page.html", "--json", cwd=folder).json()
    assert said == {
        "file": "page.html",
        "agent_id": "story",
        "bytes": (folder / "page.html").stat().st_size,
    }


def test_the_page_is_opened(folder):
    browser = folder / "browser.py"
    browser.write_text("import pathlib, sys; pathlib.Path('opened').write_text(sys.argv[1])", "utf-8")
    command = f"{sys.executable} {browser} %s"
    done = run("view", "story", "-o", "my page.html", "--open", cwd=folder, environment={"BROWSER": command})
    assert done == (0, "", "")
    assert (folder / "opened").read_text("utf-8") == (folder / "my page.html").as_uri()


def test_where_no_browser_is_to_be_had(folder):
    nothing = {"BROWSER": "false %s", "PATH": "/nowhere", "DISPLAY": ""}
    done = run("view", "story", "-o", "page.html", "--open", cwd=folder, environment=nothing)
    assert (done.code, done.out) == (0, "")
    assert done.err == "no browser could be started; open page.html in one\n"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["story"], 2, "-o"),
        (["story", "-o", "-", "--open"], 2, "say -o FILE"),
        (["story", "-o", "page.html", "--revision", "0"], 2, "--revision"),
        (["story", "-o", "page.html", "--revision", "3"], 3, "revision 3"),
        (["nobody", "-o", "page.html"], 3, "'nobody'"),
        (["story", "-o", "no/such/folder.html"], 2, "'no/such/folder.html'"),
    ],
)
def test_what_can_not_be_done_writes_nothing(folder, arguments, code, says):
    before = sorted(folder.iterdir())
    done = run("view", *arguments, cwd=folder)
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert sorted(path for path in folder.iterdir() if path.suffix == ".html") == []
    assert sorted(folder.iterdir()) == before
    told = json.loads(run("view", *arguments, "--json", cwd=folder).err)
    assert says in told["error"]["message"]
