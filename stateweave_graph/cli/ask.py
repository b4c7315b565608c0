"""Commands that ask questions."""

from __future__ import annotations

import csv
import io
import json
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stateweave_graph.cli import files
from stateweave_graph.cli.arguments import AgentId
from stateweave_graph.cli.complete import complete_agent, complete_kind, complete_query
from stateweave_graph.cli.options import Database, Json, opened
from stateweave_graph.formats import format_for_file

if TYPE_CHECKING:
    from rich.text import Text

    from stateweave_graph.results import Found, QueryResult

Folder = Annotated[
    str | None,
    typer.Option("--folder", metavar="FOLDER", help="A folder of queries of your own, looked at first."),
]


class Format(str, Enum):
    """How rows are given out."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


def search(
    agent: AgentId,
    words: Annotated[
        list[str],
        typer.Argument(metavar="WORD…", help="What every node found must hold.", show_default=False),
    ],
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="Only nodes of this kind; may be repeated.",
            autocompletion=complete_kind,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="The most nodes.", min=1)] = 20,
    before: Annotated[
        int | None,
        typer.Option(metavar="SEQUENCE", help="Only nodes before this one, for the next page.", min=1),
    ] = None,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Find the nodes whose texts hold all the words.

    Newest first. Case does not matter, and a word is found within others too.

    Example: stateweave-graph search support-bot parcel --kind goal
    """
    from stateweave_graph.cli.output import counted, hint, print_json, print_table, visible

    with opened(db) as repository:
        found = repository.search(agent, " ".join(words), kinds=kinds, before=before, limit=limit)
    if as_json:
        print_json([node.model_dump() for node in found])
        return
    if not found:
        hint(f"no node of {visible(agent)} holds {visible(' and '.join(words))}")
        return
    rows = [(node.sequence, node.turn, node.kind, node.id, _marked(node)) for node in found]
    print_table(["sequence", "turn", "kind", "node", "text"], rows, fold=["node", "text"])
    if len(found) == limit:
        hint(f"{counted(limit, 'node')}; there may be more: --limit N, or --before {found[-1].sequence}")


def _marked(node: Found) -> Text:
    """A snippet in which what was found stands out."""
    from rich.text import Text

    from stateweave_graph.cli.output import visible

    ends = [0, *(place for mark in node.marks for place in mark), len(node.snippet)]
    pieces = [visible(node.snippet[start:end]) for start, end in pairwise(ends)]
    return Text.assemble(*((piece, "bold red" if place % 2 else "") for place, piece in enumerate(pieces)))


def queries(folder: Folder = None, as_json: Json = False) -> None:
    """List the named queries.

    Example: stateweave-graph queries
    """
    from stateweave_graph.cli.output import print_json, print_table
    from stateweave_graph.queries import named_queries

    found = named_queries(folder).values()
    if as_json:
        print_json(
            [
                {
                    "name": query.name,
                    "question": query.question,
                    "parameters": list(query.parameters),
                    "columns": list(query.columns),
                    "example": query.example,
                }
                for query in found
            ]
        )
    else:
        rows = [(query.name, ", ".join(query.parameters), query.question) for query in found]
        print_table(["query", "parameters", "question"], rows, fold=["question"])


def query(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A query's name.", show_default=False, autocompletion=complete_query
        ),
    ],
    agent: Annotated[
        str | None,
        typer.Option(metavar="AGENT", help="The agent it is about.", autocompletion=complete_agent),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--param", "-p", metavar="NAME=VALUE", help="A parameter; its value is JSON, else a text."
        ),
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="How the rows are given out; without it, what the file's ending says, else table.",
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to; - for standard output.")
    ] = files.STANDARD,
    folder: Folder = None,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Run a named query.

    Example: stateweave-graph query tool-usage --agent support-bot
    """
    given: dict[str, Any] = dict(map(_parameter, parameters or []))
    chosen = _format_for(Format.JSON if as_json else form, output)
    with opened(db) as repository:
        found = repository.query(name, agent=agent, folder=folder, **given)
    _give_out(found, chosen, output)


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
    asked = _standard_input() if text == files.STANDARD else text
    with opened(db) as repository:
        found = repository.cypher(
            asked, parameters=dict(map(_parameter, parameters or [])), max_rows=max_rows, timeout=timeout
        )
    form = Format.CSV if as_csv else Format.TABLE
    _give_out(found, Format.JSON if as_json else form, files.STANDARD)


def _format_for(form: Format | None, output: str) -> Format:
    """The form of rows in a file; for standard output a table unless another is given."""
    if output == files.STANDARD:
        return form or Format.TABLE
    endings = {"table": (), "json": (".json",), "csv": (".csv",), "parquet": (".parquet",)}
    return Format(format_for_file(None if form is None else form.value, output, endings))


def _give_out(found: QueryResult, form: Format, output: str) -> None:
    """Rows in a form, to a file or to standard output."""
    from stateweave_graph.cli.output import json_document, line, print_table

    if form is Format.JSON:
        files.write(output, json_document(found.rows))
    elif form is Format.CSV:
        printed = io.StringIO()
        writer = csv.writer(printed, lineterminator="\n")
        writer.writerow(found.columns)
        writer.writerows([_cell(value) for value in row.values()] for row in found)
        files.write(output, printed.getvalue().encode())
    elif form is Format.PARQUET:
        files.write(output, _parquet(found))
    elif output != files.STANDARD:
        raise typer.BadParameter(
            "a table is for looking at; say --format json, csv or parquet", param_hint="-o"
        )
    else:
        rows = [[line("" if value is None else value) for value in row.values()] for row in found]
        print_table(found.columns, rows, fold=found.columns)


def _parquet(found: QueryResult) -> bytes:
    table = found.to_arrow()
    import pyarrow.parquet as pq

    written = io.BytesIO()
    pq.write_table(table, written)
    return written.getvalue()


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
