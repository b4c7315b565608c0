"""The records of a session log: what each must hold by itself (format.md, *The SDK's session log*).

These are the rules ``header`` and ``entry``. How the records follow one another is for sessionlog.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from stateweave_graph.errors import SessionLogError
from stateweave_graph.identity import is_finite_double
from stateweave_graph.javascript import javascript_json
from stateweave_graph.timestamps import FORMS, instant_ms
from stateweave_graph.validation import shorten

MAX_LOG_BYTES = 512 * 1024 * 1024
"""The SDK loads no longer log."""

_ENGINE = "causal-weave-v3"
_SESSION_ID = re.compile(r"sws_[0-9a-f]{32}")
_ENTRY_ID = re.compile(r"[0-9a-f]{16}")


def check_header(record: Any, line: int) -> None:
    """Check the first record of a log.

    Raises:
        SessionLogError: it is no header (rule ``header``).
    """
    kind = record.get("type") if isinstance(record, dict) else record
    if not isinstance(record, dict) or kind != "session":
        raise SessionLogError(
            "header", line, f"the first record must be an object of type 'session' (here: {shorten(kind)})"
        )
    complaint = _complaint(record, _HEADER)
    if complaint:
        raise SessionLogError("header", line, complaint)


def check_entry(record: Any, line: int) -> str:
    """Check a record after the header, and give its type.

    A ``usage`` that is no usage record is refused, unlike one in a ``usageHistory``, which is dropped.

    Raises:
        SessionLogError: its type is unknown or a field is not as it must be (rule ``entry``), or it is
            another header (rule ``header``).
    """
    if not isinstance(record, dict):
        raise SessionLogError("entry", line, f"a record must be an object (here: {shorten(record)})")
    kind = record.get("type")
    if kind == "session":
        raise SessionLogError("header", line, "a log has one header, as its first record; this is another")
    if not isinstance(kind, str) or kind not in _ENTRIES:
        names = ", ".join(_ENTRIES)
        raise SessionLogError("entry", line, f"type must be one of {names} (here: {shorten(kind)})")
    complaint = _complaint(record, _ENTRIES[kind])
    if complaint:
        raise SessionLogError("entry", line, f"{kind}: {complaint}")
    return kind


def is_usage_record(value: Any) -> bool:
    """Whether a value is a usage record; turns count from 1, and no number in it is beyond a double."""
    return isinstance(value, dict) and _run_complaint(value, _USAGE) is None


def run_metadata(given: Mapping[str, Any], run_id: str, at: str) -> dict[str, Any]:
    """A run's metadata as a ``turn_commit`` must have it, with what is not known at its least.

    Args:
        given: what is known of the run; fields that a log takes are kept, and further ones beside them.
        run_id: the run's id.
        at: the time of the commit.
    """
    least = {
        "runId": run_id,
        "engine": _ENGINE,
        "status": "done",
        "startedAt": at,
        "completedAt": at,
        **dict.fromkeys(_COUNTS, 0),
        "tokenCountSource": "estimated",
    }
    wrong = {name for name, field in _METADATA.items() if name in given and not field.holds(given[name])}
    return {**least, **{name: value for name, value in given.items() if name not in wrong}}


class _Field(NamedTuple):
    """What a field may hold: the test, its words for a message, and what is wrong inside, if it can tell."""

    holds: Callable[[Any], bool]
    words: str
    inside: Callable[[dict[str, Any]], str | None] = lambda _: None


def _complaint(record: Mapping[str, Any], fields: Mapping[str, _Field]) -> str | None:
    """What is wrong with the first field that is not as it must be; a name with ``?`` may be absent."""
    for name, expected in fields.items():
        key = name.rstrip("?")
        if key not in record:
            if key == name:
                return f"{key} is missing; it must be {expected.words}"
            continue
        value = record[key]
        if not expected.holds(value):
            return f"{key} must be {expected.words} (here: {shorten(value)})"
        inside = expected.inside(value)
        if inside:
            return f"{key}.{inside}"
    return None


def _run_complaint(record: dict[str, Any], fields: Mapping[str, _Field]) -> str | None:
    """What is wrong with a run's metadata or usage, whose further fields are kept and so must be JSON."""
    return _complaint(record, fields) or _number_beyond_a_double(record)


