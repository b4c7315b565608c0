"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from stateweave_graph.cli import administer, ask, exchange, history, look, tour
from stateweave_graph.cli.exits import MEANINGS
from stateweave_graph.cli.files import print_out
from stateweave_graph.version import __version__

NAME = "stateweave-graph"

_EXITS = "Exit codes: " + ", ".join(f"{code} {meaning}" for code, meaning in MEANINGS.items()) + "."

app = typer.Typer(
    name=NAME,
    help="Keep, look at and move the histories of StateWeave agents.",
    epilog=_EXITS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("import")(exchange.import_files)
app.command("export")(exchange.export)
app.command("validate")(exchange.validate)
app.command("agents")(look.agents)
app.command("log")(history.log)
app.command("show")(history.show)
app.command("lineage")(look.lineage)
app.command("memory")(look.memory)
app.command("view")(look.view)
app.command("search")(ask.search)
app.command("queries")(ask.queries)
app.command("query")(ask.query)
app.command("cypher")(ask.cypher)
app.command("copy")(exchange.copy)
app.command("delete")(administer.delete)
app.command("schema")(administer.schema)
app.command("demo")(tour.demo)


def _print_version(asked: bool) -> None:
    if asked:
        print_out(f"{__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    pass
