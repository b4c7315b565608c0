"""Work with the driver, on threads of its own.

An interrupt (Ctrl-C, an alarm) is raised wherever its thread happens to be. In the middle of a message of
the driver it would leave the connection, the driver's locks and its pool in an unknown state; and an
``OSError`` (``TimeoutError``) the driver would take for a lost connection, and try again. So the driver never
runs on the caller's thread. That one waits, and whatever ends the waiting early, an interrupt or a deadline,
cuts the connection from outside. The driver then sees a lost connection, which it knows how to handle, and
the server rolls back. The same deadline bounds what the driver can't bound: resolving names, and reading
from a peer that is silent.
"""

from __future__ import annotations

import _thread
import contextlib
import contextvars
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from neo4j import Driver, Session

from stateweave_graph.errors import StoreUnavailableError
from stateweave_graph.stores.base import closed_error

Result = TypeVar("Result")

_SLICE = 0.5
"""A wait is made of slices, in seconds: on Windows, nothing interrupts a wait for a lock."""

_COMMIT_GRACE = 2.0
"""How long an interrupt waits for the answer to a COMMIT before the connection is cut, in seconds."""

_SETTLE = 5.0
"""How long the end of work whose connection was cut is waited for, in seconds."""


class AbandonedError(Exception):
    """Nobody waits for this work any more."""


class Task(Generic[Result]):
    """One piece of work with the driver; it runs on a thread of its own.

    Attributes:
        session: the session that it uses, once it has one.
        answered: whether a server has answered it.
        committing: whether its COMMIT may have been sent.
        over: whether it has ended.
    """

    def __init__(self, work: Callable[[Task[Result]], Result], seconds: float) -> None:
        self.session: Session | None = None
        self.answered = False
        self.committing = False
        self._work = work
        self._result: list[Result] = []
        self._error: BaseException | None = None
        self._abandoned = False
        self.over = False
        # Locks without any Python around them: an interrupt can't leave them half taken.
        self._finished = _thread.allocate_lock()
        self._finished.acquire()
        self._first_answer: float | None = None
        self._deadline = time.monotonic() + seconds

    def renew(self, seconds: float) -> None:
        """Let it take so many seconds from now, since a server has answered it.

        Raises:
            AbandonedError: nobody waits for it any more.
        """
        self.answered = True
        self.check()
        self._deadline = time.monotonic() + seconds

    def first_answer_within(self, seconds: float) -> None:
        """Let it wait no longer than that for the first answer on a connection that it was given."""
        self._first_answer = time.monotonic() + seconds

    def check(self) -> None:
        """Stop here if nobody waits any more.

        Raises:
            AbandonedError: nobody does.
        """
        if self._abandoned:
            raise AbandonedError

    def start(self, after: Callable[[], Driver | None]) -> None:
        """Start it; ``after`` is called on its thread at the end, and may return a driver to close."""
        context = contextvars.copy_context()
        _thread.start_new_thread(context.run, (self._run, after))

    def wait(self) -> bool:
        """Wait until it is over; False where its time is up before."""
        while True:
            now = time.monotonic()
            end = self._deadline
            if self._first_answer is not None and not self.answered and self._connection() is not None:
                end = min(end, self._first_answer)
            if self._finished.acquire(timeout=max(0.0, min(end - now, _SLICE))):
                return True
            if self.over:
                return True
            if now >= end:
                return False

    def result(self) -> Result:
        """What it gave, or the error that ended it."""
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # else the error and this object hold each other
        return self._result[0]

    def abandon(self) -> None:
        """Give it up: cut its connection, unless it is committing and is over in a moment."""
        self._abandoned = True
        if self.committing:
            self._settle(_COMMIT_GRACE)
        if self.cut() or self.answered:  # else it still connects, and ends before it does anything
            self._settle(_SETTLE)

    def cut(self) -> bool:
        """Cut the connection that it uses now, if it has one; the driver then treats it as lost."""
        raw = None if self.over else _raw_socket(self._connection())
        if raw is None:
            return False
        with contextlib.suppress(OSError):
            socket.socket.shutdown(raw, socket.SHUT_RDWR)  # of the socket below TLS
        return True

    def _connection(self) -> Any:
        """The connection of the driver that it uses now; the driver has no public way to it."""
        return getattr(self.session, "_connection", None)

    def _settle(self, seconds: float) -> None:
        if not self.over:
            self._finished.acquire(timeout=seconds)

    def _run(self, after: Callable[[], Driver | None]) -> None:
        try:
            self._result.append(self._work(self))
        except BaseException as error:  # it is raised again where it is waited for, whatever it is
            self._error = error
        self.session = None
        unused = after()
        self.over = True
        self._finished.release()
        if unused is not None:
            unused.close()


