"""The connections of a SQLite store: one that writes, and a few that read.

A unit of work checks a connection out and gives it back, whatever ends it. An exception may arrive from a
signal handler between any two steps, so nothing here relies on a step that follows another: who holds a
connection is known by the owner of its lock, and what was left behind is ended when it is given back.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from stateweave_graph.errors import InvalidRequestError, StoreUnavailableError
from stateweave_graph.stores.base import closed_error
from stateweave_graph.stores.sqlite_connection import MEMORY, Connection, connect, make_schema
from stateweave_graph.stores.sqlite_file import inherited_error, mark_inherited

Result = TypeVar("Result")

READERS = 5
"""The most units of work that read at the same time; more wait for one of them."""

_LOOK_AGAIN = 0.02


class Slot:
    """A place for one connection, used by one thread at a time.

    Attributes:
        lock: held by the thread that uses it, and by a fork.
        owner: that thread, once its work may have begun.
        connection: the connection; None where none is open.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.owner: int | None = None
        self.connection: Connection | None = None

    def settle(self) -> None:
        """End what a unit of work left behind; a connection that refuses is closed, which ends it too."""
        if self.connection is not None:
            try:
                self.connection.settle()
            except sqlite3.Error:
                self.close()

    def close(self) -> None:
        """Close the connection, if one is open."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.let_go()

    def give_back(self, thread: int) -> None:
        """Settle and unlock it, if this thread has it; may be interrupted, and said again."""
        if self.owner == thread:
            self.settle()
            self.owner = None
        if self.owner is None:
            with suppress(RuntimeError):  # not held by this thread, or not any more
                while True:
                    self.lock.release()


class ConnectionPool:
    """The connections to one file, or the one connection to a database in memory.

    Args:
        path: the absolute path of the file, or ``MEMORY``.
        name: what to call it in messages.
        timeout: how long a unit of work waits for others, in seconds.
    """

    def __init__(self, path: str, name: str, timeout: float) -> None:
        self._path = path
        self._name = name
        self._timeout = timeout
        self._closed = False
        self._writer, *self._readers = (Slot() for _ in range(1 if path == MEMORY else 1 + READERS))
        self._used_at_fork = False
        self._refused = False
        self._finalizer = weakref.finalize(self, _close_all, [self._writer, *self._readers])

    def reading(self, work: Callable[[Slot], Result]) -> Result:
        """Run a piece of work on a connection that reads; the same one within such work of this thread."""
        return self._with_one_of(self._readers or [self._writer], work)

    def writing(self, work: Callable[[Slot], Result]) -> Result:
        """Run a piece of work on the connection that writes.

        Raises:
            InvalidRequestError: this thread is writing already.
        """
        if self._writer.owner == threading.get_ident():
            raise InvalidRequestError(
                f"{self._name}: a call that writes is running in this thread already, and nothing can be "
                "written before it ends; a progress callback may only read"
            )
        return self._with_one_of([self._writer], work)

    def opened(self, slot: Slot) -> Connection:
        """The connection of a slot that this thread has, opened where need be.

        Raises:
            StoreMovedError: the file at the path is not the one that is open.
        """
        if slot.connection is None:
            slot.connection = self._connected(slot is self._writer)
        slot.connection.check_in_place(self._name, "nothing was done")
        return slot.connection

    def with_schema(self, slot: Slot) -> Connection:
        """The same, after the schema was made where it is not there yet."""
        connection = self.opened(slot)
        if not connection.has_schema:
            make_schema(connection, time.monotonic() + self._timeout)
        return connection

    def is_open(self) -> bool:
        """Whether any connection is open."""
        return any(slot.connection is not None for slot in self._slots())

    def close(self) -> None:
        """Wait for units of work of other threads, and close all connections; later calls are refused.

        Raises:
            InvalidRequestError: it is called within a unit of work.
            StoreUnavailableError: another thread's unit of work did not end in time.
        """
        me = threading.get_ident()
        if any(slot.owner == me for slot in self._slots()):
            raise InvalidRequestError(f"{self._name}: a repository can't be closed by a callback of its own")
        self._closed = True
        deadline = time.monotonic() + self._timeout
        for slot in self._slots():
            try:
                if not slot.lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
                    raise StoreUnavailableError(
                        f"{self._name}: another thread still uses this repository; close it again later"
                    )
                slot.owner = me
                slot.close()
            finally:
                slot.give_back(me)

    def hold_for_fork(self, deadline: float) -> None:
        """Before a fork: wait for units of work, close all connections, and let no new one begin."""
        self._used_at_fork = True  # until the opposite is known: a signal handler may end this too
        me = threading.get_ident()
        all_held = True
        for slot in self._slots():
            left = max(0.0, deadline - time.monotonic())
            if slot.owner == me or not slot.lock.acquire(timeout=left):
                all_held = False
            elif self._path != MEMORY:
                slot.close()
        self._used_at_fork = not all_held

    def go_on_after_fork(self) -> None:
        """In the parent: let units of work begin again."""
        me = threading.get_ident()
        for slot in self._slots():
            if slot.owner != me:
                slot.give_back(me)

    def begin_anew(self) -> None:
        """In the child: connections of its own; those that could not be closed are never touched again."""
        self._refused = self._refused or self._used_at_fork
        for slot in self._slots():
            slot.lock = threading.RLock()
            slot.owner = None
            if self._used_at_fork and slot.connection is not None:
                slot.connection.keep_for_ever()
                slot.connection = None
        if self._used_at_fork and self._path != MEMORY:
            mark_inherited(self._path)

    def _slots(self) -> list[Slot]:
        return [self._writer, *self._readers]

    def _connected(self, writes: bool) -> Connection:
        self._check_in_place()  # before: SQLite would apply the log of the file that was there
        connection = connect(self._path, self._timeout)
        if writes:
            connection.execute("PRAGMA busy_timeout = 0")
        self._check_in_place()
        return connection

    def _check_in_place(self) -> None:
        """Refuse a file that another connection of the pool has not open."""
        for slot in self._slots():
            connection = slot.connection
            if connection is not None:
                connection.check_in_place(self._name, "nothing was done")

    def _with_one_of(self, slots: Sequence[Slot], work: Callable[[Slot], Result]) -> Result:
        me = threading.get_ident()
        for slot in slots:
            if slot.owner == me:
                return work(slot)
        try:
            return work(self._checked_out(slots, me))
        finally:
            try:
                _give_back(slots, me)
            finally:  # where an interrupt arrived just there
                _give_back(slots, me)

    def _checked_out(self, slots: Sequence[Slot], me: int) -> Slot:
        deadline = time.monotonic() + self._timeout
        waited_for = slots[me // 64 % len(slots)]
        while True:
            self._refuse_closed()
            for slot in slots:
                if slot.lock.acquire(blocking=False):
                    break
            else:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise StoreUnavailableError(
                        f"{self._name}: other threads of this process use all connections; try again"
                    )
                pause = left if len(slots) == 1 else min(left, _LOOK_AGAIN)
                if not waited_for.lock.acquire(timeout=pause):
                    continue
                slot = waited_for
            self._refuse_closed()
            slot.owner = me
            return slot

    def _refuse_closed(self) -> None:
        if self._closed:
            raise closed_error(self._name)
        if self._refused:
            raise inherited_error(self._name)


def _give_back(slots: Sequence[Slot], thread: int) -> None:
    for slot in slots:
        slot.give_back(thread)


def _close_all(slots: Sequence[Slot]) -> None:
    for slot in slots:
        slot.close()
