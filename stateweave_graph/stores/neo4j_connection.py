"""Connections to a Neo4j server: which server it is, and the schema that is there."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from neo4j import exceptions

from stateweave_graph.cyphertext import schema_statements, statement
from stateweave_graph.errors import SchemaError, StoreError

if TYPE_CHECKING:
    from neo4j import Session

SCHEMA_VERSION = 1
OLDEST_SERVER = (5, 26)

_VERSION = re.compile(r"Neo4j/(\d+)\.(\d+)")
_ATTEMPTS = 20
_CREDENTIALS = re.compile(r"//[^/@]*@")


def without_credentials(uri: str) -> str:
    """A URI as it may be shown.

    >>> without_credentials("neo4j://me:secret@host:7687")
    'neo4j://host:7687'
    """
    return _CREDENTIALS.sub("//", uri)


def refuse_old_server(agent: str, name: str) -> None:
    """Refuse a server that is older than the oldest this package is tested with.

    Args:
        agent: what the server says it is, as ``Neo4j/5.26.0``.
        name: where it is.

    Raises:
        StoreError: it is too old.
    """
    match = _VERSION.match(agent)
    if match is not None and (int(match[1]), int(match[2])) < OLDEST_SERVER:
        oldest = ".".join(map(str, OLDEST_SERVER))
        raise StoreError(f"{name}: this server is {agent}; Neo4j {oldest} or newer is needed")


def schema_version(session: Session) -> tuple[int, str]:
    """The version of the schema that is there, 0 where there is none; and what the server says it is."""
    result = session.run(statement("schema_version"))
    versions = [int(record["version"]) for record in result]
    return (versions[0] if versions else 0), result.consume().server.agent


def refuse_newer_schema(version: int, name: str) -> None:
    """Refuse a schema that a newer version of this package made.

    Raises:
        SchemaError: it is newer.
    """
    if version > SCHEMA_VERSION:
        raise SchemaError(
            f"{name}: the schema is version {version}, and this package knows versions up to "
            f"{SCHEMA_VERSION}; nothing was touched. Upgrade stateweave-graph"
        )


def make_schema(session: Session, name: str, going_on: Callable[[], None]) -> None:
    """Make the constraints and indexes, one at a time, wait for them, and record the version.

    Args:
        session: a session that may write.
        name: where the server is, for messages.
        going_on: called after each statement.

    Raises:
        SchemaError: this user may not.
    """
    try:
        for text in schema_statements():
            _run_schema(session, text)
            going_on()
        session.run("CALL db.awaitIndexes(600)").consume()
        session.run(statement("schema_record"), version=SCHEMA_VERSION).consume()
    except exceptions.Forbidden as error:
        raise SchemaError(
            f"{name}: this user may not make constraints and indexes. Let an administrator run what "
            f"`stateweave-graph schema --print --db {name}` prints ({error.message})"
        ) from error


def _run_schema(session: Session, text: str) -> None:
    """Run one schema statement; another process that makes the same schema now makes it fail for a while."""
    for attempt in range(_ATTEMPTS):
        try:
            session.run(text).consume()
        except (exceptions.TransientError, exceptions.ClientError) as error:
            if not _made_elsewhere(error) or attempt == _ATTEMPTS - 1:
                raise
            time.sleep(0.05 * (attempt + 1))
        else:
            return


def _made_elsewhere(error: Any) -> bool:
    code = error.code or ""
    return isinstance(error, exceptions.TransientError) or "AlreadyExists" in code
