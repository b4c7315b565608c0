"""A bar on standard error for what takes longer than a second."""

from __future__ import annotations

import threading
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from typing_extensions import Self

from stateweave_graph.cli.output import console, visible

_PATIENCE = 1.0


class Working:
    """Shows that something is being done, once it has taken a second; on a terminal only."""

    def __init__(self, what: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console(errors=True),
            transient=True,
        )
        self._task = self._progress.add_task(visible(what), total=None)
        self._guard = threading.Lock()
        self._over = False
        self._timer = threading.Timer(_PATIENCE, self._appear)
        self._timer.daemon = True

    def report(self, done: int, total: int) -> None:
        """Say how much is done."""
        self._progress.update(self._task, completed=done, total=total)

    def __enter__(self) -> Self:
        if self._progress.console.is_terminal:
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._guard:
            self._over = True
            if self._progress.live.is_started:
                self._progress.stop()

    def _appear(self) -> None:
        with self._guard:  # the work may be over between the timer's end and here
            if not self._over:
                self._progress.start()