class _Shared:
    """A driver, and how many tasks use it."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.users = 0
        self.retired = False
        self.proven = False


class Tasks:
    """The tasks of a store, and the driver that they share.

    After a fork, the child begins anew with a driver of its own, and closes its copies of the parent's
    sockets without sending anything.

    Args:
        make: makes a driver.
        name: where the server is, for messages.
        timeout: the most seconds that a task may take unless it is given others.
    """

    def __init__(self, make: Callable[[], Driver], name: str, timeout: float) -> None:
        self._make = make
        self._name = name
        self._timeout = timeout
        self._closed = False
        self._guard = threading.Lock()
        self._shared: _Shared | None = None
        self._running: set[Task[Any]] = set()
        _OPEN.add(self)

    def run(self, work: Callable[[Driver, Task[Result]], Result], seconds: float) -> Result:
        """What a piece of work gives; it is given a driver.

        Args:
            work: it must check the task before it changes anything.
            seconds: how long it may take.

        Raises:
            StoreUnavailableError: it took longer; its connection was cut.
            StoreError: the store is closed.
        """
        if self._closed:
            raise closed_error(self._name)
        used: list[_Shared] = []

        def leased(task: Task[Result]) -> Result:
            with self._guard:
                task.check()
                if self._closed:
                    raise closed_error(self._name)
                if self._shared is None:
                    self._shared = _Shared(self._make())
                shared = self._shared
                shared.users += 1
                self._running.add(task)
                used.append(shared)
            if shared.proven:
                task.first_answer_within(seconds / 2)
            result = work(shared.driver, task)
            shared.proven = True
            return result

        def after() -> Driver | None:
            return self._returned(used[0], task) if used else None

        task = Task(leased, seconds)
        try:
            task.start(after)
            if task.wait():
                return task.result()
        except BaseException:
            task.abandon()
            raise
        task.abandon()
        for shared in used:
            self._retire(shared)  # what else it keeps idle may be as dead as this connection
        raise TookTooLongError(self._name, seconds, answered=task.answered, committing=task.committing)

    def close(self) -> None:
        """Wait for tasks that run, for as long as they may take, and let go of connections."""
        if self._closed:
            return
        self._closed = True
        ending = Task(self._end, self._timeout + _SETTLE + 1.0)
        ending.start(_nothing)
        if ending.wait():
            ending.result()

    def _end(self, _: Task[None]) -> None:
        deadline = time.monotonic() + self._timeout
        with self._guard:
            running = list(self._running)
        while time.monotonic() < deadline and any(not task.over for task in running):
            time.sleep(0.01)
        for task in running:
            task.cut()
        with self._guard:
            shared = self._shared
        if shared is not None:
            self._retire(shared)

    def _returned(self, shared: _Shared, task: Task[Any]) -> Driver | None:
        with self._guard:
            self._running.discard(task)
            shared.users -= 1
            return shared.driver if shared.retired and shared.users == 0 else None

    def _retire(self, shared: _Shared) -> None:
        """Use a driver for nothing new, and close it once nothing uses it."""
        with self._guard:
            if self._shared is shared:
                self._shared = None
            unused = not shared.retired and shared.users == 0
            shared.retired = True
        if unused:
            shared.driver.close()

    def _begin_anew(self) -> None:
        """In the child of a fork: leave all that the parent uses to the parent."""
        shared, self._shared = self._shared, None
        self._guard = threading.Lock()
        self._running = set()
        if shared is not None:
            _INHERITED.append(shared.driver)
            _close_copies(shared.driver)


class TookTooLongError(Exception):
    """A task was given up because its time was over.

    Attributes:
        answered: whether the server had begun its transaction.
        committing: whether its COMMIT may have been sent.
    """

    def __init__(self, name: str, seconds: float, *, answered: bool, committing: bool) -> None:
        self.answered = answered
        self.committing = committing
        self.meaning = StoreUnavailableError(
            f"{name}: no answer to COMMIT came in time, so it is not known whether it was done (timeout: "
            f"{seconds:g} s)"
            if committing
            else f"{name}: the server did not answer in time, and nothing was written; try again, or open "
            f"the repository with a larger timeout than {seconds:g} s",
            outcome_unknown=committing,
        )
        super().__init__(str(self.meaning))


def _nothing() -> None:
    return None


def _raw_socket(connection: Any) -> socket.socket | None:
    """The socket of a connection of the driver; it has no public way to that either."""
    raw = getattr(getattr(connection, "socket", None), "_socket", None)
    return raw if isinstance(raw, socket.socket) else None


def _close_copies(driver: Driver) -> None:
    """Close this process's copies of a driver's sockets; the connections stay those of the other process."""
    pools = getattr(driver, "_pool", None)
    for connections in list(getattr(pools, "connections", {}).values()):
        for connection in list(connections):
            raw = _raw_socket(connection)
            connection._closed = True  # so that its destructor says no goodbye on the parent's connection
            if raw is not None:
                socket.socket.close(raw)
    driver._closed = True


_OPEN: weakref.WeakSet[Tasks] = weakref.WeakSet()

_INHERITED: list[Driver] = []
"""Drivers of a parent process. They are kept, since their destructors would use the parent's connections."""


def _begin_anew_in_child() -> None:
    for tasks in list(_OPEN):
        tasks._begin_anew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_begin_anew_in_child)
