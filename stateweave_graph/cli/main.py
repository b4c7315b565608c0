"""The entry point: commands run, and errors turned into one line and an exit code."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

from stateweave_graph.cli.exits import INTERRUPTED, exit_code
from stateweave_graph.errors import StateWeaveGraphError


def main() -> None:
    """Run the command ``stateweave-graph``."""
    for stream in (sys.stdout, sys.stderr):
        _show_anything(stream)
    from stateweave_graph.cli.app import app

    try:
        app()
    except StateWeaveGraphError as error:
        from stateweave_graph.cli.output import report

        report(error, as_json="--json" in sys.argv[1:])
        sys.exit(exit_code(error))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read us has seen enough; what Python would still flush has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _show_anything(stream: object) -> None:
    """Let a stream write what its encoding lacks as an escape."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
