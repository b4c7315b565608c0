"""A graph database layer for StateWeave agent histories.

>>> from stateweave_graph import open_repository
>>> with open_repository(":memory:") as repo:
...     with repo.turn("support-bot") as turn:
...         goal = turn.goal("Where is my parcel?")
...         answer = turn.answer("On its way.")
...     [ref.kind.value for ref in repo.lineage("support-bot", answer.id)]
['goal']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stateweave_graph.version import __version__

if TYPE_CHECKING:  # what a type checker and an editor read; a program gets a name when it asks for it
    from stateweave_graph.errors import (
        AuthenticationError,
        CommitIdReusedError,
        ConflictError,
        DivergedError,
        HistoryFileError,
        InvalidAppendError,
        InvalidRequestError,
        InvalidStateError,
        LimitExceededError,
        MissingExtraError,
        NotAStoreError,
        NotFoundError,
        QueryError,
        ReadOnlyStoreError,
        SchemaError,
        SessionLogError,
        StateWeaveGraphError,
        StoreError,
        StoreFullError,
        StoreMissingError,
        StoreMovedError,
        StoreUnavailableError,
        UnknownParentError,
        VocabularyError,
    )
    from stateweave_graph.identity import node_id
    from stateweave_graph.mirror import CausalMirror
    from stateweave_graph.model import AgentState, Append, CausalNode, NodeKind, SemanticPayload
    from stateweave_graph.repository.nodeset import NodeSet
    from stateweave_graph.repository.opening import open_repository
    from stateweave_graph.repository.repository import Repository
    from stateweave_graph.repository.requests import ANY_REVISION, ExpectedRevision
    from stateweave_graph.repository.retry import retry_on_conflict
    from stateweave_graph.repository.turn import Turn
    from stateweave_graph.results import (
        AgentSummary,
        Commit,
        Diff,
        Exported,
        FailedRun,
        Found,
        Head,
        Imported,
        Known,
        LogEntry,
        Memory,
        Moved,
        NodeRef,
        QueryResult,
        ResourceVersion,
        Stored,
        Why,
    )
    from stateweave_graph.sessionlog import (
        LogFailure,
        LogRevision,
        SessionLog,
        read_session_log,
        write_session_log,
    )
    from stateweave_graph.validation import Violation, validate
    from stateweave_graph.vocabulary import NodeType, Vocabulary

__all__ = [
    "ANY_REVISION",
    "AgentState",
    "AgentSummary",
    "Append",
    "AuthenticationError",
    "CausalMirror",
    "CausalNode",
    "Commit",
    "CommitIdReusedError",
    "ConflictError",
    "Diff",
    "DivergedError",
    "ExpectedRevision",
    "Exported",
    "FailedRun",
    "Found",
    "Head",
    "HistoryFileError",
    "Imported",
    "InvalidAppendError",
    "InvalidRequestError",
    "InvalidStateError",
    "Known",
    "LimitExceededError",
    "LogEntry",
    "LogFailure",
    "LogRevision",
    "Memory",
    "MissingExtraError",
    "Moved",
    "NodeKind",
    "NodeRef",
    "NodeSet",
    "NodeType",
    "NotAStoreError",
    "NotFoundError",
    "QueryError",
    "QueryResult",
    "ReadOnlyStoreError",
    "Repository",
    "ResourceVersion",
    "SchemaError",
    "SemanticPayload",
    "SessionLog",
    "SessionLogError",
    "StateWeaveGraphError",
    "StoreError",
    "StoreFullError",
    "StoreMissingError",
    "StoreMovedError",
    "StoreUnavailableError",
    "Stored",
    "Turn",
    "UnknownParentError",
    "Violation",
    "Vocabulary",
    "VocabularyError",
    "Why",
    "__version__",
    "node_id",
    "open_repository",
    "read_session_log",
    "retry_on_conflict",
    "validate",
    "write_session_log",
]

_HOMES = {
    "errors": (
        "AuthenticationError",
        "CommitIdReusedError",
        "ConflictError",
        "DivergedError",
        "HistoryFileError",
        "InvalidAppendError",
        "InvalidRequestError",
        "InvalidStateError",
        "LimitExceededError",
        "MissingExtraError",
        "NotAStoreError",
        "NotFoundError",
        "QueryError",
        "ReadOnlyStoreError",
        "SchemaError",
        "SessionLogError",
        "StateWeaveGraphError",
        "StoreError",
        "StoreFullError",
        "StoreMissingError",
        "StoreMovedError",
        "StoreUnavailableError",
        "UnknownParentError",
        "VocabularyError",
    ),
    "identity": ("node_id",),
    "mirror": ("CausalMirror",),
    "model": ("AgentState", "Append", "CausalNode", "NodeKind", "SemanticPayload"),
    "repository.nodeset": ("NodeSet",),
    "repository.opening": ("open_repository",),
    "repository.repository": ("Repository",),
    "repository.requests": ("ANY_REVISION", "ExpectedRevision"),
    "repository.retry": ("retry_on_conflict",),
    "repository.turn": ("Turn",),
    "results": (
        "AgentSummary",
        "Commit",
        "Diff",
        "Exported",
        "FailedRun",
        "Found",
        "Head",
        "Imported",
        "Known",
        "LogEntry",
        "Memory",
        "Moved",
        "NodeRef",
        "QueryResult",
        "ResourceVersion",
        "Stored",
        "Why",
    ),
    "sessionlog": ("LogFailure", "LogRevision", "SessionLog", "read_session_log", "write_session_log"),
    "validation": ("Violation", "validate"),
    "vocabulary": ("NodeType", "Vocabulary"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # or a type checker would take every name to be there

    def __getattr__(name: str) -> Any:
        """A public name or a module of the package, imported when it is first asked for (PEP 562)."""
        if name in _HOME:
            value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
            globals()[name] = value  # from now on it is found without coming here
            return value
        if not name.startswith("_"):
            from importlib.util import find_spec

            if find_spec(f"{__name__}.{name}") is not None:
                return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
