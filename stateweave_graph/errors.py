"""Every error of this package, in one tree.

StateWeaveGraphError
├── InvalidRequestError        an argument is no good (also a ValueError)
├── InvalidStateError          a state breaks import rules; ``.violations`` names each
│   └── LimitExceededError     … because it is larger or deeper than allowed (rule ``size``)
├── InvalidAppendError         an append can't be made into a node
│   └── UnknownParentError     … because a parent named is not in the history
├── VocabularyError            a semantic node does not fit the agent's vocabulary
├── NotFoundError              no such agent, revision, node or resource
├── ConflictError              somebody else committed first (``.expected``, ``.actual``)
├── DivergedError              a snapshot does not extend what is stored
├── CommitIdReusedError        one commit id, two different requests
├── SessionLogError            a session log breaks a rule (``.rule``, ``.line``)
├── HistoryFileError           an exported history is not as it was exported (``.line``)
├── QueryError                 a query can't be run as asked
├── MissingExtraError          an optional package is needed; the message has the command
└── StoreError                 the database
    ├── StoreUnavailableError  not reachable or busy (``retryable``)
    ├── AuthenticationError    wrong user or password, or rights are missing
    ├── SchemaError            a schema of another version, or one that can't be made
    ├── ReadOnlyStoreError     the store can be read and not written
    ├── StoreFullError         no room left
    ├── StoreMovedError        the file was replaced while it was open
    │   └── StoreMissingError  … or removed (also a NotFoundError)
    └── NotAStoreError         the file or database is not one of ours
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from stateweave_graph.validation import Violation

_SHOWN = 10

_PICKLABLE_CAUSES = frozenset({"builtins", "json", "sqlite3", "stateweave_graph"})
"""The packages whose exceptions are pickled as the cause of an error."""


class StateWeaveGraphError(Exception):
    """The root: everything that this package raises on purpose."""

    retryable: bool = False
    """Whether the same call may succeed later without any change by the caller."""

    FIELDS: ClassVar[tuple[str, ...]] = ()
    """The attributes that ``--json`` shows beside type, message and ``retryable``."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """Pickle and copy what was raised, without calling ``__init__`` again, which takes other arguments.

        Notes come along. The cause does where its type is known to be picklable: a driver's need not be.
        """
        state = dict(vars(self))
        if type(self.__cause__).__module__.partition(".")[0] in _PICKLABLE_CAUSES:
            state["__cause__"] = self.__cause__
        state["__suppress_context__"] = self.__suppress_context__
        return _restored, (type(self), self.args), state


class InvalidRequestError(StateWeaveGraphError, ValueError):
    """An argument of a call is no good: an agent id, a revision, metadata, a URI. Nothing was done."""


class InvalidStateError(StateWeaveGraphError):
    """A state breaks import rules of the format; nothing was stored.

    Attributes:
        violations: every violation found, in the order of the state.
    """

    FIELDS = ("violations",)

    def __init__(self, violations: Sequence[Violation], source: str = "the state", remedy: str = "") -> None:
        self.violations = list(violations)
        count = len(self.violations)
        lines = [
            f"{source} breaks {count} rule{'' if count == 1 else 's'} of the format; nothing was stored:"
        ]
        lines += [f"  {violation}" for violation in self.violations[:_SHOWN]]
        if count > _SHOWN:
            lines.append(f"  … and {count - _SHOWN} more (see .violations)")
        super().__init__("\n".join([*lines, *filter(None, [remedy.strip()])]))


class LimitExceededError(InvalidStateError):
    """A state is larger, longer or deeper than the limits configured (rule ``size``)."""


class InvalidAppendError(StateWeaveGraphError):
    """An append can't be made into a node: its kind, payload, key or time is no good."""


class UnknownParentError(InvalidAppendError):
    """A parent named by an append is not in the history.

    Attributes:
        parents: the ids that are missing.
    """

    FIELDS = ("parents",)

    def __init__(self, parents: Sequence[str]) -> None:
        self.parents = list(parents)
        names = ", ".join(map(repr, self.parents[:_SHOWN]))
        super().__init__(
            f"unknown parent {names}: a parent must be a node of the same history; "
            "append it first, or leave parents out to use the frontier"
        )


class VocabularyError(StateWeaveGraphError):
    """A semantic node does not fit the vocabulary of its agent, or a name can't be normalised."""


class NotFoundError(StateWeaveGraphError):
    """No such agent, revision, node or resource in this store."""


class ConflictError(StateWeaveGraphError):
    """Somebody else committed first; nothing was written.

    Attributes:
        agent_id: the agent.
        expected: the revision (or pinned head) that the caller expected.
        actual: the revision that is there; 0 where there is no such agent.
        appends: the appends of the turn that lost, for the caller to decide about; empty for others.
    """

    FIELDS = (
        "agent_id",
        "expected",
        "actual",
    )

    def __init__(
        self, agent_id: str, expected: Any, actual: int, why: str, appends: Sequence[Any] = ()
    ) -> None:
        self.agent_id = agent_id
        self.expected = expected
        self.actual = actual
        self.why = why
        self.appends = list(appends)
        super().__init__(
            f"agent {agent_id!r}: {why}; nothing was written. "
            "Load the head again and decide whether your changes still hold"
        )


