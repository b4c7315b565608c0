"""Session logs written, as the SDK's own file store writes them (format.md, *The SDK's session log*).

What a record must hold is in sessionlog_records.py. Here the counters and hashes are worked out as the SDK
works them out when it loads the log.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from stateweave_graph.errors import LimitExceededError
from stateweave_graph.hashing import hash_fields
from stateweave_graph.jsontext import dumps
from stateweave_graph.model import NodeKind
from stateweave_graph.sessionlog_records import MAX_LOG_BYTES, is_usage_record, run_metadata
from stateweave_graph.sessionlog_replay import LogFailure, LogRevision, SessionLog, StateText
from stateweave_graph.validation import Violation
from stateweave_graph.wholefile import whole_file

_ENTRY_ID = re.compile(r"[0-9a-f]{16}")


def write_session_log(log: SessionLog, path: str | os.PathLike[str]) -> None:
    """Write a log to a file, whole or not at all; the SDK wants it to be named ``<session_id>.jsonl``.

    Entry ids, times, runs and states are those of the log. Turns are counted anew, and checkpoints, which
    say nothing new, are left out.

    Raises:
        LimitExceededError: the SDK would load no log of this length.
        InvalidRequestError: the file can't be written.
    """
    with whole_file(path) as file:
        for line in log_lines(log.session_id, log.created_at, _in_order(log), log.usage_history):
            file.write(line.encode())


def log_lines(
    session_id: str,
    created_at: str,
    entries: Iterable[LogRevision | LogFailure],
    usage_history: Iterable[dict[str, Any]] = (),
) -> Iterator[str]:
    """The lines of a log, each with its end.

    Args:
        session_id: ``sws_`` and 32 hex digits.
        created_at: when the session began.
        entries: revisions and failed runs, oldest first. The first revision is a bootstrap unless it is a
            turn; each of the others is a turn. Their hashes and turns are not looked at.
        usage_history: usage records for a bootstrap.

    Raises:
        LimitExceededError: the SDK would load no log of this length.
    """
    writer = _Writer(list(usage_history))
    size = 0
    header = {"type": "session", "version": 1, "sessionId": session_id, "createdAt": created_at}
    for record in writer.records(header, entries):
        line = f"{dumps(record)}\n"
        size += len(line) if line.isascii() else len(line.encode())
        if size > MAX_LOG_BYTES:
            message = f"longer than the limit of {MAX_LOG_BYTES} bytes, which is what the SDK loads"
            raise LimitExceededError([Violation("size", "$", message, "")], "the session log")
        yield line


class _Writer:
    """Counts as the SDK counts, and keeps the state's hash."""

    def __init__(self, usage_history: list[dict[str, Any]]) -> None:
        self._usage_history = usage_history
        self._text = StateText()
        self._entry_ids: set[str] = set()
        self._turn_id: str | None = None
        self._interactions = 0
        self._begun = False

    def records(
        self, header: dict[str, Any], entries: Iterable[LogRevision | LogFailure]
    ) -> Iterator[dict[str, Any]]:
        yield header
        for entry in entries:
            if isinstance(entry, LogFailure):
                yield self._run_error(entry)
                continue
            if not self._begun and (entry.kind != "turn_commit" or self._usage_history):
                yield self._bootstrap(entry)
                if entry.kind != "turn_commit":
                    self._begun = True
                    continue
            self._begun = True
            yield self._turn_commit(entry)

    def _bootstrap(self, entry: LogRevision) -> dict[str, Any]:
        """A bootstrap with the state of a revision; without it where the revision is a turn."""
        usage = [record for record in self._usage_history or entry.usage_history if is_usage_record(record)]
        brings_state = entry.kind != "turn_commit"
        kinds = [node.kind for node in entry.nodes] if brings_state else []
        spoken = kinds.count(NodeKind.GOAL) + kinds.count(NodeKind.ANSWER)
        highest = max((int(record["turn"]) for record in usage), default=0)
        self._interactions = max(highest, self._interactions + (spoken + 1) // 2)
        state: dict[str, Any] = {}
        if brings_state:
            nodes = self._add(entry)
            state = {"state": {"version": 1, "nodes": nodes, "frontier": entry.frontier}}
        entry_id = entry.entry_id if brings_state else hash_fields("bootstrap", entry.entry_id)
        return {
            "type": "bootstrap",
            "id": self._entry_id(entry_id),
            "parentId": None,
            "timestamp": entry.timestamp,
            **state,
            "usageHistory": usage,
        }

    def _turn_commit(self, entry: LogRevision) -> dict[str, Any]:
        self._interactions += 1
        nodes = self._add(entry)
        parent, self._turn_id = self._turn_id, self._entry_id(entry.entry_id)
        run_id = entry.entry_id if entry.run_id is None else entry.run_id
        named = {"userNodeId": entry.user_node_id, "assistantNodeId": entry.assistant_node_id}
        return {
            "type": "turn_commit",
            "id": self._turn_id,
            "parentId": parent,
            "timestamp": entry.timestamp,
            "turn": self._interactions,
            "runId": run_id,
            "input": entry.input or "",
            "finalAnswer": entry.final_answer or "",
            **{name: node_id for name, node_id in named.items() if node_id is not None},
            "newNodes": nodes,
            "frontier": entry.frontier,
            "stateHash": self._text.state_hash(entry.frontier),
            "metadata": run_metadata(entry.metadata or {}, run_id, entry.timestamp),
        }

    def _run_error(self, entry: LogFailure) -> dict[str, Any]:
        self._interactions += 1
        known = {
            "attemptedParentId": entry.attempted_parent_id,
            "runId": entry.run_id,
            "usage": entry.usage if is_usage_record(entry.usage) else None,
        }
        return {
            "type": "run_error",
            "id": self._entry_id(entry.entry_id),
            "parentId": self._turn_id,
            "timestamp": entry.timestamp,
            "turn": self._interactions,
            "input": entry.input,
            "error": entry.error,
            **{name: value for name, value in known.items() if value is not None},
        }

    def _add(self, entry: LogRevision) -> list[dict[str, Any]]:
        nodes = [node.to_dict() for node in entry.nodes]
        for node in nodes:
            self._text.add(node)
        return nodes

    def _entry_id(self, wanted: str) -> str:
        """An id in the form of a log that no entry has yet; the one wanted, where it is one."""
        entry_id = wanted
        while _ENTRY_ID.fullmatch(entry_id) is None or entry_id in self._entry_ids:
            entry_id = hash_fields("entry", entry_id)[:16]
        self._entry_ids.add(entry_id)
        return entry_id


def _in_order(log: SessionLog) -> Iterator[LogRevision | LogFailure]:
    """Revisions and failed runs as they stood in a log."""
    entries: list[LogRevision | LogFailure] = [*log.revisions, *log.failures]
    yield from sorted(entries, key=lambda entry: entry.line)
