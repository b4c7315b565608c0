"""What the command's exit codes mean: one table."""

from __future__ import annotations

from stateweave_graph.errors import (
    CommitIdReusedError,
    ConflictError,
    DivergedError,
    InvalidRequestError,
    LimitExceededError,
    MissingExtraError,
    NotFoundError,
    QueryError,
    StateWeaveGraphError,
    StoreError,
)

DONE = 0
WRONG_DATA = 1
USAGE = 2
NOT_FOUND = 3
CONFLICT = 4
STORE = 5
LIMIT = 6
INTERRUPTED = 130

MEANINGS = {
    DONE: "done",
    WRONG_DATA: "the data is wrong",
    USAGE: "the command was used wrongly",
    NOT_FOUND: "not found",
    CONFLICT: "a conflict, or histories that diverged",
    STORE: "the store is unavailable, or refused",
    LIMIT: "a limit was exceeded",
}

_CODES: tuple[tuple[type[StateWeaveGraphError], int], ...] = (
    (StoreError, STORE),
    (LimitExceededError, LIMIT),
    (InvalidRequestError, USAGE),
    (QueryError, USAGE),
    (MissingExtraError, USAGE),
    (NotFoundError, NOT_FOUND),
    (ConflictError, CONFLICT),
    (DivergedError, CONFLICT),
    (CommitIdReusedError, CONFLICT),
)


def exit_code(error: StateWeaveGraphError) -> int:
    """The exit code for an error; data that breaks a rule where no other is named."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), WRONG_DATA)
