"""What callers ask for, checked: names, metadata, expected revisions, and the hash of a request.

The meanings are design.md, *What the words mean*.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from stateweave_graph.errors import ConflictError, InvalidAppendError, InvalidRequestError
from stateweave_graph.hashing import hash_fields
from stateweave_graph.identity import plain_json
from stateweave_graph.jsontext import depth_exceeds, dumps, has_lone_surrogate
from stateweave_graph.model import Append, NodeKind
from stateweave_graph.records import AgentRecord
from stateweave_graph.results import Commit, Head, Stored
from stateweave_graph.timestamps import datetime_ms
from stateweave_graph.validation import shorten

NAME_MAX_BYTES = 200
METADATA_MAX_BYTES = 1024 * 1024
METADATA_MAX_DEPTH = 32

_LONGEST_TIMEOUT = 1_000_000
"""In seconds; engines count milliseconds in 32 bits."""


class _AnyRevision(Enum):
    ANY_REVISION = "ANY_REVISION"

    def __repr__(self) -> str:
        return "ANY_REVISION"


ANY_REVISION: Final = _AnyRevision.ANY_REVISION
"""As ``expected_revision``: whatever is there, or nothing."""

ExpectedRevision: TypeAlias = int | Stored | Head | Commit | Literal[_AnyRevision.ANY_REVISION]
"""A revision number, 0 for "must not exist yet", ``ANY_REVISION``, or what ``load``, ``head`` or a commit
gave back, which pins the history as well."""


class Expectation(NamedTuple):
    """An expected revision, understood.

    Attributes:
        revision: the number; None where any will do.
        history: the id of the history that must be there; None where any will do.
        given: what the caller gave.
    """

    revision: int | None
    history: str | None
    given: Any

    @classmethod
    def of(cls, agent_id: str, expected: Any) -> Expectation:
        """Understand what a caller gave as ``expected_revision``.

        Raises:
            InvalidRequestError: it is none of what may be given.
        """
        if expected is ANY_REVISION:
            return cls(None, None, expected)
        if isinstance(expected, (Stored, Head, Commit)):
            if expected.agent_id != agent_id:
                raise InvalidRequestError(
                    f"expected_revision is of agent {expected.agent_id!r}, and this is agent {agent_id!r}"
                )
            return cls(expected.revision, expected.history, expected)
        if isinstance(expected, bool) or not isinstance(expected, int) or expected < 0:
            raise InvalidRequestError(
                f"expected_revision {shorten(expected)} must be a revision number, 0 (must not exist yet), "
                "ANY_REVISION, or what load, head or a commit gave back"
            )
        return cls(expected, None, expected)

    def check(self, agent_id: str, agent: AgentRecord | None) -> None:
        """Compare with what is there.

        Raises:
            ConflictError: it is something else.
        """
        actual = 0 if agent is None else agent.revision
        if self.revision is not None and self.revision != actual:
            if agent is None:
                why = f"revision {self.revision} was expected, and there is no such agent"
            elif self.revision == 0:
                why = f"it must not exist yet, and it is there already, at revision {actual}"
            else:
                why = f"revision {self.revision} was expected, and revision {actual} is there"
            raise ConflictError(agent_id, self.given, actual, why)
        if self.history is not None and agent is not None and agent.history != self.history:
            why = f"revision {actual} there is of another history: the agent was deleted and made again"
            raise ConflictError(agent_id, self.given, actual, why)


def check_name(value: Any, what: str = "agent id") -> str:
    """An agent id or a commit id: 1 to 200 bytes of UTF-8, no control characters, taken as it is.

    Raises:
        InvalidRequestError: it is not.
    """
    name = check_text(value, what)
    if has_lone_surrogate(name) or any(unicodedata.category(character) == "Cc" for character in name):
        raise InvalidRequestError(
            f"{what} {shorten(name)} must have no control characters and be valid UTF-8"
        )
    size = len(name.encode("utf-8"))
    if not 1 <= size <= NAME_MAX_BYTES:
        raise InvalidRequestError(f"{what} {shorten(name)} must be 1 to {NAME_MAX_BYTES} bytes, not {size}")
    return name


def check_positive(value: Any, what: str) -> int:
    """A count or revision: an integer from 1 on.

    Raises:
        InvalidRequestError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidRequestError(f"{what} {shorten(value)} must be an integer from 1 on")
    return value


def instant_of(moment: Any, what: str) -> int:
    """The instant of a datetime with a zone.

    Raises:
        InvalidRequestError: it is none.
    """
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InvalidRequestError(
            f"{what}={moment!r} must be a datetime with a zone, as datetime.now(timezone.utc) is"
        )
    return datetime_ms(moment)