class DivergedError(StateWeaveGraphError):
    """A snapshot does not extend what is stored; nothing was written.

    Attributes:
        agent_id: the agent.
        sequence: the sequence of the first node that differs; None where the snapshot is merely shorter.
        stored: what is stored there (the node's id or the value that differs).
        given: what the snapshot has there.
    """

    FIELDS = (
        "agent_id",
        "sequence",
        "stored",
        "given",
    )

    def __init__(self, agent_id: str, message: str, *, sequence: int | None, stored: Any, given: Any) -> None:
        self.agent_id = agent_id
        self.sequence = sequence
        self.stored = stored
        self.given = given
        super().__init__(f"agent {agent_id!r}: {message}")


class CommitIdReusedError(StateWeaveGraphError):
    """A commit id was used before for another request; nothing was written."""

    FIELDS = (
        "agent_id",
        "commit_id",
        "revision",
    )

    def __init__(self, agent_id: str, commit_id: str, revision: int) -> None:
        self.agent_id = agent_id
        self.commit_id = commit_id
        self.revision = revision
        super().__init__(
            f"agent {agent_id!r}: commit id {commit_id!r} belongs to revision {revision}, which was another "
            "request; nothing was written. Use a new commit id for a new request"
        )


class SessionLogError(StateWeaveGraphError):
    """A session log is corrupt; it is refused whole.

    Attributes:
        rule: the rule of the format that is broken.
        line: the line, from 1; 0 where the file as a whole is meant.
        reason: what is wrong there.
        violations: the violations of the state at that line, for the rule ``state``.
    """

    FIELDS = (
        "rule",
        "line",
        "reason",
        "violations",
    )

    def __init__(self, rule: str, line: int, message: str, violations: Sequence[Violation] = ()) -> None:
        self.rule = rule
        self.line = line
        self.reason = message
        self.violations = list(violations)
        where = f"line {line}" if line else "the file"
        super().__init__(
            f"session log, {where}: {rule}: {message}; the log is refused whole, nothing was stored"
        )


class HistoryFileError(StateWeaveGraphError):
    """An exported history is not as it was exported; it is refused whole.

    Attributes:
        line: the line, from 1; 0 where the file as a whole is meant.
        reason: what is wrong there.
        violations: the violations of import rules by the nodes and the frontier at that line.
    """

    FIELDS = (
        "line",
        "reason",
        "violations",
    )

    def __init__(self, line: int, message: str, violations: Sequence[Violation] = ()) -> None:
        self.line = line
        self.reason = message
        self.violations = list(violations)
        where = f"line {line}" if line else "the file"
        super().__init__(
            f"exported history, {where}: {message}; it is refused whole, nothing was stored. Export it again"
        )


class QueryError(StateWeaveGraphError):
    """A query can't be run as asked: its name, its parameters, its text or its limits."""


class MissingExtraError(StateWeaveGraphError):
    """A package that not everyone needs is not installed; the message has the command that installs it."""

    FIELDS = (
        "package",
        "command",
    )

    def __init__(self, what: str, package: str, command: str) -> None:
        self.package = package
        self.command = command
        super().__init__(
            f"{what} needs the package {package}, which can't be imported here. Install it: {command}"
        )


class StoreError(StateWeaveGraphError):
    """The database did not do what was asked."""


class StoreUnavailableError(StoreError):
    """The database can't be reached or is busy; the same call may succeed later.

    Attributes:
        outcome_unknown: whether the connection was lost while a transaction was being committed, so that
            what was asked may have been done.
    """

    FIELDS = ("outcome_unknown",)

    retryable = True

    def __init__(self, message: str, *, outcome_unknown: bool = False) -> None:
        self.outcome_unknown = outcome_unknown
        super().__init__(message)


class AuthenticationError(StoreError):
    """The database refused the user, the password, or the right to do this."""


class SchemaError(StoreError):
    """The database has a schema of another version, or the schema can't be made."""


class ReadOnlyStoreError(StoreError):
    """The store can be read, but not written."""


class StoreFullError(StoreError):
    """There is no room left where the store is; nothing of this commit was written."""


class StoreMovedError(StoreError):
    """The file that is open is not the file at its path any more: it was replaced, or its log was."""


class StoreMissingError(StoreMovedError, NotFoundError):
    """The file that is open was removed from its path."""


class NotAStoreError(StoreError):
    """The file or database holds something that is not ours; it was not touched."""


def _restored(kind: type[StateWeaveGraphError], arguments: tuple[Any, ...]) -> StateWeaveGraphError:
    """An error of this class with these ``args``; its attributes are set by the caller."""
    return kind.__new__(kind, *arguments)
