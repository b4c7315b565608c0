"""Connections to a SQLite file: whether it is ours, how it is opened, what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from stateweave_graph.errors import (
    NotAStoreError,
    ReadOnlyStoreError,
    SchemaError,
    StoreError,
    StoreFullError,
    StoreMovedError,
    StoreUnavailableError,
)
from stateweave_graph.stores.sqlite_drives import refuse_network_drive
from stateweave_graph.stores.sqlite_file import (
    Identity,
    check_in_place,
    identity_of,
    log_of,
    refuse_inherited,
)

Result = TypeVar("Result")

APPLICATION_ID = 0x53574731
"""``SWG1``: how ``file`` and we tell our files from others."""
SCHEMA_VERSION = 1
MEMORY = ":memory:"
LOG_BYTES = 8 * 1024 * 1024
"""The size to which the write-ahead log is cut when it begins anew."""

_MANY_STREAMS = 100
_SCHEMA = Path(__file__).with_name("sqlite_schema.sql")
_MEANINGS: tuple[tuple[str, type[StoreError], str], ...] = (
    ("locked", StoreUnavailableError, "another process holds the write lock for too long; try again"),
    ("busy", StoreUnavailableError, "another process holds the write lock for too long; try again"),
    (
        "readonly",
        ReadOnlyStoreError,
        "the file or its folder can't be written by this user; nothing was written",
    ),
    ("full", StoreFullError, "no room is left; nothing of this commit was written. Make room and try again"),
    ("not a database", NotAStoreError, "this is not a SQLite file; it was not touched. Name another file"),
    ("malformed", StoreError, "the file is damaged; restore it from a backup"),
    (
        "unable to open",
        StoreError,
        "the file can't be opened; check that its folder exists and may be written",
    ),
    ("disk I/O error", StoreError, "the disk failed; nothing of this commit was acknowledged"),
)


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Let no sqlite3 error escape.

    Raises:
        StoreError: of the kind that the error means, with the remedy.
    """
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        for word, kind, remedy in _MEANINGS:
            if word in text:
                raise kind(f"{name}: {remedy} ({text})") from error
        raise StoreError(f"{name}: SQLite refused: {text}") from error


class Connection(sqlite3.Connection):
    """A connection that knows its file, and can be brought back from the middle of anything.

    Attributes:
        path: the file, or ``MEMORY``.
        identity: the file that was opened at the path; None in memory.
        log: its write-ahead log; None until there is one.
        has_schema: whether the schema is known to be there.
    """

    def __init__(self, path: str, *arguments: Any, **named: Any) -> None:
        super().__init__(path, *arguments, **named)
        self.path = path
        self.identity: Identity | None = None
        self.log: Identity | None = None
        self.has_schema = False
        # No WeakSet: it calls Python when a cursor ends, where the exception of a signal handler gets lost.
        self._streams: list[weakref.ref[sqlite3.Cursor]] = []

    def stream(self, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
        """The rows of a statement, of which not all need be fetched (see ``settle``)."""
        cursor = self.execute(statement, values)
        if len(self._streams) >= _MANY_STREAMS:
            self._streams = [stream for stream in self._streams if stream() is not None]
        self._streams.append(weakref.ref(cursor))
        return cursor

    def settle(self) -> None:
        """End what a unit of work left behind: rows not fetched hold the snapshot, a transaction the lock."""
        for stream in self._streams:
            cursor = stream()
            if cursor is not None:
                cursor.close()
        self._streams.clear()
        if self.in_transaction:
            self.execute("ROLLBACK")

    def check_in_place(self, name: str, then: str) -> None:
        """Refuse to go on where the file at the path is another one (see ``sqlite_file.check_in_place``)."""
        if self.identity is None:
            return
        if self.log is None:
            self.log = identity_of(log_of(self.path))
        try:
            check_in_place(name, self.path, self.identity, self.log, then)
        except StoreMovedError:
            self._empty_log()
            raise

    def let_go(self) -> None:
        """Close it; where the log at its path is another one, keep it for the life of the process.

        Closing the last connection of a file removes the log of that name, which may be another file's.
        """
        try:
            self.check_in_place(self.path, "")
        except StoreMovedError:
            if not self._has_its_log():
                self.keep_for_ever()
                return
        self.close()

    def _empty_log(self) -> None:
        """Bring what the log has into the file that it belongs to, wherever that is now.

        SQLite would apply it to the file that is at the path instead.
        """
        if self._has_its_log() and not self.in_transaction:
            with suppress(sqlite3.OperationalError):  # somebody reads from it: the next check does it
                self.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _has_its_log(self) -> bool:
        return identity_of(log_of(self.path)) in (None, self.log)

    def keep_for_ever(self) -> None:
        """See to it that it is never closed, not even when the interpreter ends."""
        import ctypes

        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))


