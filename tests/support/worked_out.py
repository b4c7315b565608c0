"""The answers of the named queries, worked out from a state in plain Python."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

from stateweave_graph import AgentState, CausalNode, FailedRun
from stateweave_graph.jsontext import dumps
from stateweave_graph.mapper import tool_failed
from stateweave_graph.timestamps import judged_instant_ms

Rows = list[dict[str, Any]]


def failed(node: CausalNode) -> bool:
    return node.kind == "tool_result" and tool_failed(node.payload["result"])


def went_wrong(node: CausalNode) -> bool:
    return failed(node) or node.kind == "protocol_error"


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low, high = math.floor(place), math.ceil(place)
    return round(ordered[low] + (ordered[high] - ordered[low]) * (place - low), 1)


class WorkedOut:
    """A state looked at by hand."""

    def __init__(self, state: AgentState, runs: list[FailedRun]) -> None:
        self.state, self.runs = state, runs
        self.by_id = {node.id: node for node in state.nodes}
        self.turn: dict[str, int] = {}
        self.turns: dict[int, list[CausalNode]] = defaultdict(list)
        self.versions: dict[str, list[CausalNode]] = defaultdict(list)
        self.children: Counter[str] = Counter()
        turn = 0
        for node in state.nodes:
            turn += node.kind == "goal"
            self.turn[node.id] = turn
            self.turns[turn].append(node)
            self.children.update(node.parents)
            if node.resource_key:
                self.versions[node.resource_key].append(node)

    def answers(self) -> dict[str, Rows]:
        """The rows of each query about one agent."""
        return {
            "turns": self.rows_of_turns(),
            "tool-usage": self.tool_usage(),
            "tool-latency": self.tool_latency(),
            "failures": self.failures(),
            "hot-resources": self.hot_resources(),
            "stale-reads": self.stale_reads(),
            "fan-in": self.fan({node.id: len(node.parents) for node in self.state.nodes}),
            "fan-out": self.fan({node.id: self.children[node.id] for node in self.state.nodes}),
            "dangling-branches": self.dangling(),
            "memory-growth": self.memory_growth(),
            "goal-funnel": self.goal_funnel(),
            "busiest-nodes": self.busiest(),
        }

    def goal(self, turn: int) -> str | None:
        return next((dumps(node.payload) for node in self.turns[turn] if node.kind == "goal"), None)

    def rows_of_turns(self) -> Rows:
        rows: Rows = []
        for turn, nodes in sorted(self.turns.items()):
            if not turn:
                continue
            times = [judged_instant_ms(node.created_at) for node in nodes]
            rows.append(
                {
                    "turn": turn,
                    "goal": self.goal(turn),
                    "answer": max((dumps(n.payload) for n in nodes if n.kind == "answer"), default=None),
                    "nodes": len(nodes),
                    "calls": sum(node.kind == "tool_call" for node in nodes),
                    "failures": sum(map(failed, nodes)),
                    "ms": max(times) - min(times),
                }
            )
        return rows

    def tool_usage(self) -> Rows:
        tools: dict[str, Counter[str]] = defaultdict(Counter)
        for node in self.state.nodes:
            if node.kind == "tool_call":
                tools[node.payload["name"]]["calls"] += 1
            if node.kind == "tool_result":
                tools[node.payload["tool"]]["results"] += 1
                tools[node.payload["tool"]]["failures"] += failed(node)
        rows: Rows = [
            {
                "tool": tool,
                "calls": found["calls"],
                "results": found["results"],
                "failures": found["failures"],
                "share": round(found["failures"] / max(found["results"], 1), 3),
            }
            for tool, found in tools.items()
        ]
        return sorted(rows, key=lambda row: (-row["calls"], row["tool"]))

    def tool_latency(self) -> Rows:
        waits: dict[str, list[float]] = defaultdict(list)
        for node in self.state.nodes:
            for parent in (self.by_id[parent] for parent in node.parents if node.kind == "tool_result"):
                if parent.kind == "tool_call":
                    wait = judged_instant_ms(node.created_at) - judged_instant_ms(parent.created_at)
                    waits[node.payload["tool"]].append(wait)
        rows: Rows = [
            {"tool": tool, "results": len(ms), "p50": percentile(ms, 0.5), "p95": percentile(ms, 0.95)}
            for tool, ms in waits.items()
        ]
        return sorted(rows, key=lambda row: (-row["p95"], row["tool"]))

    def failures(self) -> Rows:
        rows: Rows = [
            {
                "turn": self.turn[node.id],
                "at": node.created_at,
                "what": node.kind.value,
                "tool": node.payload.get("tool") if isinstance(node.payload, dict) else None,
                "goal": self.goal(self.turn[node.id]),
                "text": dumps(node.payload),
            }
            for node in self.state.nodes
            if went_wrong(node)
        ]
        rows += [
            {
                "turn": 0,
                "at": run.at,
                "what": "failed_run",
                "tool": run.run_id,
                "goal": run.input,
                "text": run.error,
            }
            for run in self.runs
        ]
        return sorted(rows, key=lambda row: (row["at"], row["turn"], row["what"], row["text"]))

    def hot_resources(self) -> Rows:
        rows: Rows = [
            {
                "resource": key,
                "versions": len(nodes),
                "reads": sum(node.payload.get("operation") == "read" for node in nodes),
                "writes": sum(node.payload.get("operation") == "write" for node in nodes),
            }
            for key, nodes in self.versions.items()
            if not key.startswith("semantic:")
        ]
        return sorted(rows, key=lambda row: (-row["versions"], row["resource"]))

    def stale_reads(self) -> Rows:
        rows: Rows = []
        for node in self.state.nodes:
            for key, nodes in sorted(self.versions.items()):
                if node.kind != "answer" or key.startswith("semantic:"):
                    continue
                seen = [number for number, found in enumerate(nodes, 1) if found.id in node.parents]
                there = [number for number, found in enumerate(nodes, 1) if found.sequence < node.sequence]
                if seen and max(there) > max(seen):
                    rows.append(
                        {
                            "answer": node.sequence,
                            "turn": self.turn[node.id],
                            "resource": key,
                            "seen": max(seen),
                            "newest": max(there),
                        }
                    )
        return rows

    def fan(self, edges: dict[str, int]) -> Rows:
        kinds: dict[str, list[int]] = defaultdict(list)
        for node in self.state.nodes:
            kinds[node.kind.value].append(edges[node.id])
        return [
            {"kind": kind, "nodes": len(found), "mean": round(sum(found) / len(found), 2), "most": max(found)}
            for kind, found in sorted(kinds.items())
        ]

    def dangling(self) -> Rows:
        return [
            {"sequence": node.sequence, "id": node.id, "kind": node.kind.value, "turn": self.turn[node.id]}
            for node in self.state.nodes
            if not self.children[node.id] and node.id not in self.state.frontier
        ]

    def memory_growth(self) -> Rows:
        rows: dict[int, Counter[str]] = defaultdict(Counter)
        for key, nodes in self.versions.items():
            for number, node in enumerate(nodes, 1):
                if key.startswith("semantic:"):
                    rows[self.turn[node.id]]["written"] += 1
                    rows[self.turn[node.id]]["begun"] += number == 1
        return [
            {"turn": turn, "written": found["written"], "begun": found["begun"]}
            for turn, found in sorted(rows.items())
        ]

    def goal_funnel(self) -> Rows:
        ends: Counter[str] = Counter()
        for turn, nodes in self.turns.items():
            if turn:
                answered = any(node.kind == "answer" for node in nodes)
                ends[
                    "answered" if answered else "failed" if any(map(went_wrong, nodes)) else "abandoned"
                ] += 1
        return [
            {"goals": sum(ends.values()), **{end: ends[end] for end in ("answered", "failed", "abandoned")}}
        ]

    def busiest(self) -> Rows:
        rows: Rows = [
            {
                "sequence": node.sequence,
                "id": node.id,
                "kind": node.kind.value,
                "children": self.children[node.id],
            }
            for node in self.state.nodes
            if self.children[node.id]
        ]
        return sorted(rows, key=lambda row: (-row["children"], row["sequence"]))[:20]
