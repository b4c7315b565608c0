"""Histories to measure with, made the same each time."""

from __future__ import annotations

import random

from stateweave_graph import AgentState, Append, CausalMirror

WHEN = "2026-09-01T12:00:00.000Z"
KINDS = ("goal", "tool_call", "tool_result", "resource", "inference", "semantic", "answer", "verification")


def dense(nodes: int, parents: int = 14) -> AgentState:
    """A long, dense history: each node rests on the newest few and on some of all the others."""
    source = random.Random(nodes)
    mirror = CausalMirror()
    ids: list[str] = []
    for number in range(nodes):
        recent = ids[-parents // 2 :]
        older = source.sample(ids, min(len(ids), parents - len(recent)))
        kind = KINDS[number % len(KINDS)]
        key = f"src/file-{number // 8 % 200}.py" if kind == "resource" else None
        payload = {
            "number": number,
            "name": "read_file",
            "text": f"{kind} {number}: " + "some words of it " * 4,
        }
        append = Append(
            kind=kind, payload=payload, parents=[*recent, *older], resource_key=key, created_at=WHEN
        )
        ids.append(mirror.append(append).id)
    return mirror.state()
