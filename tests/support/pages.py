"""Pages that are a promise: their blocks are run from top to bottom in one folder."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.command import ROOT, run

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Ran(NamedTuple):
    """A piece of a page that was run.

    Attributes:
        code: what was run.
        shown: what the page says that it prints.
        printed: what it printed.
    """

    code: str
    shown: str
    printed: str


def blocks(name: str) -> list[tuple[str, str]]:
    """The language and the text of each block of a page."""
    return [(match[1], match[2]) for match in BLOCK.finditer((ROOT / name).read_text("utf-8"))]


def run_page(name: str, folder: Path) -> Iterator[Ran]:
    """Run a page's Python and its commands in a folder that has the examples."""
    for example in (ROOT / "examples").glob("*.json*"):
        shutil.copy(example, folder)
    found = blocks(name)
    following = [*found[1:], ("", "")][: len(found)]
    names: dict[str, object] = {}
    for (language, code), (kind, shown) in zip(found, following, strict=True):
        if language == "python":
            yield Ran(code, shown if kind == "output" else "", _run_python(code, name, names, folder))
        elif language == "console":
            for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
                yield Ran(command, printed, _run_command(command, folder))


def _run_python(code: str, name: str, names: dict[str, object], folder: Path) -> str:
    printed = io.StringIO()
    before = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), names)
    finally:
        os.chdir(before)
    return printed.getvalue()


def _run_command(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    assert program == "stateweave-graph", command
    done = run(*arguments, cwd=folder)
    assert done.code == 0, (command, done.err)
    return done.out
