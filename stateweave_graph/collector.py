"""Python's garbage collector, kept out of the way while many objects are made that all stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Let no collection begin in this block: it would walk all that was made so far, again and again.

    Objects that refer to nothing in a circle go as always. The collector is one for all threads; where two
    blocks overlap, it runs again when the first of them is left, which costs time and nothing else.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
