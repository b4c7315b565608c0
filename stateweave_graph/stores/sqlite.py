"""The embedded store: one SQLite file, for any number of threads and processes of one machine.

Every commit is one ``BEGIN IMMEDIATE`` transaction, synced to disk before it is acknowledged. Readers
work on a snapshot and wait for nobody.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from stateweave_graph.errors import ReadOnlyStoreError
from stateweave_graph.projection import Projection
from stateweave_graph.stores.base import CypherBounds, StoreReader, StoreWriter
from stateweave_graph.stores.sqlite_connection import (
    MEMORY,
    connect,
    has_schema,
    make_schema,
    read_only_view,
    schema_text,
    schema_version,
    translated,
    writable,
)
from stateweave_graph.stores.sqlite_records import SqliteReader
from stateweave_graph.stores.sqlite_writer import SqliteWriter

Result = TypeVar("Result")


class SqliteStore:
    """Histories in one SQLite file, or in memory.

    The file is made with its schema by the first write; until then, reading finds nothing.

    Args:
        path: the file, or ``":memory:"`` for a store that is gone when it is closed.
        timeout: how long a writer waits for others, in seconds.
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float = 30.0) -> None:
        self._path = os.fspath(path)
        self._timeout = timeout
        self._projection = Projection()
        self._local = threading.local()
        self._opened: list[tuple[int, sqlite3.Connection]] = []
        self._guard = threading.RLock()
        self._memory: sqlite3.Connection | None = None
        self._closed_times = 0

    @property
    def name(self) -> str:
        """The file, for messages."""
        return self._path

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of this thread; the file is made with its schema where it is not there yet."""
        connection = self._connection()
        if not self._local_ready():
            make_schema(connection, self._path, self._timeout)
            self._local.ready = True
        return connection

    def read(self, work: Callable[[StoreReader], Result]) -> Result:
        """Run a unit of work on one moment of the database (see ``GraphStore``)."""
        with (
            self._exclusive_memory(),
            translated(self.name),
            self._readable() as connection,
            _transaction(connection, "BEGIN"),
        ):
            return work(SqliteReader(connection))

    def write(
        self, work: Callable[[StoreWriter], Result], report: Callable[[int], None] | None = None
    ) -> Result:
        """Run a unit of work of which all is written, or nothing (see ``GraphStore``)."""
        with self._exclusive_memory(), translated(self.name):
            self._refuse_read_only()
            connection = self.connection
            with _transaction(connection, "BEGIN IMMEDIATE"):
                return work(SqliteWriter(connection, report))

    def cypher(
        self, text: str, parameters: Mapping[str, Any], agents: Sequence[str] | None, bounds: CypherBounds
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """The columns and rows of a text, over a picture of the agents asked for (see ``projection.py``)."""
        return self.read(lambda tx: self._projection.query(tx, text, parameters, agents, bounds))

    def schema_version(self) -> int:
        """The version of the schema in the file; 0 where there is no file yet."""
        with self._exclusive_memory(), translated(self.name):
            if not self._exists():
                return 0
            if self._may_write():
                return schema_version(self._connection())
            with read_only_view(self._path) as view:
                return schema_version(view)

    def schema_text(self) -> str:
        """The statements that make the schema."""
        return schema_text()

    def apply_schema(self) -> None:
        """Make the file with its schema, where it is not there yet."""
        with self._exclusive_memory(), translated(self.name):
            self._refuse_read_only()
            _ = self.connection

    def bookmarks(self) -> list[str]:
        """Nothing: whoever opens the file reads what is in it."""
        return []

    def close(self) -> None:
        """Close the connections of all threads."""
        self._projection.close()
        with self._guard, translated(self.name):
            self._closed_times += 1
            self._memory = None
            opened, self._opened = self._opened, []
            for pid, connection in opened:
                # One that a fork brought along belongs to the parent: closing it would drop its locks.
                if pid == os.getpid():
                    connection.close()

    def _exists(self) -> bool:
        return self._path == MEMORY or Path(self._path).exists()

    def _may_write(self) -> bool:
        return self._path == MEMORY or writable(self._path)

    def _refuse_read_only(self) -> None:
        if self._exists() and not self._may_write():
            raise ReadOnlyStoreError(
                f"{self.name}: the file or its folder can't be written by this user; nothing was written"
            )

    @contextmanager
    def _readable(self) -> Iterator[sqlite3.Connection]:
        """A connection with the schema: this thread's, or an empty one where nothing was written yet."""
        if self._exists() and not self._may_write():
            with read_only_view(self._path) as view:
                yield view
            return
        connection = self._connection() if self._exists() else None
        if connection is not None and (self._local_ready() or has_schema(connection)):
            yield connection
            return
        with closing(connect(MEMORY, 0)) as nothing_yet:
            make_schema(nothing_yet, MEMORY, 0)
            yield nothing_yet

    def _connection(self) -> sqlite3.Connection:
        if self._path == MEMORY:
            if self._memory is None:
                self._memory = self._open()
            return self._memory
        owner = (os.getpid(), self._closed_times)
        if getattr(self._local, "owner", None) != owner:
            self._local.connection = self._open()
            self._local.ready = False
            self._local.owner = owner
        connection: sqlite3.Connection = self._local.connection
        return connection

    def _local_ready(self) -> bool:
        return getattr(self._local, "ready", False) and self._path != MEMORY

    def _open(self) -> sqlite3.Connection:
        connection = connect(self._path, self._timeout)
        with self._guard:
            self._opened.append((os.getpid(), connection))
        return connection

    @contextmanager
    def _exclusive_memory(self) -> Iterator[None]:
        """All threads share the one connection of a store in memory, one at a time."""
        if self._path == MEMORY:
            with self._guard:
                yield
        else:
            yield


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk ends it by itself
            connection.execute("ROLLBACK")
        raise
    try:
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
