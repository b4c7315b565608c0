"""Files in and out; ``-`` is standard input or output."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stateweave_graph.errors import InvalidRequestError, NotFoundError
from stateweave_graph.wholefile import reason, whole_file

STANDARD = "-"

ACCEPTED = "give a snapshot (.json), an exported history (.jsonl) or a session log of an SDK (.jsonl)"
"""The formats that import and validate read."""


def read(name: str) -> bytes:
    """The bytes of a file or of standard input; no more than shows that a limit is exceeded.

    Raises:
        NotFoundError: there is no such file.
        InvalidRequestError: it can't be read.
    """
    from stateweave_graph.sessionlog import MAX_LOG_BYTES

    try:
        if name == STANDARD:
            return sys.stdin.buffer.read(MAX_LOG_BYTES + 1)
        with Path(name).open("rb") as file:
            return file.read(MAX_LOG_BYTES + 1)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {name!r}") from None
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"the file {name!r} can't be read: {reason(error)}") from None


def read_history(name: str) -> bytes:
    """The bytes of a snapshot, an exported history or a session log.

    Raises:
        NotFoundError: there is no such file.
        InvalidRequestError: it can't be read, is empty, or is a SQLite database.
    """
    data = read(name)
    shown = "standard input" if name == STANDARD else f"the file {name!r}"
    if not data.strip():
        raise InvalidRequestError(f"{shown} is empty; {ACCEPTED}")
    if data.startswith(b"SQLite format 3\0"):
        raise InvalidRequestError(f"{shown} is a SQLite database; open it with --db, or {ACCEPTED}")
    return data


def read_head(name: str) -> bytes:
    """The first bytes of a file; nothing where it can't be read, which reading it all will tell."""
    try:
        with Path(name).open("rb") as file:
            return file.read(64)
    except (OSError, ValueError):
        return b""


def copy_out(source: Path) -> None:
    """Copy a file to standard output.

    Raises:
        InvalidRequestError: it can't be written to.
    """
    with source.open("rb") as file, _standard_output():
        shutil.copyfileobj(file, sys.stdout.buffer)


def write(name: str, data: bytes) -> None:
    """Write a file whole or not at all (see ``whole_file``), or to standard output.

    Raises:
        InvalidRequestError: it can't be written.
    """
    if name == STANDARD:
        write_out(data)
        return
    with whole_file(name) as file:
        file.write(data)


def write_out(data: bytes) -> None:
    """Write bytes to standard output.

    Raises:
        InvalidRequestError: it can't be written to.
    """
    with _standard_output():
        sys.stdout.buffer.write(data)


def print_out(text: str) -> None:
    """Write text to standard output, in the encoding of the terminal.

    Raises:
        InvalidRequestError: it can't be written to.
    """
    with _standard_output():
        sys.stdout.write(text)


def agent_id_of(name: str) -> str | None:
    """The agent that a file stands for: its name without its ending; None for standard input."""
    return None if name == STANDARD else Path(name).stem


@contextmanager
def _standard_output() -> Iterator[None]:
    """Let a command go on when its reader has seen enough: what it does must not depend on that."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
    except OSError as error:
        _drop_output()
        raise InvalidRequestError(f"standard output can't be written: {reason(error)}") from None


def _drop_output() -> None:
    """Send what is still to be written, and what Python flushes at the end, nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
