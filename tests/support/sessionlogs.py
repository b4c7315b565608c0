"""Session logs for tests: built record by record, broken where a test wants it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from stateweave_graph.errors import (
    SessionLogError,
)
from stateweave_graph.identity import node_id
from stateweave_graph.sessionlog import read_session_log

VECTORS = Path(__file__).parents[1] / "vectors"
SESSIONS = VECTORS / "sessions"
EXPECTED = json.loads((SESSIONS / "expected.json").read_text("utf-8"))
INVALID_RULES = json.loads((SESSIONS / "invalid-rules.json").read_text("utf-8"))

SESSION_ID = "sws_0123456789abcdef0123456789abcdef"
AT = "2026-05-01T09:00:00.000Z"
HEADER = {"type": "session", "version": 1, "sessionId": SESSION_ID, "createdAt": AT}
COUNTS = {
    "latestContextTokens": 10,
    "peakContextTokens": 20,
    "totalInputTokens": 30,
    "outputTokens": 4,
    "modelCalls": 1,
    "maxPromptTokens": 64000,
    "projectionTargetTokens": 16000,
}
RUN = {"runId": "sw_1", "startedAt": AT, "completedAt": AT, "tokenCountSource": "provider", **COUNTS}
METADATA = {**RUN, "engine": "causal-weave-v3", "status": "done"}


def usage(turn: float, **fields: Any) -> dict[str, Any]:
    return {**RUN, "turn": turn, "status": "done", **fields}


def copy_of(value: Any) -> Any:
    return json.loads(json.dumps(value))


def text_of(value: Any) -> str:
    """For the states that these tests build, Python's compact JSON is JavaScript's."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("Infinity", "1e999")


def hash_of(state: dict[str, Any]) -> str:
    return hashlib.sha256(text_of(state).encode("utf-8", "surrogatepass")).hexdigest()


class LogBuilder:
    """Builds a valid log record by record, and counts as format.md says, apart from the code under test."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = [copy_of(HEADER)]
        self.nodes: list[dict[str, Any]] = []
        self.frontier: list[str] = []
        self.has_state = False
        self.leaf: str | None = None
        self.turn_count = 0
        self.interactions = 0
        self.failed = 0
        self.revisions: list[tuple[str, int, list[str], str]] = []

    def state(self) -> dict[str, Any]:
        return {"version": 1, "nodes": copy_of(self.nodes), "frontier": list(self.frontier)}

    def new_nodes(self, *kinds: str, payload: Any = "text", **fields: Any) -> list[dict[str, Any]]:
        """Nodes in a chain from the last one; they join the state that is built."""
        added = []
        for kind in kinds:
            parents = [self.nodes[-1]["id"]] if self.nodes else []
            node = {
                "id": node_id(kind, parents, payload, fields.get("resourceKey")),
                "kind": kind,
                "parents": parents,
                "payload": payload,
                "createdAt": AT,
                "sequence": len(self.nodes) + 1,
                **fields,
            }
            self.nodes.append(node)
            added.append(copy_of(node))
        if added:
            self.frontier = [added[-1]["id"]]
        return added

    def entry(self, kind: str, **fields: Any) -> dict[str, Any]:
        number = len(self.records)
        record = {"type": kind, "id": f"{number:016x}", "parentId": self.leaf, "timestamp": AT, **fields}
        self.records.append(record)
        return record

    def bootstrap(
        self, *kinds: str, usage_history: list[Any] | None = None, state: bool = True
    ) -> LogBuilder:
        history = usage_history or []
        if state:
            self.new_nodes(*kinds)
            self.entry("bootstrap", state=self.state(), usageHistory=history)
            self._revision("bootstrap")
        else:
            self.entry("bootstrap", usageHistory=history)
        kinds_there = [node["kind"] for node in self.nodes] if state else []
        self.turn_count += kinds_there.count("answer")
        messages = kinds_there.count("goal") + kinds_there.count("answer") + 2 * self.failed
        turns = [record["turn"] for record in history]
        self.interactions = max([self.interactions, -(-messages // 2), *turns])
        return self

    def turn(self, *kinds: str, **fields: Any) -> LogBuilder:
        self.interactions += 1
        self.turn_count += 1
        added = self.new_nodes(*kinds, **fields)
        record = self.entry(
            "turn_commit",
            turn=self.interactions,
            runId="sw_1",
            input="question",
            finalAnswer="reply",
            newNodes=added,
            frontier=list(self.frontier),
            stateHash=hash_of(self.state()),
            metadata=copy_of(METADATA),
        )
        self._revision("turn_commit")
        self.leaf = record["id"]
        return self

    def fail(self, **fields: Any) -> LogBuilder:
        self.interactions += 1
        self.failed += 1
        self.entry("run_error", turn=self.interactions, input="question", error="503", **fields)
        return self

    def checkpoint(self, *kinds: str) -> LogBuilder:
        """A checkpoint of the state there; with kinds, one that brings in a state of such nodes."""
        self.new_nodes(*kinds)
        state = self.state()
        self.entry(
            "checkpoint",
            turnCount=self.turn_count,
            interactionCount=self.interactions,
            state=state,
            stateHash=hash_of(state),
        )
        if not self.has_state:
            self._revision("checkpoint")
        return self

    def _revision(self, kind: str) -> None:
        self.has_state = True
        self.revisions.append((kind, len(self.nodes), list(self.frontier), hash_of(self.state())))

    def data(self) -> bytes:
        return "".join(text_of(record) + "\n" for record in self.records).encode()


def two_turns() -> LogBuilder:
    return LogBuilder().turn("system", "goal", "answer").turn("goal", "answer")


def corrupt(data: bytes) -> SessionLogError:
    with pytest.raises(SessionLogError) as caught:
        read_session_log(data)
    return caught.value


def corruption(log: LogBuilder) -> tuple[str, int]:
    error = corrupt(log.data())
    return error.rule, error.line