def kind_of(kind: Any) -> NodeKind:
    """A kind given as text or as a ``NodeKind``.

    Raises:
        InvalidRequestError: it is none of the ten.
    """
    try:
        return NodeKind(kind)
    except ValueError:
        raise InvalidRequestError(f"kind {shorten(kind)} must be one of {', '.join(NodeKind)}") from None


def kinds_of(kinds: Any) -> frozenset[NodeKind] | None:
    """Several kinds; None for all of them.

    Raises:
        InvalidRequestError: they are not a list of the ten.
    """
    return None if kinds is None else frozenset(map(kind_of, check_list(kinds, "kinds")))


def check_list(values: Any, what: str) -> list[Any]:
    """The items of a list or of another iterable; a single string is not a list.

    Raises:
        InvalidRequestError: it is neither.
    """
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidRequestError(f"{what} {shorten(values)} must be a list")
    return list(values)


def check_timeout(value: Any) -> float:
    """A number of seconds.

    Raises:
        InvalidRequestError: it is not a number above 0, or too large to wait for.
    """
    wrong = isinstance(value, bool) or not isinstance(value, (int, float))
    if wrong or not 0 < value <= _LONGEST_TIMEOUT:
        raise InvalidRequestError(
            f"timeout {shorten(value)} must be a number of seconds above 0, at most {_LONGEST_TIMEOUT}"
        )
    return float(value)


def check_text(value: Any, what: str) -> str:
    """A text of any kind.

    Raises:
        InvalidRequestError: it is none.
    """
    if not isinstance(value, str):
        raise InvalidRequestError(f"{what} {shorten(value)} must be a text")
    return value


def check_path(value: Any, what: str) -> str:
    """The path of a file, as text.

    Raises:
        InvalidRequestError: it is not a string or ``os.PathLike`` of one, or can't be the path of a file.
    """
    path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(path, str):
        raise InvalidRequestError(
            f"{what} {shorten(path)} must be a string or a pathlib.Path, not {type(path).__name__}"
        )
    if not path or "\0" in path:
        raise InvalidRequestError(f"{what} {shorten(path)} is not the path of a file")
    return path


def object_text(value: Mapping[str, Any] | None, what: str = "metadata") -> str | None:
    """The JSON text of metadata: an object of at most 1 MiB, nested at most 32 deep.

    Raises:
        InvalidRequestError: it is no such object.
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidRequestError(f"{what} {shorten(value)} must be a JSON object")
    if depth_exceeds(value, METADATA_MAX_DEPTH):
        raise InvalidRequestError(f"{what} is nested deeper than {METADATA_MAX_DEPTH} levels")
    try:
        text = dumps(plain_json(value, what))
    except InvalidAppendError as error:
        raise InvalidRequestError(str(error)) from None
    size = len(text.encode("utf-8"))
    if size > METADATA_MAX_BYTES:
        raise InvalidRequestError(f"{what} has {size} bytes of JSON, more than {METADATA_MAX_BYTES}")
    return text


Asked: TypeAlias = Sequence[str] | None
"""Parents as asked for: ids, ``#0`` for what the first item of the request gave, None for the default."""


class Said(NamedTuple):
    """One item of a request to append, as it was said; times are no part of it.

    Attributes:
        kind: the kind of the node.
        payload: JSON text.
        parents: as asked for.
        resource_key: the resource, or None.
        advance: whether the frontier advances; None where that depends on what is there.
    """

    kind: str
    payload: str
    parents: Asked
    resource_key: str | None
    advance: bool | None


def said_of(appends: Sequence[Append]) -> list[Said]:
    """Appends as a request says them."""
    places = {id(append): f"#{place}" for place, append in enumerate(appends)}
    said = []
    for append in appends:
        parents: Asked = None
        if append.parents is not None:
            parents = [
                places.get(id(parent), "#") if isinstance(parent, Append) else parent
                for parent in append.parents
            ]
        said.append(
            Said(append.kind.value, dumps(append.payload), parents, append.resource_key, append.advance)
        )
    return said


def append_request_hash(said: Sequence[Said], base: Asked, metadata: str | None) -> str:
    """``requestHash`` of appends: what was asked for, without times and the expected revision."""
    fields: list[Any] = ["append", len(said), base]
    for item in said:
        advance = None if item.advance is None else int(item.advance)
        fields += [item.kind, item.payload, item.parents, item.resource_key, advance]
    return hash_fields(*fields, metadata)


def save_request_hash(digest: str, frontier: Sequence[str], metadata: str | None) -> str:
    """``requestHash`` of a snapshot."""
    return hash_fields("save", digest, frontier, metadata)
