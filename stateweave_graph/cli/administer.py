"""Commands for operators."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from stateweave_graph.cli.options import AgentId, Database, Json, opened


def delete(
    agent: AgentId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Delete an agent and its whole history; asks first.

    Example: stateweave-graph delete support-bot
    """
    from stateweave_graph.cli.output import print_json, say, visible

    with opened(db) as repository:
        head = repository.head(agent)
        if not yes:
            if not sys.stdin.isatty():
                raise typer.BadParameter("nobody can be asked here; say it with --yes", param_hint="delete")
            typer.confirm(
                f"Delete {visible(agent)} with {head.revision} revisions and {head.node_count} nodes?",
                abort=True,
            )
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
    """Show the version of a store's schema; print the schema, or make it.

    Example: stateweave-graph schema --apply
    """
    from stateweave_graph.cli.output import print_json, say, visible

    with opened(db, make=show or apply) as repository:
        store = repository.store
        if show:
            typer.echo(store.schema_text())
            return
        if apply:
            store.apply_schema()
        version = store.schema_version()
        if as_json:
            print_json({"store": store.name, "schema": version})
        else:
            say(
                f"{visible(store.name)}: schema {version}"
                if version
                else f"{visible(store.name)}: no schema yet"
            )
