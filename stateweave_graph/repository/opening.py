"""From a URI to a repository."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from stateweave_graph.errors import InvalidRequestError
from stateweave_graph.repository.filenames import file_of
from stateweave_graph.repository.repository import Repository
from stateweave_graph.stores.base import GraphStore

_SERVERS = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})

_ROUTING_PARAMETERS = frozenset({"policy", "region"})

_DATABASE_NAME = re.compile(r"[^\W_][\w.-]*")

_POOL_SIZE = 100
"""The most connections to a server; the driver's own default."""

_URI = re.compile(r"([a-z][a-z0-9+.-]+)://(.*)", re.IGNORECASE | re.DOTALL)


def open_repository(
    uri: str | os.PathLike[str],
    *,
    user: str | None = None,
    password: str | None = None,
    token: str | None = None,
    database: str | None = None,
    bookmarks: Iterable[str] = (),
    timeout: float = 30.0,
    max_connection_pool_size: int | None = None,
) -> Repository:
    """Open the repository at a path or URI; nothing is connected or made before it is used.

    Args:
        uri: the path of a SQLite file, ``":memory:"``, ``sqlite:///relative/path`` or
            ``sqlite:////absolute/path``; or a Neo4j server, ``bolt://`` or ``neo4j://``, with ``+s`` or
            ``+ssc`` for TLS. It may name the database, as ``neo4j://host/orders`` or ``?database=orders``,
            and with ``neo4j://`` a routing context of the cluster, ``?policy=…`` or ``?region=…``.
        user: the user on the server.
        password: the password.
        token: a bearer token of single sign-on, in place of user and password.
        database: the database on the server; None for the user's home database.
        bookmarks: what another worker's ``bookmarks()`` gave, to read what it wrote.
        timeout: the most seconds of one transaction, with its waiting for other writers and the server. A
            call that needs several, as an import of a large history, may take that for each.
        max_connection_pool_size: the most connections to a server; 100 if not given.

    Raises:
        InvalidRequestError: the URI has another scheme, or names no file; it holds a password, another
            database than ``database``, or a parameter that is not known; or a file is given what only a
            server takes.
    """
    options = ServerOptions(user, password, token, database, max_connection_pool_size)
    return Repository(open_store(uri, options, bookmarks, timeout))


def is_server(uri: str | os.PathLike[str]) -> bool:
    """Whether a URI is that of a server."""
    match = _URI.fullmatch(uri) if isinstance(uri, str) else None
    return match is not None and match[1].lower() in _SERVERS


class ServerOptions(NamedTuple):
    """What only a server takes (see ``open_repository``)."""

    user: str | None = None
    password: str | None = None
    token: str | None = None
    database: str | None = None
    max_connection_pool_size: int | None = None


def open_store(
    uri: str | os.PathLike[str], options: ServerOptions, bookmarks: Iterable[str], timeout: float
) -> GraphStore:
    """The store that a URI means (see ``open_repository``)."""
    path = os.fspath(uri) if isinstance(uri, (str, os.PathLike)) else uri
    if not isinstance(path, str):
        raise InvalidRequestError(
            f"the path or URI of a store must be a string or a pathlib.Path, not {type(path).__name__}"
        )
    if not _is_positive(timeout):
        raise InvalidRequestError(f"timeout {timeout!r} must be a number of seconds above 0")
    if is_server(uri):
        return _open_server(path, options, bookmarks, timeout)
    if isinstance(uri, str):
        path = file_of(uri)
    if not path or "\0" in path:
        raise InvalidRequestError("the URI names no file; give the path of a SQLite file, or ':memory:'")
    if any(option is not None for option in options):
        raise InvalidRequestError(f"{path!r} is a file; {', '.join(ServerOptions._fields)} are for a server")
    from stateweave_graph.stores.sqlite import SqliteStore  # and so is SQLite

    return SqliteStore(path, timeout)


def _open_server(uri: str, options: ServerOptions, bookmarks: Iterable[str], timeout: float) -> GraphStore:
    from stateweave_graph.stores.neo4j import Neo4jStore  # the driver is imported where it is used

    size = options.max_connection_pool_size
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        raise InvalidRequestError(f"max_connection_pool_size {size!r} must be a number of at least 1")
    bare, database = _server_and_database(uri, options.database)
    return Neo4jStore(
        bare,
        user=options.user,
        password=options.password,
        token=options.token,
        database=database,
        bookmarks=bookmarks,
        timeout=timeout,
        max_connection_pool_size=_POOL_SIZE if size is None else size,
    )


def _is_positive(seconds: Any) -> bool:
    return isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and 0 < seconds < math.inf


def _server_and_database(uri: str, database: str | None) -> tuple[str, str | None]:
    """The URI that the driver takes, and the database that is named beside it or in it.

    >>> _server_and_database("neo4j://host:7687/orders?policy=eu", None)
    ('neo4j://host:7687?policy=eu', 'orders')

    Raises:
        InvalidRequestError: it holds a password, names two databases, or has a parameter that is not known.
    """
    if "@" in uri:
        raise InvalidRequestError(
            "a URI is shown in messages, so it can't hold a user or a password; give them apart from it, as "
            "user= and password=, on the command line in NEO4J_USERNAME and NEO4J_PASSWORD"
        )
    try:
        parts = urlsplit(uri)
        _ = parts.port
        parameters = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError as error:
        raise InvalidRequestError(f"{uri!r} is not the URI of a server: {error}") from None
    if not parts.hostname:
        raise InvalidRequestError(f"{uri!r} does not name a host; write it as neo4j://host:7687")
    if parts.fragment:
        raise InvalidRequestError(f"{uri!r}: '#{parts.fragment}' means nothing here")
    scheme = parts.scheme.lower()
    context = _ROUTING_PARAMETERS if scheme.startswith("neo4j") else frozenset()
    unknown = sorted({name for name, _ in parameters} - context - {"database"})
    if unknown:
        raise InvalidRequestError(
            f"{uri!r}: the parameter {unknown[0]!r} is not known; a URI takes 'database', and with neo4j:// "
            "the routing context 'policy' and 'region'; everything else is an argument of open_repository"
        )
    routing = [(name, value) for name, value in parameters if name != "database"]
    if len(dict(routing)) < len(routing):
        raise InvalidRequestError(f"{uri!r} gives a parameter twice")
    named = [value for name, value in parameters if name == "database"]
    if parts.path not in ("", "/"):
        named.append(unquote(parts.path[1:]))
    if database is not None:
        named.append(database)
    if len(set(named)) > 1:
        names = " and ".join(map(repr, dict.fromkeys(named)))
        raise InvalidRequestError(
            f"{uri!r}: two databases are named, {names}; name one, in the URI or as database= "
            "(NEO4J_DATABASE for the command line)"
        )
    if named and not _DATABASE_NAME.fullmatch(named[0]):
        raise InvalidRequestError(f"{named[0]!r} is not the name of a database")
    query = f"?{urlencode(routing)}" if routing else ""
    return f"{scheme}://{parts.netloc}{query}", (named[0] if named else None)
