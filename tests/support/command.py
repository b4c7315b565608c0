"""Running the command line as a user would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]


def listen_to_ctrl_c() -> None:
    """Undo that SIGINT is ignored, as it is where the tests were started in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Done(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """What it printed, which must be one JSON document."""
        return json.loads(self.out)


def run(*arguments: str, cwd: Path, stdin: bytes = b"", environment: dict[str, str] | None = None) -> Done:
    """Run ``stateweave-graph`` in a folder."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("STATEWEAVE", "NEO4J"))
    }
    done = subprocess.run(
        [sys.executable, "-m", "stateweave_graph", *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env={**clean, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1", **(environment or {})},
        timeout=120,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())
