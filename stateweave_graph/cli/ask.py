"""Commands that ask questions."""

from __future__ import annotations

import csv
import io
import json
from typing import Annotated

import typer

from stateweave_graph.cli import files
from stateweave_graph.cli.options import Database, Json, opened


def cypher(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="One Cypher statement that reads; - for standard input.")
    ],
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--param", "-p", metavar="NAME=VALUE", help="A parameter; its value is JSON, else a text."
        ),
    ] = None,
    max_rows: Annotated[int, typer.Option(metavar="N", help="The most rows.", min=1)] = 10_000,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="The most seconds.")] = 30.0,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Ask a question in Cypher.

    Only reading is allowed.

    Example: stateweave-graph cypher "MATCH (s:AgentState) RETURN s.agentId AS agent, s.revision AS revision"
    """
    from stateweave_graph.cli.output import line, print_json, print_table

    asked = _standard_input() if text == files.STANDARD else text
    with opened(db) as repository:
        found = repository.cypher(
            asked, parameters=dict(map(_parameter, parameters or [])), max_rows=max_rows, timeout=timeout
        )
    if as_json:
        print_json(found.rows)
    elif as_csv:
        printed = io.StringIO()
        writer = csv.writer(printed, lineterminator="\n")
        writer.writerow(found.columns)
        writer.writerows([_cell(value) for value in row.values()] for row in found)
        files.print_out(printed.getvalue())
    else:
        rows = [[line("" if value is None else value) for value in row.values()] for row in found]
        print_table(found.columns, rows, fold=found.columns)


def _standard_input() -> str:
    from stateweave_graph.jsontext import JsonTextError, decode

    try:
        return decode(files.read(files.STANDARD))
    except JsonTextError as error:
        raise typer.BadParameter(f"standard input is {error}", param_hint="TEXT") from None


def _parameter(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"{text!r} must be NAME=VALUE", param_hint="--param")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value
