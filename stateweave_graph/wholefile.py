"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from stateweave_graph.errors import InvalidRequestError, StateWeaveGraphError


@contextmanager
def whole_file(name: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of another when the block is left, and is gone if it fails.

    A link keeps pointing where it points, and a file that is there keeps its permissions. A pipe or a
    device gets what was written at the end.

    Raises:
        InvalidRequestError: it can't be written.
    """
    try:
        target = Path(name).resolve()
        with _copied(target) if target.exists() and not target.is_file() else _replaced(target) as file:
            yield file
    except StateWeaveGraphError:  # of what was to be written
        raise
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"the file {os.fspath(name)!r} can't be written: {reason(error)}") from None


def reason(error: OSError | ValueError) -> str:
    """What the system says, without its number and without the name again."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@contextmanager
def _copied(target: Path) -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as kept, target.open("wb") as file:
        yield cast(BinaryIO, kept)
        kept.seek(0)
        shutil.copyfileobj(kept, file)


@contextmanager
def _replaced(target: Path) -> Iterator[BinaryIO]:
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
    handle, half = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
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
