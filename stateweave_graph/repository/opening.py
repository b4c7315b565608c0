"""From a URI to a repository."""

from __future__ import annotations

import os
import re

from stateweave_graph.errors import InvalidRequestError
from stateweave_graph.repository.repository import Repository
from stateweave_graph.stores.sqlite import SqliteStore

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://(.*)", re.IGNORECASE | re.DOTALL)


def open_repository(uri: str | os.PathLike[str], *, timeout: float = 30.0) -> Repository:
    """Open the repository at a path or URI; a file that is not there is made by the first commit.

    Args:
        uri: the path of a SQLite file, ``":memory:"``, ``sqlite:///relative/path`` or
            ``sqlite:////absolute/path``.
        timeout: how long a commit waits for other writers, in seconds.

    Raises:
        InvalidRequestError: the URI has another scheme, or names no file.
    """
    path = os.fspath(uri)
    match = _SCHEME.fullmatch(path) if isinstance(uri, str) else None
    if match is not None:
        scheme, rest = match.groups()
        if scheme.lower() != "sqlite" or not rest.startswith("/"):
            raise InvalidRequestError(
                f"no store has a URI like {path!r}; give the path of a SQLite file, ':memory:', "
                "or sqlite:///path"
            )
        path = rest[1:]
    if not path or "\0" in path:
        raise InvalidRequestError("the URI names no file; give the path of a SQLite file, or ':memory:'")
    return Repository(SqliteStore(path, timeout))
