"""Long output on a terminal, a screen at a time."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from stateweave_graph.errors import InvalidRequestError

_VARIABLES = ("STATEWEAVE_GRAPH_PAGER", "PAGER")


class _PagerInput(io.TextIOWrapper):
    """What is written here is seen on the terminal: colours and widths are its."""

    def isatty(self) -> bool:
        return True


@contextmanager
def paged(*, wanted: bool = True) -> Iterator[None]:
    """Send standard output through a pager, where it goes to a terminal and there is a pager.

    The pager is ``$STATEWEAVE_GRAPH_PAGER``, else ``$PAGER``, else ``less``; ``cat`` or an empty one is none.
    A short text is shown as it is.

    Raises:
        InvalidRequestError: the pager that the environment names can't be started.
    """
    command = _command() if wanted and sys.stdout.isatty() else []
    if not command:
        yield
        return
    environment = {**os.environ, "LESS": os.environ.get("LESS", "FRX"), "LV": os.environ.get("LV", "-c")}
    try:
        pager = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)  # noqa: S603  (the user's own)
    except OSError as error:
        raise InvalidRequestError(
            f"the pager {command[0]!r} can't be started: {error.strerror}; set {_VARIABLES[0]}, or "
            "say --no-pager"
        ) from None
    assert pager.stdin is not None, "a pipe was asked for"
    terminal = sys.stdout
    sys.stdout = _PagerInput(pager.stdin, encoding=terminal.encoding, errors="backslashreplace")
    try:
        yield
    finally:
        _close(sys.stdout)
        sys.stdout = terminal
        _wait(pager)


def _command() -> list[str]:
    for name in _VARIABLES:
        if name in os.environ:
            words = shlex.split(os.environ[name])
            return [] if words in ([], ["cat"]) else words
    return ["less"] if shutil.which("less") else []


def _close(stream: object) -> None:
    try:
        if isinstance(stream, io.TextIOWrapper):
            stream.close()
    except BrokenPipeError:
        pass  # it was left before the end


def _wait(pager: subprocess.Popen[bytes]) -> None:
    """Wait for the reader to leave; Ctrl-C is for the pager then."""
    while True:
        try:
            pager.wait()
            return
        except KeyboardInterrupt:
            continue
