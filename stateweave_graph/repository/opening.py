"""From a URI to a repository."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from stateweave_graph.errors import InvalidRequestError
from stateweave_graph.repository.repository import Repository
from stateweave_graph.stores.base import GraphStore

_SERVERS = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})

_URI = re.compile(r"([a-z][a-z0-9+.-]+)://(.*)", re.IGNORECASE | re.DOTALL)


def open_repository(
    uri: str | os.PathLike[str],
    *,
    user: str | None = None,
    password: str | None = None,
    database: str | None = None,
    bookmarks: Iterable[str] = (),
    timeout: float = 30.0,
) -> Repository:
    """Open the repository at a path or URI; nothing is connected or made before it is used.

    Args:
        uri: the path of a SQLite file, ``":memory:"``, ``sqlite:///relative/path`` or
            ``sqlite:////absolute/path``; or a Neo4j server, ``bolt://`` or ``neo4j://``, with ``+s`` or
            ``+ssc`` for TLS.
        user: the user on the server.
        password: the password.
        database: the database on the server; None for the user's home database.
        bookmarks: what another worker's ``bookmarks()`` gave, to read what it wrote.
        timeout: how long a commit waits for other writers, or for a server that is away, in seconds.

    Raises:
        InvalidRequestError: the URI has another scheme, or names no file; it holds a password; or a file is
            given what only a server takes.
    """
    return Repository(open_store(uri, user, password, database, bookmarks, timeout))


def is_server(uri: str | os.PathLike[str]) -> bool:
    """Whether a URI is that of a server."""
    match = _URI.fullmatch(uri) if isinstance(uri, str) else None
    return match is not None and match[1].lower() in _SERVERS


def open_store(
    uri: str | os.PathLike[str],
    user: str | None,
    password: str | None,
    database: str | None,
    bookmarks: Iterable[str],
    timeout: float,
) -> GraphStore:
    """The store that a URI means (see ``open_repository``)."""
    path = os.fspath(uri) if isinstance(uri, (str, os.PathLike)) else uri
    if not isinstance(path, str):
        raise InvalidRequestError(
            f"the path or URI of a store must be a string or a pathlib.Path, not {type(path).__name__}"
        )
    match = _URI.fullmatch(path) if isinstance(uri, str) else None
    if is_server(uri):
        if "@" in path:
            raise InvalidRequestError("a URI is shown in messages; give user and password apart from it")
        try:
            _ = urlsplit(path).port
        except ValueError as error:
            raise InvalidRequestError(f"{path!r} is no URI of a server: {error}") from None
        from stateweave_graph.stores.neo4j import Neo4jStore  # the driver is imported where it is used

        return Neo4jStore(
            path, user=user, password=password, database=database, bookmarks=bookmarks, timeout=timeout
        )
    if match is not None:
        if match[1].lower() != "sqlite" or not match[2].startswith("/"):
            raise InvalidRequestError(
                f"no store has a URI like {path!r}; give the path of a SQLite file, ':memory:', "
                "sqlite:///path, or the bolt:// or neo4j:// URI of a server"
            )
        path = match[2][1:]
    if not path or "\0" in path:
        raise InvalidRequestError("the URI names no file; give the path of a SQLite file, or ':memory:'")
    if user is not None or password is not None or database is not None:
        raise InvalidRequestError(f"{path!r} is a file; user, password and database are for a server")
    from stateweave_graph.stores.sqlite import SqliteStore  # and so is SQLite

    return SqliteStore(path, timeout)
