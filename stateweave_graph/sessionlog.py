"""The SDK's session log: one JSONL file a session, read into the revisions of one history, and written.

The rules are format.md, *The SDK's session log*. A corrupt log is refused whole, with the rule that is
broken and the line. Here a log is taken apart into lines; what a record must hold by itself is in
sessionlog_records.py, how records follow one another in sessionlog_replay.py, and how a log is written in
sessionlog_writer.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stateweave_graph.errors import LimitExceededError, NotFoundError, SessionLogError, StateWeaveGraphError
from stateweave_graph.jsontext import JsonTextError, decode, depth_of_text, parse
from stateweave_graph.sessionlog_records import MAX_LOG_BYTES, RECORD_TYPES
from stateweave_graph.sessionlog_replay import LogFailure, LogRevision, Replay, SessionLog, place_of
from stateweave_graph.sessionlog_writer import write_session_log
from stateweave_graph.validation import DEFAULT_LIMITS, Limits, Violation

__all__ = [
    "MAX_LOG_BYTES",
    "LogFailure",
    "LogRevision",
    "SessionLog",
    "is_session_log",
    "read_session_log",
    "write_session_log",
]

_JAVASCRIPT_SPACE = (
    "\t\n\x0b\x0c\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What String.prototype.trim drops; Python's own strip drops other characters too."""

_HEAD_BYTES = 64 * 1024
_STARTS_AS_RECORD = re.compile(rf'\{{\s*"type"\s*:\s*"(?:{"|".join(RECORD_TYPES)})"')


def read_session_log(
    source: str | os.PathLike[str] | bytes,
    *,
    max_bytes: int = MAX_LOG_BYTES,
    max_nodes: int = DEFAULT_LIMITS.max_nodes,
    max_depth: int = DEFAULT_LIMITS.max_depth,
) -> SessionLog:
    r"""Read and judge a session log.

    Lines end in ``\n``; what follows the last one is a torn tail and is ignored. The name of the file is
    not looked at (the SDK wants it to be the session's id). Bytes that are no UTF-8 make a line corrupt,
    where a lenient reader puts U+FFFD in their place.

    Args:
        source: the path of the log, or its bytes.
        max_bytes: the most bytes, checked before they are read.
        max_nodes: the most nodes of the last state.
        max_depth: the deepest nesting of arrays and objects, counted in a state as in a snapshot.

    Raises:
        SessionLogError: the log is corrupt; ``.rule`` and ``.line`` say where, ``.violations`` what is
            wrong with a state.
        LimitExceededError: a limit is exceeded.
        NotFoundError: there is no such file.
        StateWeaveGraphError: the file can't be read.
    """
    limits = Limits(max_bytes, max_nodes, max_depth)
    data = source if isinstance(source, bytes) else _read_file(os.fspath(source), limits)
    _check_size(len(data), limits)
    replay = Replay(limits)
    for line, record in _records(data, limits):
        replay.take(record, line)
    return replay.log()


def is_session_log(data: bytes) -> bool:
    """Whether these bytes, or the first of them, are a session log's rather than a snapshot's.

    The content tells: the first line that is not blank is a record of a session log, even one that is not
    the header that it should be, or that is cut off. A snapshot is one object without a ``type``.
    """
    head = data[:_HEAD_BYTES].decode("utf-8", "replace").strip(_JAVASCRIPT_SPACE)
    line = head.partition("\n")[0].rstrip(_JAVASCRIPT_SPACE)
    if _STARTS_AS_RECORD.match(line):
        return True
    try:
        value = parse(line) if depth_of_text(line) <= DEFAULT_LIMITS.max_depth else None
    except JsonTextError:
        return False
    return isinstance(value, dict) and value.get("type") in RECORD_TYPES


def _read_file(path: str, limits: Limits) -> bytes:
    try:
        with Path(path).open("rb") as file:
            _check_size(os.fstat(file.fileno()).st_size, limits)
            return file.read()
    except FileNotFoundError:
        raise NotFoundError(f"there is no session log {path!r}; a log itself is given as bytes") from None
    except (OSError, ValueError) as error:
        raise StateWeaveGraphError(
            f"the session log {path!r} can't be read: {error}; a log itself is given as bytes"
        ) from error


def _check_size(size: int, limits: Limits) -> None:
    if size > limits.max_bytes:
        message = f"longer than the limit of {limits.max_bytes} bytes"
        raise LimitExceededError([Violation("size", "$", message, f"{size} bytes")], "the session log")


def _records(data: bytes, limits: Limits) -> Iterator[tuple[int, Any]]:
    """The records, each with the number of its line."""
    number, start = 0, 0
    while (end := data.find(b"\n", start)) >= 0:
        number += 1
        try:
            text = decode(data[start:end]).strip(_JAVASCRIPT_SPACE)
            record = _parse_line(text, number, limits) if text else None
        except JsonTextError as error:
            raise SessionLogError("json", number, f"this line by itself is {error}") from None
        if text:
            yield number, record
        start = end + 1


def _parse_line(text: str, number: int, limits: Limits) -> Any:
    depth = depth_of_text(text)
    record = parse(text) if depth <= limits.max_depth + 1 else None
    # A state stands one level below the root of its entry.
    if depth > limits.max_depth and not (isinstance(record, dict) and "state" in record):
        message = f"nested deeper than the limit of {limits.max_depth} levels"
        raise LimitExceededError([Violation("size", "$", message, "")], place_of(number))
    return record
