"""What the command prints: tables for people, or one JSON document."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stateweave_graph.errors import StateWeaveGraphError
from stateweave_graph.jsontext import dumps, escape_surrogates

_LEAST_WIDTH = 10
"""What a column that is broken over lines keeps on a narrow terminal."""


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
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def line(value: Any, width: int = 60) -> str:
    """Any JSON value as one line of at most this many characters."""
    text = value if isinstance(value, str) else dumps(value)
    text = " ".join(text[: width * 8].split())
    return visible(text if len(text) <= width else text[: width - 1] + "…")


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    text = escape_surrogates(json.dumps(value, ensure_ascii=False, indent=2))
    sys.stdout.buffer.write(f"{text}\n".encode())
    sys.stdout.buffer.flush()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, fold: Sequence[str] = ()) -> None:
    """A table for people.

    Args:
        columns: the headings.
        rows: a value for each column.
        fold: columns that are broken over lines where they don't fit; the others are cut.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        whole = column in fold
        table.add_column(
            column,
            overflow="fold" if whole else "ellipsis",
            no_wrap=not whole,
            min_width=_LEAST_WIDTH if whole else None,
        )
    for row in rows:
        table.add_row(*(Text(visible(str(value))) for value in row))
    printer = console()
    with printer.capture() as printed:
        printer.print(table)
    for row_text in printed.get().splitlines():
        sys.stdout.write(f"{row_text.rstrip()}\n")


def when(text: str) -> str:
    """A time as tables show it, to the second."""
    return text[:19].replace("T", " ") if text[10:11] == "T" else text


def say(text: str) -> None:
    """A line for people on standard output."""
    console().print(Text(text), soft_wrap=True)


def report(error: StateWeaveGraphError, as_json: bool) -> None:
    """An error on standard error, for people or as JSON."""
    message = "\n".join(map(visible, str(error).splitlines()))
    if as_json:
        text = json.dumps({"error": {"type": type(error).__name__, "message": message}})
        sys.stderr.write(f"{text}\n")
    else:
        console(errors=True).print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)
