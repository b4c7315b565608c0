"""Small histories for tests."""

from __future__ import annotations

from typing import Any

from stateweave_graph import AgentState, Append, CausalMirror

WHEN = "2026-09-01T12:00:00.000Z"


def append(kind: str, payload: Any, parents: Any = None, **fields: Any) -> Append:
    """An append at a fixed time."""
    return Append(kind=kind, payload=payload, parents=parents, created_at=WHEN, **fields)


def story(turns: int = 3) -> AgentState:
    """A few turns: a goal, a call and its result, a file read, a memory, an answer."""
    mirror = CausalMirror()
    mirror.append(append("system", "Be brief.", advance=False))
    for turn in range(turns):
        mirror.append(append("goal", f"goal {turn}"))
        call = mirror.append(
            append("tool_call", {"name": "read_file", "args": {"path": "a.txt"}, "turn": turn})
        )
        result = mirror.append(
            append("tool_result", {"tool": "read_file", "result": {"turn": turn}}, [call.id])
        )
        version = {"path": "a.txt", "operation": "read", "succeeded": True, "turn": turn}
        mirror.append(append("resource", version, [result.id], resource_key="a.txt"))
        memory = {"type": "memory", "key": "count", "content": turn}
        mirror.append(
            append("semantic", memory, [result.id], resource_key="semantic:memory:count", advance=False)
        )
        mirror.append(append("answer", f"answer {turn}"))
    return mirror.state()


def wire(turns: int = 1) -> dict[str, Any]:
    """The same as a parsed JSON object, to be broken by a test."""
    return story(turns).to_dict()
