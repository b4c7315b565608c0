"""Options that commands share, and the store that they mean."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from stateweave_graph.repository.repository import Repository

DATABASE_VARIABLE = "STATEWEAVE_GRAPH_DB"
DEFAULT_DATABASE = "./stateweave.db"

Database = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URI",
        help=f"The store: a SQLite file. Without it, ${DATABASE_VARIABLE}, else {DEFAULT_DATABASE}.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
AgentId = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's id.", show_default=False)]


def database(uri: str | None) -> str:
    """The store that is meant: as given, else of the environment, else the default."""
    return uri or os.environ.get(DATABASE_VARIABLE) or DEFAULT_DATABASE


def opened(uri: str | None, *, make: bool = False) -> Repository:
    """The repository that is meant.

    Args:
        uri: as given on the command line.
        make: whether a file that is not there may be made.

    Raises:
        NotFoundError: there is no such file, and this command makes none.
    """
    from stateweave_graph.errors import NotFoundError
    from stateweave_graph.repository.opening import open_repository
    from stateweave_graph.stores.sqlite import SqliteStore

    repository = open_repository(database(uri))
    store = repository.store
    if isinstance(store, SqliteStore) and not make and not Path(store.name).exists():
        raise NotFoundError(
            f"there is no database {store.name!r}; import something first, or say --db where it is"
        )
    return repository
