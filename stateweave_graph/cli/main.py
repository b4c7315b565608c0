"""The entry point: commands run, and errors turned into one line and an exit code."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Any

import typer

from stateweave_graph.cli.exits import DONE, INTERRUPTED, USAGE, exit_code
from stateweave_graph.errors import StateWeaveGraphError

_UsageError: Any = typer.BadParameter.__bases__[0]  # typer gives it no public name


def main() -> None:
    """Run the command ``stateweave-graph``."""
    for stream in (sys.stdout, sys.stderr):
        _show_anything(stream)
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    as_json = "--json" in arguments  # looked for here, since the command line may be what is wrong
    try:
        from stateweave_graph.cli.app import NAME, app

        return app(arguments, prog_name=NAME, standalone_mode=False) or DONE
    except StateWeaveGraphError as error:
        from stateweave_graph.cli.output import report

        report(error, as_json=as_json)
        return exit_code(error)
    except _UsageError as error:
        if as_json:
            from stateweave_graph.cli.output import report_json

            report_json("UsageError", error.format_message())
        else:
            error.show()
        return USAGE
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED


def _show_anything(stream: object) -> None:
    """Let a stream write what its encoding lacks as an escape."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
