"""Commands for operators."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from stateweave_graph.cli.arguments import AgentId
from stateweave_graph.cli.options import Database, Json, opened


def delete(
    agent: AgentId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Delete an agent and its whole history; asks first.

    Example: stateweave-graph delete support-bot
    """
    from stateweave_graph.cli.output import counted, hint, print_json, say, visible

    with opened(db) as repository:
        head = repository.head(agent)
        whole = f"{counted(head.revision, 'revision')} and {counted(head.node_count, 'node')}"
        if not yes and not _agreed(f"Delete {visible(agent)} with {whole}?", agent, db):
            hint("nothing was deleted")
            return
        repository.delete(agent)
    if as_json:
        print_json({"deleted": agent, "history": head.history})
    else:
        say(f"{visible(agent)}: deleted")


def schema(
    show: Annotated[bool, typer.Option("--print", help="Print the statements that make it.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Make it, or bring it up to date.")] = False,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Show the version of a store's schema.

    The version of this package is shown beside it. The schema can be printed, too, or made.

    Example: stateweave-graph schema --apply
    """
    from stateweave_graph.cli.files import print_out
    from stateweave_graph.cli.output import print_json, say, visible
    from stateweave_graph.version import __version__

    if show and apply:
        raise typer.BadParameter("give one of --print and --apply", param_hint="schema")
    with opened(db, make=show or apply) as repository:
        store = repository.store
        if show:
            text = store.schema_text()
            if as_json:
                print_json({"package": __version__, "text": text})
            else:
                print_out(f"{text.rstrip()}\n")
            return
        if apply:
            store.apply_schema()
        version = store.schema_version()
    if as_json:
        print_json({"store": store.name, "schema": version, "package": __version__})
    else:
        found = f"schema {version}" if version else "no schema yet"
        say(f"stateweave_graph {__version__}")
        say(f"{visible(store.name)}: {found}")


def _agreed(question: str, agent: str, db: str | None) -> bool:
    """Whether the person at the terminal says yes."""
    if not sys.stdin.isatty():
        store = [] if db is None else ["--db", db]
        command = shlex.join(["stateweave-graph", "delete", agent, "--yes", *store])
        raise typer.BadParameter(f"nobody can be asked here; type: {command}", param_hint="delete")
    sys.stderr.write(f"{question} [y/N]: ")  # no part of what the command prints
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
