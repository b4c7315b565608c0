"""Packages that are imported when they are first needed, because start-up would wait for them."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

_imported: dict[str, Any] = {}


def late_import(name: str) -> Any:
    """A module, imported where no signal handler can interrupt the import.

    Handlers run in the main thread. An exception that one raises inside an import leaves a package of many
    modules, such as networkx, half imported, and every later import of it fails; in a thread of its own the
    import is finished while the exception reaches the caller.

    Raises:
        ImportError: It is not installed.
    """
    if name not in _imported:
        if threading.current_thread() is threading.main_thread():
            _import_in_thread(name)
        else:
            _imported[name] = import_module(name)
    return _imported[name]


def _import_in_thread(name: str) -> None:
    failures: list[ImportError] = []

    def load() -> None:
        try:
            _imported[name] = import_module(name)
        except ImportError as error:
            failures.append(error)

    thread = threading.Thread(target=load, name=f"import {name}", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the interpreter ends: handlers of atexit may import, and start no thread
        load()
    else:
        thread.join()
    if failures:
        raise failures[0]
