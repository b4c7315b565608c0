"""Options that commands share, and the store that they mean."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

if TYPE_CHECKING:
    from stateweave_graph.repository.repository import Repository

DATABASE_VARIABLE = "STATEWEAVE_GRAPH_DB"
DEFAULT_DATABASE = "./stateweave.db"

_OPTIONS = ("USERNAME", "PASSWORD", "TOKEN", "DATABASE")

Database = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URI",
        help=f"The store: a SQLite file, or the URI of a Neo4j server. Without it, ${DATABASE_VARIABLE}, "
        f"else $NEO4J_URI, else {DEFAULT_DATABASE}.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def database(uri: str | None) -> str:
    """The store that is meant: as given, else of the environment, else the default."""
    if uri is not None:
        return uri
    return os.environ.get(DATABASE_VARIABLE) or os.environ.get("NEO4J_URI") or DEFAULT_DATABASE


def opened(uri: str | None, *, make: bool = False, side: str = "", timeout: float = 30.0) -> Repository:
    """The repository that is meant; user, password and database of a server come from the environment.

    Args:
        uri: as given on the command line.
        make: whether a file that is not there may be made.
        side: ``FROM`` or ``TO`` where two are meant: then ``NEO4J_FROM_PASSWORD`` comes before
            ``NEO4J_PASSWORD``, and so on.
        timeout: how long a server or other writers are waited for, in seconds.

    Raises:
        NotFoundError: there is no such file, and this command makes none.
    """
    from stateweave_graph.errors import NotFoundError
    from stateweave_graph.repository.opening import is_server, open_repository
    from stateweave_graph.stores.sqlite import SqliteStore

    where = database(uri)
    repository = open_repository(where, **_server_options(side, is_server(where)), timeout=timeout)
    store = repository.store
    if isinstance(store, SqliteStore) and not make and not Path(store.name).exists():
        raise NotFoundError(
            f"there is no database {store.name!r}; import something first, or say --db where it is"
        )
    return repository


class _ServerOptions(TypedDict):
    user: str | None
    password: str | None
    token: str | None
    database: str | None


def _server_options(side: str, is_server: bool) -> _ServerOptions:
    if not is_server:
        return {"user": None, "password": None, "token": None, "database": None}
    own = {name: _variable(f"NEO4J_{side}_{name}") if side else None for name in _OPTIONS}
    options = {name: own[name] or _variable(f"NEO4J_{name}") for name in _OPTIONS}
    if own["TOKEN"]:  # what one side is given replaces what both share
        options.update({"USERNAME": None, "PASSWORD": None})
    elif own["USERNAME"] or own["PASSWORD"]:
        options["TOKEN"] = None
    return {
        "user": options["USERNAME"],
        "password": options["PASSWORD"],
        "token": options["TOKEN"],
        "database": options["DATABASE"],
    }


def _variable(name: str) -> str | None:
    return os.environ.get(name) or None
