"""States and records for the contract suite."""

from __future__ import annotations

import random
from typing import Any, cast
from uuid import uuid4

from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import AgentState, Append
from stateweave_graph.records import Batch, Known, Wanted
from stateweave_graph.repository.commits import SaveRequest, save_on
from stateweave_graph.repository.ground import Ground
from stateweave_graph.repository.requests import ANY_REVISION, Expectation
from stateweave_graph.repository.snapshots import NodeChain, Snapshot
from stateweave_graph.stores.base import StoreWriter

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


def dense_state(nodes: int, parents: int) -> AgentState:
    """A history in which each node rests on many, the first ones on all."""
    source = random.Random(nodes)  # noqa: S311  (nothing secret)
    mirror = CausalMirror()
    ids: list[str] = []
    for number in range(nodes):
        chosen = source.sample(ids, min(parents, len(ids))) if number % 3 else ids[-parents:]
        ids.append(mirror.append(append("inference", number, chosen)).id)
    return mirror.state()


def hostile_state() -> AgentState:
    """Everything that a database may get wrong."""
    mirror = CausalMirror()
    payloads: list[Any] = [
        "NUL \x00, tab \t, quote ', backslash \\, 😀, é and e\u0301, U+FFFF \uffff, \u202e",
        {"lone": "\ud800", "\udfff": 1, "order": {"b": 1, "a": 2, "10": 3, "9": 4}},
        {"digits": 10**300 + 7, "negative": -(2**70), "float": 1.5, "tiny": 5e-324, "one": 1.0},
        [],
        {},
        None,
        True,
        "",
        "x" * 100_000,
        {"type": "memory", "key": "\ud83d", "content": [None, False, {"deep": [[[[]]]]}]},
    ]
    for number, payload in enumerate(payloads):
        mirror.append(append("semantic", payload, resource_key=f"key {number % 3} ' \x00 😀"))
    mirror.append(append("resource", {"operation": "read"}, resource_key="k" * 20_000))
    mirror.append(append("goal", "twice", []))
    mirror.append(append("goal", "twice more", [], advance=False))
    wire = mirror.state().to_dict()
    wire["nodes"][0]["note"] = {"z": 1, "a": "\ud800", "n": 2**80}
    wire["nodes"][1]["createdAt"] = "Tue, 01 Sep 2026 12:00:00 GMT"
    wire["nodes"][2]["createdAt"] = "0001-01-01"
    wire["frontier"] = [node["id"] for node in wire["nodes"][::-2]]
    return AgentState.model_validate(wire)


def batches_of(agent_id: str, state: AgentState, parts: int = 1) -> list[Batch]:
    """A state as the commits of a new history, made as a repository makes them."""
    recorder = _Recorder()
    chain = NodeChain(state.nodes)
    ground = Ground(None)
    count = len(state.nodes)
    for part in range(1, parts + 1):
        end = count * part // parts
        last = state.frontier if part == parts else [node.id for node in state.nodes[max(0, end - 2) : end]]
        request = SaveRequest(
            agent_id=agent_id,
            expected=Expectation.of(agent_id, ANY_REVISION),
            commit_id=f"commit {part}",
            metadata=f'{{"part":{part}}}' if part % 2 else None,
            snapshot=Snapshot(chain, end, last),
        )
        ground = save_on(cast(StoreWriter, recorder), request, ground).ground or ground
    return recorder.batches


class _Recorder:
    """A writer of a new history, which nothing has to be looked up for: it keeps what would be written."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def new_history(self, agent_id: str) -> str:
        return uuid4().hex

    def write(self, batch: Batch) -> None:
        self.batches.append(batch)

    def lookup(self, history: str, wanted: Wanted) -> Known:
        raise AssertionError(f"{history} is new; nothing of {wanted} is stored")
