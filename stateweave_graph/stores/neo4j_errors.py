"""What the errors of the Neo4j driver mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from neo4j import exceptions

from stateweave_graph.errors import (
    AuthenticationError,
    InvalidRequestError,
    ReadOnlyStoreError,
    StateWeaveGraphError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from stateweave_graph.stores.neo4j_tasks import TookTooLongError

_MEANINGS: tuple[tuple[type[Exception], type[StoreError], str], ...] = (
    (exceptions.TokenExpired, AuthenticationError, "the server refused the credentials: they have expired"),
    (exceptions.AuthError, AuthenticationError, "the server refused the user or the password"),
    (exceptions.Forbidden, AuthenticationError, "this user lacks the right to do this; see docs/neo4j.md"),
    (exceptions.ForbiddenOnReadOnlyDatabase, ReadOnlyStoreError, "the database is read-only"),
    (exceptions.NotALeader, StoreUnavailableError, "the cluster is choosing a leader; try again"),
    (exceptions.DatabaseUnavailable, StoreUnavailableError, "the database is not available; try again"),
    (exceptions.ServiceUnavailable, StoreUnavailableError, "the server can't be reached, or went away"),
    (exceptions.SessionExpired, StoreUnavailableError, "the server went away; try again"),
    (exceptions.UnsupportedServerProduct, StoreError, "this is no server that the driver can speak to"),
)
_CODES: tuple[tuple[str, type[StoreError], str], ...] = (
    (
        "Neo.ClientError.Database.DatabaseNotFound",
        StoreError,
        "there is no such database on the server; name another one, or make it first",
    ),
    *(
        (
            code,
            StoreUnavailableError,
            "the transaction took longer than allowed and was rolled back; try again, do less at once, or "
            "open the repository with a larger timeout",
        )
        for code in (
            "Neo.ClientError.Transaction.TransactionTimedOut",
            "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
            "Neo.ClientError.Transaction.LockClientStopped",
            "Neo.TransientError.Transaction.LockClientStopped",
        )
    ),
    (
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
        StoreError,
        "the server has too little memory for this transaction; give it more, or do less at once",
    ),
    (
        "Neo.ClientError.Security.CredentialsExpired",
        AuthenticationError,
        "the password has expired; set a new one on the server",
    ),
    ("Neo.DatabaseError.General.StorageDamageDetected", StoreError, "the database is damaged"),
    ("Neo.TransientError.General.NoSpaceLeft", StoreFullError, "no room is left on the server's disk"),
)


@contextmanager
def translated(name: str, *, anonymous: bool = False) -> Iterator[None]:
    """Let no error of the driver escape.

    Args:
        name: where the server is.
        anonymous: whether no credentials were given.

    Raises:
        StoreError: of the kind that the error means, with the remedy.
    """
    try:
        yield
    except (exceptions.Neo4jError, exceptions.DriverError) as error:
        raise meaning_of(error, name, anonymous=anonymous) from error
    except TookTooLongError as error:
        raise error.meaning from None


def meaning_of(error: Exception, name: str, *, anonymous: bool = False) -> StateWeaveGraphError:
    """The error of ours that an error of the driver means."""
    # Only errors of the server have a message and a code; 5.26 warns where others are asked for them.
    of_server = isinstance(error, exceptions.Neo4jError)
    text = (of_server and getattr(error, "message", None)) or str(error)
    if anonymous and isinstance(error, exceptions.AuthError):
        return AuthenticationError(
            f"{name}: the server wants credentials, and none were given; give open_repository user= and "
            "password=, or token=; for the command line, set NEO4J_USERNAME and NEO4J_PASSWORD or NEO4J_TOKEN"
        )
    if _waited_for_a_connection(error):
        return StoreUnavailableError(
            f"{name}: no connection was free in time; try again, or allow more with max_connection_pool_size"
            f" ({text})"
        )
    if isinstance(error, exceptions.IncompleteCommit):
        return StoreUnavailableError(
            f"{name}: the connection was lost during COMMIT, so it is not known whether it was done ({text})",
            outcome_unknown=True,
        )
    code = (of_server and getattr(error, "code", None)) or ""
    for known, kind, remedy in _CODES:
        if code == known:
            return kind(f"{name}: {remedy} ({text})")
    for driver_kind, kind, remedy in _MEANINGS:
        if isinstance(error, driver_kind):
            return kind(f"{name}: {remedy} ({text})")
    if isinstance(error, exceptions.ConfigurationError):
        return InvalidRequestError(f"{name}: {text}")
    if isinstance(error, exceptions.TransientError):
        return StoreUnavailableError(f"{name}: the server was too busy for too long; try again ({text})")
    return StoreError(f"{name}: the server refused: {text} ({code or type(error).__name__})")


def _waited_for_a_connection(error: Exception) -> bool:
    """Whether the pool had no connection; the driver has a class for it since 6.0, before it has no code."""
    if isinstance(error, exceptions.ClientError):
        return not getattr(error, "code", None) and "failed to obtain a connection" in str(error)
    return type(error).__name__ == "ConnectionAcquisitionTimeoutError"
