"""What the command prints: tables for people, or one JSON document."""

from __future__ import annotations

import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stateweave_graph.cli.files import print_out, write_out
from stateweave_graph.errors import StateWeaveGraphError
from stateweave_graph.jsontext import dumps, escape_surrogates

_LEAST_WIDTH = 10
"""What a column that is broken over lines keeps on a narrow terminal, where there is room."""

_ONE_PIECE = 30
"""The longest text that is kept in one piece where there is room: an id is 27 characters long."""

_GAP = 2
"""Spaces between columns."""

_JOINERS = "\u200c\u200d"
"""Invisible, harmless, and needed to write Persian and families of emoji."""

_KIND_STYLES = {
    "system": "dim",
    "goal": "bold yellow",
    "inference": "magenta",
    "semantic": "bright_blue",
    "tool_call": "cyan",
    "tool_result": "green",
    "resource": "yellow",
    "verification": "bright_green",
    "answer": "bold green",
    "protocol_error": "bold red",
}


def console(*, errors: bool = False) -> Console:
    """A console that takes texts as they are: no markup, no emoji names."""
    return Console(stderr=errors, markup=False, emoji=False, highlight=False)


def visible(text: str) -> str:
    r"""A text with what a terminal would act on, or can't show, written as an escape.

    >>> visible("\x1b[31mred")
    '\\x1b[31mred'
    """
    if text.isprintable():
        return text
    return "".join(
        character if _harmless(character) else character.encode("unicode_escape").decode()
        for character in text
    )


def line(value: Any, width: int = 60) -> str:
    """Any JSON value as one line of at most this many characters, escapes not counted."""
    text = value if isinstance(value, str) else dumps(value)
    text = " ".join(text[: width * 8].split())
    return visible(text if len(text) <= width else text[: width - 1] + "…")


def counted(count: int, name: str) -> str:
    """A number of things, in words.

    >>> counted(1, "node"), counted(2, "node")
    ('1 node', '2 nodes')
    """
    return f"{count} {name}{'' if count == 1 else 's'}"


def json_document(value: Any) -> bytes:
    """A value as one JSON document."""
    return f"{escape_surrogates(json.dumps(value, ensure_ascii=False, indent=2))}\n".encode()


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    write_out(json_document(value))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, fold: Sequence[str] = ()) -> None:
    """A table for people.

    Args:
        columns: the headings.
        rows: a value for each column; a ``Text`` is taken as it is.
        fold: columns that are broken over lines where they don't fit; the others are cut.
    """
    texts = [
        [value if isinstance(value, Text) else Text(visible(str(value))) for value in row] for row in rows
    ]
    terminal = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    longest = {
        column: max([cell_len(column), *(cell.cell_len for cell in cells)])
        for column, *cells in zip(columns, *texts, strict=True)
    }
    widths = {**longest, **_fold_widths(longest, fold, terminal.width)}
    for column in columns:
        whole = column in fold
        table.add_column(
            column,
            overflow="fold" if whole else "ellipsis",
            no_wrap=not whole,
            width=widths[column],
        )
    for row in texts:
        table.add_row(*row)
    printed = io.StringIO()
    # Rich counts a gap around the outer columns that it does not print.
    printer = Console(file=printed, width=terminal.width + _GAP, force_terminal=terminal.is_terminal)
    printer.print(table)
    print_out("".join(f"{row_text.rstrip()}\n" for row_text in printed.getvalue().splitlines()))


def print_text(text: Text) -> None:
    """A line, in colours where the terminal has them."""
    terminal = console()
    if terminal.is_terminal:
        printed = io.StringIO()
        styled = Console(file=printed, width=terminal.width, force_terminal=True)
        styled.print(text, soft_wrap=True)
        print_out(printed.getvalue())
    else:
        print_out(f"{text.plain.rstrip()}\n")


def kind_style(kind: str) -> str:
    """The colour of a kind of node."""
    return _KIND_STYLES.get(kind, "")


def json_line(value: Any) -> None:
    """A value as one line of JSON on standard output."""
    write_out(f"{dumps(value)}\n".encode())


def when(text: str) -> str:
    """A time as tables show it, to the second."""
    return text[:19].replace("T", " ") if text[10:11] == "T" else text


def say(text: str) -> None:
    """A line for people on standard output."""
    print_out(f"{text}\n")


def hint(text: str) -> None:
    """A line for people beside the output, on standard error."""
    sys.stderr.write(f"{text}\n")


_OPTIONS = {
    "expected_revision": "--revision",
    "max_rows": "--max-rows",
    "max_bytes": "--max-bytes",
    "max_nodes": "--max-nodes",
    "max_depth": "--max-depth",
}
"""What the command line calls the parameters that messages name."""


def message_of(error: StateWeaveGraphError) -> str:
    """The message of an error, with options in place of the names of parameters in Python."""
    message = str(error).replace(" (see .violations)", "")
    for name, option in _OPTIONS.items():
        message = re.sub(rf"(?<![\w-]){re.escape(name)}(?!\w)", option, message)
    return message


def report(error: StateWeaveGraphError, *, as_json: bool) -> None:
    """An error on standard error, for people or as JSON."""
    if as_json:
        report_json(type(error).__name__, message_of(error), _details(error))
    else:
        message = "\n".join(map(visible, message_of(error).splitlines()))
        console(errors=True).print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)


def report_json(type_name: str, message: str, details: dict[str, Any] | None = None) -> None:
    """An error on standard error as JSON."""
    error = {"type": type_name, "message": message, **(details or {})}
    sys.stderr.write(f"{json.dumps({'error': error}, default=str)}\n")


def _fold_widths(longest: dict[str, int], fold: Sequence[str], room: int) -> dict[str, int]:
    """The widths of the columns that are broken over lines; ids and times stay in one piece if they can.

    Args:
        longest: the width of the longest text of each column.
        fold: those columns; the last of them has what people read.
        room: the width of the terminal.
    """
    room -= sum(width for column, width in longest.items() if column not in fold) + _GAP * (len(longest) - 1)
    share = max(1, min(_LEAST_WIDTH, room // max(1, len(fold))))
    widths = {column: min(longest[column], share) for column in fold}
    spare = max(0, room - sum(widths.values()))
    for column in fold[:-1]:
        missing = longest[column] - widths[column]
        if longest[column] <= _ONE_PIECE and missing <= spare:
            widths[column] += missing
            spare -= missing
    hungry = sorted(fold, key=lambda column: longest[column] - widths[column])
    for place, column in enumerate(hungry):
        more = min(longest[column] - widths[column], spare // (len(hungry) - place))
        widths[column] += more
        spare -= more
    return widths


def _harmless(character: str) -> bool:
    return character.isprintable() or character in _JOINERS or unicodedata.category(character) == "Zs"


def _details(error: StateWeaveGraphError) -> dict[str, Any]:
    """The declared fields of an error, as docs/command-line.md has them, as JSON values."""
    fields = {name: _field(getattr(error, name)) for name in error.FIELDS}
    return {"retryable": error.retryable, **fields}


def _field(value: Any) -> Any:
    """A field as JSON: violations as objects, and of a head, a commit or a loaded state its revision."""
    if isinstance(value, list):
        return [_field(item) for item in value]
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    if value is None or isinstance(value, (str, int, float)):
        return value
    revision = getattr(value, "revision", None)
    return str(value) if revision is None else revision
