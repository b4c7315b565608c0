"""Writes the example histories beside this file; run again, it writes the same bytes.

    python examples/make_examples.py [FOLDER]

The agents, their files and their people are made up. Ids, parents and hashes are what StateWeave's own agent
would have written: the appends are those of format.md, *What the SDK's agent appends*.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from scripts import CODING, RESEARCH, SUPPORT, TABI, Step, Turn

from stateweave_graph import AgentState, Append, CausalMirror, CausalNode
from stateweave_graph.javascript import javascript_json
from stateweave_graph.timestamps import datetime_ms, iso_text

OLDER_NODES = 48
NEWEST_NODES = 10


class Scribe:
    """Plays turns on a mirror, with the parents that the SDK's agent gives."""

    def __init__(self, start: str, minutes_between_turns: int) -> None:
        self.mirror = CausalMirror()
        self.clock = datetime.fromisoformat(start).replace(tzinfo=timezone.utc)
        self.pause = timedelta(minutes=minutes_between_turns)
        self.nodes: list[CausalNode] = []
        self.goal: CausalNode | None = None

    def now(self, seconds: float = 0) -> str:
        """The time of the story, moved on."""
        self.clock += timedelta(seconds=seconds)
        return iso_text(datetime_ms(self.clock))

    def add(self, kind: str, payload: Any, parents: Sequence[str] | None = None, **fields: Any) -> CausalNode:
        """Append one node, some seconds later."""
        wait = 1.25 + len(self.nodes) % 7 * 0.5
        node = self.mirror.append(
            Append(kind=kind, payload=payload, parents=parents, created_at=self.now(wait), **fields)
        )
        if node.sequence > len(self.nodes):
            self.nodes.append(node)
        return node

    def prompt(self) -> list[str]:
        """Everything that is in the prompt."""
        seen = [self.mirror.system_id or "", self.goal.id if self.goal else ""]
        seen += self.mirror.frontier
        seen += self.mirror.resource_heads.values()
        seen += [node.id for node in self.nodes[-NEWEST_NODES:]]
        older = self.nodes[:-NEWEST_NODES]
        seen += [node.id for node in older[:: max(1, len(older) // OLDER_NODES)][:OLDER_NODES]]
        return [node_id for node_id in dict.fromkeys(seen) if node_id]

    def system(self, text: str) -> None:
        """The first system prompt, or a new one."""
        self.add("system", text, advance=self.mirror.system_id is not None)

    def play(self, turn: Turn) -> CausalNode:
        """One turn; its answer."""
        self.clock += self.pause
        parents = [node_id for node_id in (self.mirror.system_id, *self.mirror.frontier) if node_id]
        self.goal = self.add("goal", turn.goal, parents)
        for step in turn.steps:
            self.work(step)
        answer = self.add("answer", turn.answer, self.prompt())
        for kind, key, content in turn.remember:
            payload = {"type": kind, "key": key, "content": content}
            self.add("semantic", payload, [answer.id], resource_key=f"semantic:{kind}:{key}", advance=False)
        return answer

    def work(self, step: Step) -> None:
        """One tool call with all that hangs on it."""
        if step.slip is not None:
            slip = self.add("inference", step.slip, self.prompt())
            self.add("protocol_error", "That is no valid action. Answer with one JSON action.", [slip.id])
        raw = json.dumps({"tool": step.tool, "args": step.args}, ensure_ascii=False)
        call = self.add("tool_call", {"name": step.tool, "args": step.args, "raw": raw}, self.prompt())
        result = self.add("tool_result", {"tool": step.tool, "result": step.result}, [call.id])
        if step.touches is not None:
            payload: dict[str, Any] = {"path": step.touches, "operation": step.operation}
            text = json.dumps(step.args, sort_keys=True) + str(
                len(self.nodes) if step.operation == "write" else ""
            )
            payload["contentHash"] = hashlib.sha256(text.encode()).hexdigest()
            payload["bytes"] = 400 + len(text) * 37 % 9_000
            payload["succeeded"] = "error" not in step.result
            self.add("resource", payload, [result.id], resource_key=step.touches)
        if step.checks is not None:
            self.add("verification", {"method": "command", "command": step.checks}, [result.id])


def snapshot(
    start: str, minutes: int, system: Sequence[tuple[int, str]], turns: Sequence[Turn]
) -> AgentState:
    """A history as one snapshot; ``system`` has the prompts, each with the turn before which it is set."""
    scribe = Scribe(start, minutes)
    prompts = dict(system)
    for number, turn in enumerate(turns):
        if number in prompts:
            scribe.system(prompts[number])
        scribe.play(turn)
    return scribe.mirror.state()


class LogWriter:
    """A session log as the SDK's file store writes it."""

    def __init__(self, name: str, scribe: Scribe, system: str) -> None:
        self.name, self.scribe, self.system = name, scribe, system
        session = f"sws_{self._hash(name)[:32]}"
        header = {"type": "session", "version": 1, "sessionId": session, "createdAt": scribe.now()}
        self.lines = [javascript_json(header)]
        self.turn = self.committed = 0
        self.parent: str | None = None

    def commit(self, turn: Turn) -> None:
        """A turn that went well."""
        scribe, first = self.scribe, len(self.scribe.nodes)
        started = scribe.now()
        if not first:
            scribe.system(self.system)
        answer = scribe.play(turn)
        self.turn += 1
        run = self._run()
        metadata = {
            "runId": run, "engine": "causal-weave-v3", "status": "done",
            "startedAt": started, "completedAt": scribe.now(0.5),
            "latestContextTokens": 900 + 61 * len(scribe.nodes),
            "peakContextTokens": 1_100 + 64 * len(scribe.nodes),
            "totalInputTokens": 2_400 + 180 * len(scribe.nodes), "outputTokens": 90 + len(turn.answer) // 3,
            "modelCalls": len(turn.steps) + 1, "maxPromptTokens": 64_000, "projectionTargetTokens": 48_000,
            "tokenCountSource": "provider",
        }  # fmt: skip
        entry = self._entry(
            "turn_commit", turn=self.turn, runId=run, input=turn.goal, finalAnswer=turn.answer
        )
        entry |= {
            "userNodeId": scribe.goal.id if scribe.goal else None,
            "assistantNodeId": answer.id,
            "newNodes": [node.to_dict() for node in scribe.nodes[first:]],
            "frontier": scribe.mirror.frontier,
            "stateHash": self._state_hash(),
            "metadata": metadata,
        }
        self.lines.append(javascript_json(entry))
        self.parent = entry["id"]
        self.committed += 1

    def fail(self, goal: str, error: str) -> None:
        """A run that failed and added nothing."""
        self.scribe.clock += self.scribe.pause
        self.turn += 1
        entry = self._entry("run_error", turn=self.turn, runId=self._run(), input=goal, error=error)
        self.lines.append(javascript_json(entry))

    def checkpoint(self) -> None:
        """A checkpoint of the state there."""
        entry = self._entry("checkpoint", turnCount=self.committed, interactionCount=self.turn)
        entry |= {"state": self.scribe.mirror.state().to_dict(), "stateHash": self._state_hash()}
        self.lines.append(javascript_json(entry))

    def text(self) -> str:
        """The whole log."""
        return "".join(f"{line}\n" for line in self.lines)

    def _entry(self, kind: str, **fields: Any) -> dict[str, Any]:
        identity = self._hash(f"{self.name}/{kind}/{len(self.lines)}")[:16]
        return {
            "type": kind,
            "id": identity,
            "parentId": self.parent,
            "timestamp": self.scribe.now(1),
            **fields,
        }

    def _run(self) -> str:
        return f"run_{self._hash(f'{self.name}/run/{len(self.lines)}')[:12]}"

    def _state_hash(self) -> str:
        return self._hash(javascript_json(self.scribe.mirror.state().to_dict()))

    def _hash(self, text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()


def support_log() -> str:
    """The support bot's session log: six turns, two failed runs, a checkpoint."""
    scribe = Scribe("2026-09-07T08:02:11.000", 17)
    writer = LogWriter("support-bot", scribe, SUPPORT.system[0][1])
    for number, turn in enumerate(SUPPORT.turns):
        if number == 2:
            writer.fail(turn.goal, "the model's answer was cut off after 4096 tokens")
        if number == 5:
            writer.fail(turn.goal, "track_parcel: connection timed out after 30 s")
        writer.commit(turn)
        if number == 3:
            writer.checkpoint()
    return writer.text()


def triage() -> AgentState:
    """A history with branches, failures and goals given up: an agent that looks into an incident."""
    scribe = Scribe("2026-11-09T09:41:00.000", 3)
    add = scribe.add

    def look(tool: str, args: dict[str, Any], result: dict[str, Any], on: CausalNode) -> CausalNode:
        asked = add("tool_call", {"name": tool, "args": args}, [on.id])
        return add("tool_result", {"tool": tool, "result": result}, [asked.id])

    def version(path: str, operation: str, on: CausalNode) -> CausalNode:
        payload = {"path": path, "operation": operation, "succeeded": True}
        return add("resource", payload, [on.id], resource_key=path)

    scribe.system("You look into incidents of the checkout service. Try causes apart from each other.")
    slow = add("goal", "Checkout has been slow since 9:40. Why?")
    database = add("inference", "It may be the database: the nightly index was dropped.", [slow.id])
    cache = add("inference", "It may be the cache: its nodes were moved yesterday.", [slow.id])
    plan = look("explain_query", {"query": "open orders"}, {"ok": True, "scans": "orders"}, database)
    lost = look("cache_stats", {"cluster": "eu-1"}, {"error": "connection timed out after 10 s"}, cache)
    again = look("cache_stats", {"cluster": "eu-1"}, {"ok": True, "hits": 0.97}, lost)
    runbook = version("runbooks/checkout.md", "read", plan)
    found = add("answer", "The database: the query scans orders. The cache is fine.", [runbook.id, again.id])
    memory = {"type": "wisdom", "key": "slow-checkout", "content": "Look for a scan of orders first."}
    add("semantic", memory, [found.id], resource_key="semantic:wisdom:slow-checkout", advance=False)

    mend = add("goal", "Put the index back.")
    slip = add("inference", "CREATE INDEX orders_open ...", [mend.id])
    add("protocol_error", "That is no valid action. Answer with one JSON action.", [slip.id])
    look("run_sql", {"file": "index.sql"}, {"ok": False, "reason": "lock wait"}, slip)

    add("goal", "Never mind, I have done it by hand.")

    tell = add("goal", "What do we tell the shops?", list(scribe.mirror.frontier))
    newer = look("edit", {"path": "runbooks/checkout.md"}, {"ok": True}, tell)
    version("runbooks/checkout.md", "write", newer)
    add(
        "answer",
        "That it was a missing index, and is over (after the runbook as it was).",
        [tell.id, runbook.id],
    )
    review = {"operation": "change_impact_review", "status": "open", "sourceNodeIds": [newer.id]}
    add("verification", review, [newer.id], resource_key="change-review:runbook", advance=False)
    return scribe.mirror.state()


def main(folder: Path) -> None:
    """Write all examples."""
    snapshots = {
        "coding-agent.json": snapshot("2026-09-01T07:30:00.000", 6, CODING.system, CODING.turns),
        "research-agent.json": snapshot("2026-08-17T09:00:00.000", 41, RESEARCH.system, RESEARCH.turns),
        "tabi-agent.json": snapshot("2026-10-03T01:15:00.000", 9, TABI.system, TABI.turns),
    }
    snapshots["triage-agent.json"] = triage()
    for name, state in snapshots.items():
        (folder / name).write_text(f"{state.to_json()}\n", encoding="utf-8")
    (folder / "support-bot.jsonl").write_text(support_log(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
