"""What a fork may do to SQLite, and how it is kept from it.

SQLite keeps account, for the whole process, of the locks that it holds on each file. A fork copies that
account and not the locks, so a child that uses a file which its parent had open loses commits without an
error (https://www.sqlite.org/howtocorrupt.html, 2.6). So every connection is closed before a fork, after the
units of work that run were waited for. Where that can't be done, the child may not use the file at all.
"""

from __future__ import annotations

import os
import time
import weakref
from typing import Protocol

WAIT = 5.0
"""How long a fork waits for units of work, in seconds."""


class Forked(Protocol):
    """What has connections that no fork may copy."""

    def hold_for_fork(self, deadline: float) -> None:
        """Close connections and let no unit of work begin; wait until then, of ``time.monotonic()``."""

    def go_on_after_fork(self) -> None:
        """In the parent: let units of work begin again."""

    def begin_anew(self) -> None:
        """In the child: begin with connections of its own, or refuse every use."""


_watched: dict[int, weakref.ref[Forked]] = {}


def watch(forked: Forked) -> None:
    """Tell an object of every fork of this process, as long as it lives."""
    key = id(forked)
    _watched[key] = weakref.ref(forked, lambda _: _watched.pop(key, None))


def _before() -> None:
    deadline = time.monotonic() + WAIT
    for forked in _all():
        forked.hold_for_fork(deadline)


def _after_in_parent() -> None:
    for forked in _all():
        forked.go_on_after_fork()


def _after_in_child() -> None:
    for forked in _all():
        forked.begin_anew()


def _all() -> list[Forked]:
    found = [reference() for reference in list(_watched.values())]
    return [forked for forked in found if forked is not None]


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
