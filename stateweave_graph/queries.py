"""Named queries: one Cypher text a file, with a header that says what it asks.

The header is comments: ``// question:``, ``// parameters:`` (names, or none), ``// columns:``,
``// example:``, and ``// sorted by:`` where the text can't order its rows itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stateweave_graph.cyphertext import cypher_folder
from stateweave_graph.errors import QueryError

_HEADER = re.compile(r"^// ([a-z ]+): (.*)$", re.MULTILINE)
_NEEDED = ("question", "parameters", "columns", "example")


@dataclass(frozen=True)
class NamedQuery:
    """A query of a folder.

    Attributes:
        name: the name of its file without the ending.
        question: what it asks.
        parameters: the names of its parameters.
        columns: the names of its columns, in order.
        example: a command that runs it.
        text: the Cypher.
        sorted_by: columns to sort the rows by; empty where the text orders them.
    """

    name: str
    question: str
    parameters: tuple[str, ...]
    columns: tuple[str, ...]
    example: str
    text: str
    sorted_by: tuple[str, ...] = ()

    def check(self, given: Mapping[str, Any]) -> None:
        """Check that the parameters given are those it has.

        Raises:
            QueryError: one is missing, or one too many.
        """
        missing = [name for name in self.parameters if name not in given]
        unknown = [name for name in given if name not in self.parameters]
        if missing or unknown:
            takes = ", ".join(self.parameters) or "none"
            wrong = ", ".join(
                [*(f"{name} is missing" for name in missing), *(f"{name} is not one" for name in unknown)]
            )
            raise QueryError(f"query {self.name!r} takes the parameters {takes}: {wrong}")

    def sort(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Rows in order, where the text does not order them."""
        if not self.sorted_by:
            return rows
        return sorted(rows, key=lambda row: [(row[name] is not None, row[name]) for name in self.sorted_by])


def named_queries(folder: str | os.PathLike[str] | None = None) -> dict[str, NamedQuery]:
    """The queries that come with the package and those of a folder, by name; the folder's come first.

    Raises:
        QueryError: the folder is none, or a file in it has no whole header.
    """
    found = {query.name: query for query in _of_folder(cypher_folder() / "queries")}
    if folder is not None:
        if not Path(folder).is_dir():
            raise QueryError(f"there is no folder {os.fspath(folder)!r} of queries")
        found.update((query.name, query) for query in _of_folder(Path(folder)))
    return dict(sorted(found.items()))


def named_query(name: str, folder: str | os.PathLike[str] | None = None) -> NamedQuery:
    """The query of a name.

    Raises:
        QueryError: there is none; the message has those that are there.
    """
    queries = named_queries(folder)
    if name not in queries:
        raise QueryError(f"there is no query {name!r}; there are {', '.join(queries)}")
    return queries[name]


def _of_folder(folder: Path) -> Iterable[NamedQuery]:
    for path in sorted(folder.glob("*.cypher")):
        text = path.read_text(encoding="utf-8")
        header = dict(_HEADER.findall(text))
        missing = [name for name in _NEEDED if name not in header]
        if missing:
            raise QueryError(
                f"{path}: the header lacks {', '.join(missing)}; see cypher/queries for the form"
            )
        yield NamedQuery(
            name=path.stem,
            question=header["question"],
            parameters=() if header["parameters"] == "none" else _names(header["parameters"]),
            columns=_names(header["columns"]),
            example=header["example"],
            text=text,
            sorted_by=_names(header["sorted by"]) if "sorted by" in header else (),
        )


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(","))