def connect(path: str, timeout: float) -> Connection:
    """A connection to a file of ours, or to one that is still empty.

    Args:
        path: the absolute path of the file, or ``MEMORY``.
        timeout: how long a statement waits for other processes, in seconds.

    Raises:
        NotAStoreError: there is a file that is not ours.
        SchemaError: it was written by a newer version of this package.
        StoreError: it can't be opened.
    """
    if path != MEMORY:
        refuse_network_drive(path)
        if not Path(path).parent.is_dir():
            raise StoreError(f"{path}: there is no folder {Path(path).parent}; make it first")
    before = None if path == MEMORY else identity_of(path)
    refuse_inherited(path, before)
    connection = sqlite3.connect(
        path, timeout=timeout, isolation_level=None, check_same_thread=False, factory=Connection
    )
    try:
        if path != MEMORY:
            connection.identity = identity_of(path)
            if connection.identity is None or before not in (None, connection.identity):
                raise StoreUnavailableError(f"{path}: it was replaced while it was opened; try again")
        _refuse_foreign(connection, path)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
    except BaseException:
        connection.close()
        raise
    return connection


def writable(path: str) -> bool:
    """Whether this user may write a file, and beside it, where the write-ahead log is kept."""
    file = Path(path)
    return os.access(file.parent, os.W_OK | os.X_OK) and (not file.exists() or os.access(file, os.W_OK))


@contextmanager
def read_only_view(path: str) -> Iterator[Connection]:
    """A connection to a file that this user may read and not write.

    Without the right to write beside it, SQLite can't share in a write-ahead log that is not there; then the
    file itself is all there is, and it is read as it stands.

    Raises:
        StoreUnavailableError: another user changed the file while it was read.
    """
    refuse_inherited(path, identity_of(path))
    before = Path(path).stat() if Path(path).exists() else None
    quiet = before is not None and not Path(log_of(path)).exists()
    mode = "mode=ro&immutable=1" if quiet else "mode=ro"
    connection = sqlite3.connect(
        f"file:{quote(path)}?{mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
    )
    try:
        _refuse_foreign(connection, path)
        yield connection
    finally:
        connection.close()
    if quiet and before is not None and _stamp(before) != _stamp(Path(path).stat()):
        raise StoreUnavailableError(f"{path}: another user changed it while it was read; try again")


def make_schema(connection: Connection, deadline: float) -> None:
    """Make the schema where it is not there yet, and keep a write-ahead log from then on."""
    if not patiently(lambda: has_schema(connection), deadline):
        try:
            patiently(lambda: connection.execute("BEGIN IMMEDIATE"), deadline)
            if not has_schema(connection):  # another process may have been first
                for statement in schema_text().split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            patiently(lambda: connection.execute("COMMIT"), deadline)
        finally:
            connection.settle()
    if connection.path != MEMORY:
        mode = patiently(lambda: connection.execute("PRAGMA journal_mode = WAL").fetchone()[0], deadline)
        if mode != "wal":
            raise StoreError(
                f"SQLite can't keep a write-ahead log here (journal mode {mode}); use a local disk"
            )
    connection.has_schema = True


def patiently(call: Callable[[], Result], deadline: float) -> Result:
    """Try again while another process holds a lock, so that an interrupt is not kept waiting by SQLite.

    Args:
        call: runs one statement.
        deadline: until when, of ``time.monotonic()``.
    """
    pause = 0.0005
    while True:
        try:
            return call()
        except sqlite3.OperationalError as error:
            left = deadline - time.monotonic()
            if not is_busy(error) or left <= 0:
                raise
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, 0.02)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds a lock, so that the same statement may succeed later."""
    return "locked" in str(error)


def has_schema(connection: sqlite3.Connection) -> bool:
    """Whether the schema is there."""
    return schema_version(connection) > 0


def schema_version(connection: sqlite3.Connection) -> int:
    """The version of the schema that a file says it has; 0 where it has none."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def schema_text() -> str:
    """The statements that make the schema."""
    return _SCHEMA.read_text(encoding="utf-8")


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _refuse_foreign(connection: sqlite3.Connection, path: str) -> None:
    """Refuse a file that is not ours, before anything is changed."""
    connection.execute("BEGIN")  # all of it of one moment: another process may be making the schema
    try:
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        application_id = connection.execute("PRAGMA application_id").fetchone()[0]
        version = schema_version(connection)
    finally:
        connection.execute("ROLLBACK")
    if application_id == APPLICATION_ID:
        if version > SCHEMA_VERSION:
            raise SchemaError(
                f"{path}: its schema is version {version}, and this package knows versions up to "
                f"{SCHEMA_VERSION}; nothing was touched. Upgrade stateweave-graph"
            )
    elif application_id or version or tables:
        raise NotAStoreError(
            f"{path}: this is a SQLite file of another program; it was not touched. Name another file"
        )
