"""Files in and out; ``-`` is standard input or output."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stateweave_graph.errors import InvalidRequestError, NotFoundError

STANDARD = "-"


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
        raise InvalidRequestError(f"the file {name!r} can't be read: {_reason(error)}") from None


def write(name: str, data: bytes) -> None:
    """Write a file whole or not at all, or to standard output.

    A link keeps pointing where it points, and a file that is there keeps its permissions. A pipe or a
    device is written to as it is.

    Raises:
        InvalidRequestError: it can't be written.
    """
    if name == STANDARD:
        write_out(data)
        return
    try:
        target = Path(name).resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            _replace(target, data)
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"the file {name!r} can't be written: {_reason(error)}") from None


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
        raise InvalidRequestError(f"standard output can't be written: {_reason(error)}") from None


def _drop_output() -> None:
    """Send what is still to be written, and what Python flushes at the end, nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _replace(target: Path, data: bytes) -> None:
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
    handle, half = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(half).chmod(mode)
        Path(half).replace(target)
    except BaseException:
        Path(half).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(error: OSError | ValueError) -> str:
    """What the system says, without its number and without the name again."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