def _number_beyond_a_double(record: dict[str, Any]) -> str | None:
    for key, value in record.items():
        try:
            javascript_json(value)
        except ValueError:
            return f"{key} holds a number outside the range of a double; a lenient reader takes Infinity"
    return None


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and instant_ms(value) is not None


def _is_entry_id(value: Any) -> bool:
    return isinstance(value, str) and _ENTRY_ID.fullmatch(value) is not None


def _is_session_id(value: Any) -> bool:
    return isinstance(value, str) and _SESSION_ID.fullmatch(value) is not None


def _is_integer(value: Any) -> bool:
    """Whether a value is a whole number, however it is written: ``5.0`` is 5, ``true`` is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return is_finite_double(value) and value == int(value)


def _integer_from(least: int) -> _Field:
    return _Field(lambda value: _is_integer(value) and value >= least, f"an integer from {least}")


def _one_of(*texts: str) -> _Field:
    return _Field(lambda value: value in texts, " or ".join(map(repr, texts)))


_TEXT = _Field(lambda value: isinstance(value, str), "a string")
_ARRAY = _Field(lambda value: isinstance(value, list), "an array")
_OBJECT = _Field(lambda value: isinstance(value, dict), "an object")
_INTEGER = _Field(_is_integer, "an integer")
_TIME = _Field(_is_time, f"a date that exists, as {FORMS}")

_HEADER = {
    "version": _Field(lambda value: _is_integer(value) and value == 1, "the number 1"),
    "sessionId": _Field(_is_session_id, "'sws_' and 32 lower-case hex digits"),
    "createdAt": _TIME,
}
_COUNTS = (
    "latestContextTokens",
    "peakContextTokens",
    "totalInputTokens",
    "outputTokens",
    "modelCalls",
    "maxPromptTokens",
    "projectionTargetTokens",
)
_RUN = {
    "runId": _TEXT,
    "startedAt": _TIME,
    "completedAt": _TIME,
    **dict.fromkeys(_COUNTS, _integer_from(0)),
    "tokenCountSource": _one_of("provider", "estimated", "mixed"),
}
_METADATA = {**_RUN, "engine": _one_of(_ENGINE), "status": _one_of("done")}
_USAGE = {**_RUN, "turn": _integer_from(1), "status": _one_of("done", "failed")}
_ENTRY = {
    "id": _Field(_is_entry_id, "16 lower-case hex digits"),
    "parentId": _Field(lambda value: value is None or _is_entry_id(value), "null or the id of an entry"),
    "timestamp": _TIME,
}
_ENTRIES: dict[str, dict[str, _Field]] = {
    "bootstrap": {**_ENTRY, "state?": _OBJECT, "usageHistory": _ARRAY},
    "turn_commit": {
        **_ENTRY,
        "turn": _INTEGER,
        "runId": _TEXT,
        "input": _TEXT,
        "finalAnswer": _TEXT,
        "userNodeId?": _TEXT,
        "assistantNodeId?": _TEXT,
        "newNodes": _ARRAY,
        "frontier": _ARRAY,
        "stateHash": _TEXT,
        "metadata": _OBJECT._replace(inside=lambda value: _run_complaint(value, _METADATA)),
    },
    "run_error": {
        **_ENTRY,
        "attemptedParentId?": _TEXT,
        "turn": _INTEGER,
        "runId?": _TEXT,
        "input": _TEXT,
        "error": _TEXT,
        "usage?": _OBJECT._replace(inside=lambda value: _run_complaint(value, _USAGE)),
    },
    "checkpoint": {
        **_ENTRY,
        "turnCount": _INTEGER,
        "interactionCount": _INTEGER,
        "state": _OBJECT,
        "stateHash": _TEXT,
    },
}
RECORD_TYPES = ("session", *_ENTRIES)
"""The types of records, the header's first."""
