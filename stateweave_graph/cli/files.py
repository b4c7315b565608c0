"""Files in and out; ``-`` is standard input or output."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from stateweave_graph.errors import NotFoundError, StateWeaveGraphError
from stateweave_graph.sessionlog import MAX_LOG_BYTES

STANDARD = "-"


def read(name: str) -> bytes:
    """The bytes of a file or of standard input; no more than shows that a limit is exceeded.

    Raises:
        NotFoundError: there is no such file.
        StateWeaveGraphError: it can't be read.
    """
    try:
        if name == STANDARD:
            return sys.stdin.buffer.read(MAX_LOG_BYTES + 1)
        with Path(name).open("rb") as file:
            return file.read(MAX_LOG_BYTES + 1)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {name!r}") from None
    except (OSError, ValueError) as error:
        raise StateWeaveGraphError(f"the file {name!r} can't be read: {error}") from None


def write(name: str, data: bytes) -> None:
    """Write a file whole or not at all, or to standard output.

    Raises:
        StateWeaveGraphError: it can't be written.
    """
    if name == STANDARD:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    target = Path(name)
    try:
        if target.exists() and not target.is_file():  # a device or a pipe is written to as it is
            target.write_bytes(data)
            return
        handle, half = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            Path(half).chmod(0o666 & ~mask)
            Path(half).replace(target)
        except BaseException:
            Path(half).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StateWeaveGraphError(f"the file {name!r} can't be written: {error}") from None


def agent_id_of(name: str) -> str | None:
    """The agent that a file stands for: its name without its ending; None for standard input."""
    return None if name == STANDARD else Path(name).stem
