"""Which file a path means: SQLite goes on with the file that it opened, whatever became of its name."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from stateweave_graph.errors import StoreError, StoreMissingError, StoreMovedError


class Identity(NamedTuple):
    """A file, whatever it is called."""

    device: int
    inode: int


def identity_of(path: str) -> Identity | None:
    """The file at a path; None where there is none."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return Identity(status.st_dev, status.st_ino)


def log_of(path: str) -> str:
    """The path of the write-ahead log of a database."""
    return f"{path}-wal"


def check_in_place(name: str, path: str, opened: Identity, log: Identity | None, then: str) -> None:
    """Refuse to go on where the files that are open are not the files at their paths.

    Args:
        name: the store, for messages.
        path: where the database was opened.
        opened: the database that was opened there.
        log: its write-ahead log; None where it has none yet.
        then: what became of the work, for the message.

    Raises:
        StoreMissingError: there is no file at the path any more.
        StoreMovedError: there is another one, or another log or none beside it.
    """
    there = identity_of(path)
    if there is None:
        raise StoreMissingError(
            f"{name}: the file was removed or moved while it was open; {then}. Put it back, or open the "
            "repository again to begin a new file"
        )
    if there != opened:
        raise StoreMovedError(
            f"{name}: the file was replaced by another one while it was open; {then}. Before a file is "
            "restored, stop every process that has it open and remove its -wal and -shm; then open the "
            "repository again"
        )
    if log is not None and identity_of(log_of(path)) != log:
        raise StoreMovedError(
            f"{name}: its write-ahead log, {log_of(path)}, was removed or replaced while it was open; "
            f"{then}. Put it back if you have it, else open the repository again; never remove the log of an "
            "open file"
        )


_inherited: set[Identity] = set()


def mark_inherited(path: str) -> None:
    """In the child of a fork: the file was in use when the process was forked (see ``sqlite_fork``)."""
    identity = identity_of(path)
    if identity is not None:
        _inherited.add(identity)


def refuse_inherited(name: str, identity: Identity | None) -> None:
    """Refuse a file that was in use when this process was forked.

    Raises:
        StoreError: it was.
    """
    if identity in _inherited:
        raise inherited_error(name)


def inherited_error(name: str) -> StoreError:
    """What a child raises that can't use a store of its parent's."""
    return StoreError(
        f"{name}: this process was forked while a call on the repository was running, so it can't use it "
        "without losing commits; nothing was done. Fork between calls, or start processes anew (the start "
        "method 'spawn' of multiprocessing)"
    )
