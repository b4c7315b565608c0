"""Connections to a SQLite file: whether it is ours, how it is opened, what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from stateweave_graph.errors import (
    NotAStoreError,
    ReadOnlyStoreError,
    SchemaError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)

APPLICATION_ID = 0x53574731
"""``SWG1``: how ``file`` and we tell our files from others."""
SCHEMA_VERSION = 1
MEMORY = ":memory:"

_SCHEMA = Path(__file__).with_name("sqlite_schema.sql")
_NETWORK_FILE_SYSTEMS = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "fuse.sshfs",
    "afs",
    "ceph",
    "glusterfs",
    "9p",
)
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


def connect(path: str, timeout: float) -> sqlite3.Connection:
    """A connection to a file of ours, or to one that is still empty.

    Raises:
        NotAStoreError: there is a file that is not ours.
        SchemaError: it was written by a newer version of this package.
        StoreError: it can't be opened.
    """
    if path != MEMORY:
        refuse_network_drive(path)
        if not Path(path).parent.is_dir():
            raise StoreError(f"{path}: there is no folder {Path(path).parent}; make it first")
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        _refuse_foreign(connection, path)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -65536")
    except BaseException:
        connection.close()
        raise
    return connection


def writable(path: str) -> bool:
    """Whether this user may write a file, and beside it, where the write-ahead log is kept."""
    file = Path(path)
    return os.access(file.parent, os.W_OK | os.X_OK) and (not file.exists() or os.access(file, os.W_OK))


@contextmanager
def read_only_view(path: str) -> Iterator[sqlite3.Connection]:
    """A connection to a file that this user may read and not write.

    Without the right to write beside it, SQLite can't share in a write-ahead log that is not there; then the
    file itself is all there is, and it is read as it stands.

    Raises:
        StoreUnavailableError: another user changed the file while it was read.
    """
    before = Path(path).stat() if Path(path).exists() else None
    quiet = before is not None and not Path(f"{path}-wal").exists()
    mode = "mode=ro&immutable=1" if quiet else "mode=ro"
    connection = sqlite3.connect(f"file:{quote(path)}?{mode}", uri=True, isolation_level=None)
    try:
        _refuse_foreign(connection, path)
        yield connection
    finally:
        connection.close()
    if quiet and before is not None and _stamp(before) != _stamp(Path(path).stat()):
        raise StoreUnavailableError(f"{path}: another user changed it while it was read; try again")


def make_schema(connection: sqlite3.Connection, path: str, timeout: float) -> None:
    """Make the schema where it is not there yet, and keep a write-ahead log from then on."""
    if not has_schema(connection):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not has_schema(connection):  # another process may have been first
                for statement in schema_text().split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
    if path != MEMORY:
        _set_wal(connection, timeout)


def has_schema(connection: sqlite3.Connection) -> bool:
    """Whether the schema is there."""
    return schema_version(connection) > 0


def schema_version(connection: sqlite3.Connection) -> int:
    """The version of the schema that a file says it has; 0 where it has none."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def schema_text() -> str:
    """The statements that make the schema."""
    return _SCHEMA.read_text(encoding="utf-8")


def refuse_network_drive(path: str, mounts: str = "/proc/self/mounts") -> None:
    """Refuse a file on a network drive, where SQLite's locks are not kept (known on Linux only).

    Raises:
        StoreError: the file is on one.
    """
    if not Path(mounts).is_file():
        return
    resolved = str(Path(path).resolve())
    best, kind = "", ""
    for line in Path(mounts).read_text(encoding="utf-8", errors="replace").splitlines():
        _, point, file_system, *_ = line.split(" ")
        point = point.replace("\\040", " ")
        inside = resolved == point or resolved.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, file_system
    if kind in _NETWORK_FILE_SYSTEMS:
        raise StoreError(
            f"{path}: this is on a network drive ({kind} at {best}), where SQLite can't keep its locks and "
            "commits may be lost. Use a local disk, or Neo4j for many machines"
        )


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


def _set_wal(connection: sqlite3.Connection, timeout: float) -> None:
    # The switch to WAL does not wait for the busy timeout where another process makes it too.
    deadline = time.monotonic() + timeout
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
            continue
        if mode != "wal":
            raise StoreError(
                f"SQLite can't keep a write-ahead log here (journal mode {mode}); use a local disk"
            )
        return
