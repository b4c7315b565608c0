"""The embedded store: one SQLite file, for any number of threads and processes of one machine.

Every commit is one ``BEGIN IMMEDIATE`` transaction, synced to disk before it is acknowledged. Readers
work on a snapshot and wait for nobody.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from stateweave_graph.errors import ReadOnlyStoreError
from stateweave_graph.projection import Projection
from stateweave_graph.stores.base import CypherBounds, StoreReader, StoreWriter
from stateweave_graph.stores.sqlite_connection import (
    MEMORY,
    Connection,
    connect,
    has_schema,
    make_schema,
    patiently,
    read_only_view,
    schema_text,
    schema_version,
    translated,
    writable,
)
from stateweave_graph.stores.sqlite_fork import watch
from stateweave_graph.stores.sqlite_pool import ConnectionPool, Slot
from stateweave_graph.stores.sqlite_records import SqliteReader
from stateweave_graph.stores.sqlite_writer import SqliteWriter

Result = TypeVar("Result")


class SqliteStore:
    """Histories in one SQLite file, or in memory.

    The file is made with its schema by the first write; until then, reading finds nothing.

    Args:
        path: the file, or ``":memory:"`` for a store that is gone when it is closed.
        timeout: how long a call waits for others, in seconds.
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float = 30.0) -> None:
        self._name = os.fspath(path)
        # SQLite takes some names for URIs, but no absolute path; and the working directory may change.
        self._path = MEMORY if self._name == MEMORY else str(Path(self._name).absolute())
        self._timeout = timeout
        self._projection = Projection()
        self._pool = ConnectionPool(self._path, self._name, timeout)
        self._log_keeps_deleted = False
        watch(self)

    @property
    def name(self) -> str:
        """The file, for messages."""
        return self._name

    def read(self, work: Callable[[StoreReader], Result]) -> Result:
        """Run a unit of work on one moment of the database (see ``GraphStore``)."""
        with translated(self.name):
            return self._pool.reading(lambda slot: self._read(slot, work))

    def write(
        self, work: Callable[[StoreWriter], Result], report: Callable[[int], None] | None = None
    ) -> Result:
        """Run a unit of work of which all is written, or nothing (see ``GraphStore``)."""
        with translated(self.name):
            return self._pool.writing(lambda slot: self._write(slot, work, report))

    def administer(self, work: Callable[[Connection], Result]) -> Result:
        """Run a piece of work on the connection that writes, outside of any transaction.

        It is for measuring and settings of SQLite's own; histories are changed with ``write`` only.
        """
        with translated(self.name):
            return self._pool.writing(lambda slot: work(self._pool.with_schema(slot)))

    def cypher(
        self, text: str, parameters: Mapping[str, Any], agents: Sequence[str] | None, bounds: CypherBounds
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """The columns and rows of a text, over a picture of the agents asked for (see ``projection.py``)."""
        return self.read(lambda tx: self._projection.query(tx, text, parameters, agents, bounds))

    def schema_version(self) -> int:
        """The version of the schema in the file; 0 where there is no file yet."""
        with translated(self.name):
            return self._pool.reading(self._schema_version)

    def schema_text(self) -> str:
        """The statements that make the schema."""
        return schema_text()

    def apply_schema(self) -> None:
        """Make the file with its schema, where it is not there yet."""

        def work(slot: Slot) -> None:
            self._refuse_read_only()
            self._pool.with_schema(slot)

        with translated(self.name):
            self._pool.writing(work)

    def bookmarks(self) -> list[str]:
        """Nothing: whoever opens the file reads what is in it."""
        return []

    def close(self) -> None:
        """Wait for calls of other threads, and close all connections; every later call is refused."""
        with translated(self.name):
            self._pool.close()
        self._projection.close()

    def hold_for_fork(self, deadline: float) -> None:
        """Before a fork of the process (see ``sqlite_fork``)."""
        self._pool.hold_for_fork(deadline)

    def go_on_after_fork(self) -> None:
        """After a fork, in the parent."""
        self._pool.go_on_after_fork()

    def begin_anew(self) -> None:
        """After a fork, in the child."""
        self._pool.begin_anew()
        self._projection = Projection()

    def _read(self, slot: Slot, work: Callable[[StoreReader], Result]) -> Result:
        if self._exists() and not self._may_write():
            with read_only_view(self._path) as view:
                return _read_on(view, work)
        if self._exists() or self._pool.is_open():
            connection = self._pool.opened(slot)
            if connection.in_transaction:  # within another unit of work of this thread
                return work(SqliteReader(connection))
            if connection.has_schema or has_schema(connection):
                connection.has_schema = True
                return _read_on(connection, work)
        with closing(connect(MEMORY, 0)) as nothing_yet:
            make_schema(nothing_yet, time.monotonic())
            return _read_on(nothing_yet, work)

    def _write(
        self, slot: Slot, work: Callable[[StoreWriter], Result], report: Callable[[int], None] | None
    ) -> Result:
        self._refuse_read_only()
        connection = self._pool.with_schema(slot)
        deadline = time.monotonic() + self._timeout
        patiently(lambda: connection.execute("BEGIN IMMEDIATE"), deadline)
        writer = SqliteWriter(connection, report)
        result = work(writer)
        connection.check_in_place(self.name, "nothing was written")
        connection.execute("COMMIT")
        connection.check_in_place(self.name, "what was just written is not in the file at the path")
        self._log_keeps_deleted = self._log_keeps_deleted or writer.deleted
        if self._log_keeps_deleted:
            self._empty_log(connection)
        return result

    def _empty_log(self, connection: Connection) -> None:
        """Cut the write-ahead log, which keeps deleted text; later, where somebody still reads from it."""
        if self._path != MEMORY:
            with suppress(sqlite3.OperationalError):  # the commit is made, whatever comes of this
                busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                self._log_keeps_deleted = bool(busy)

    def _schema_version(self, slot: Slot) -> int:
        if not self._exists():
            return 0
        if self._may_write():
            return schema_version(self._pool.opened(slot))
        with read_only_view(self._path) as view:
            return schema_version(view)

    def _exists(self) -> bool:
        return self._path == MEMORY or Path(self._path).exists()

    def _may_write(self) -> bool:
        return self._path == MEMORY or writable(self._path)

    def _refuse_read_only(self) -> None:
        if self._exists() and not self._may_write():
            raise ReadOnlyStoreError(
                f"{self.name}: the file or its folder can't be written by this user; nothing was written"
            )


def _read_on(connection: Connection, work: Callable[[StoreReader], Result]) -> Result:
    """Run a unit of work on a snapshot; whoever owns the connection ends what is left of it."""
    connection.execute("BEGIN")
    result = work(SqliteReader(connection))
    connection.execute("COMMIT")
    return result
