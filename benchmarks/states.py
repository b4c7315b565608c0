"""Three states to judge, made the same each time: long texts and many parents, nested objects, wide nodes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from stateweave_graph import node_id

KINDS = ("goal", "tool_call", "tool_result", "resource", "inference", "semantic", "answer", "verification")
TEXT = (
    "the order was sent on Monday and the parcel is in transit but nobody signed for it so the agent asks "
    '“where is it?” and reads\nwhat the carrier wrote: C:\\parcels\\7.txt says "left with a neighbour"'
)
WORDS = TEXT.split(" ")
CITIES = ("Lisboa", "Wien", "Kraków", "Utrecht", "Malmö", "Graz")


def dense_state(nodes: int = 8_335, parents: int = 118_206) -> bytes:
    """A long history of texts in which each node rests on fourteen or fifteen others."""
    source = random.Random(1)
    each = parents // nodes
    more = parents - sum(min(number, each) for number in range(nodes))
    later = range(each + 1, nodes)  # those before can't have more, since too few stand before them

    def number_of_parents(number: int) -> int:
        place = number - later.start
        one_more = place * more // len(later) != (place + 1) * more // len(later)
        return each + (number in later and one_more)

    def payload(number: int) -> Any:
        return f"{number}: " + " ".join(source.choices(WORDS, k=28))

    return _state(nodes, number_of_parents, payload, source)


def nested_state(nodes: int = 8_000) -> bytes:
    """Calls and results of tools: objects in objects, keys in mixed case, many floats."""
    source = random.Random(2)

    def price() -> float:
        return round(source.uniform(20, 900), 2)

    def offer() -> dict[str, Any]:
        place = {"lat": source.uniform(36, 60), "Lng": source.uniform(-9, 22)}
        return {"Name": source.choice(CITIES), "price": price(), "Score": source.random(), "geo": place}

    def payload(number: int) -> Any:
        filters = {"nonStop": number % 2 == 0, "Cabin": "economy", "maxPrice": price(), "stops": None}
        usage = {"promptTokens": number, "CompletionTokens": 7, "costUSD": source.random() / 100}
        return {
            "toolName": "searchFlights",
            "Arguments": {"from": source.choice(CITIES), "To": source.choice(CITIES), "filters": filters},
            "results": [offer() for _ in range(5 + number % 5)],
            "Usage": {**usage, "latencyMs": source.uniform(5, 900)},
            "_trace": {"spanId": f"{number:016x}", "ParentId": None},
        }

    return _state(nodes, lambda number: 3, payload, source)


def wide_state(nodes: int = 2_000, parents: int = 500) -> bytes:
    """Nodes that rest on hundreds of others, with keys in several scripts."""
    source = random.Random(3)

    def payload(number: int) -> Any:
        return {
            "名前": source.choice(CITIES),
            "größe": number,
            "état": {"terminé": number % 2 == 0, "durée": source.randrange(9000), "Ärger": None},
            "ключ": f"значение {number}",
        }

    return _state(nodes, lambda number: parents, payload, source)


STATES: dict[str, Callable[..., bytes]] = {"dense": dense_state, "nested": nested_state, "wide": wide_state}


def _state(
    nodes: int, parents_of: Callable[[int], int], payload_of: Callable[[int], Any], source: random.Random
) -> bytes:
    ids: list[str] = []
    wire = []
    for number in range(nodes):
        kind = KINDS[number % len(KINDS)]
        parents = _parents(ids, parents_of(number), source)
        payload = payload_of(number)
        key = f"src/file-{number // 8 % 200}.py" if kind == "resource" else None
        node = {
            "id": node_id(kind, parents, payload, key),
            "kind": kind,
            "parents": parents,
            "payload": payload,
            "createdAt": f"2026-09-{1 + number // 86_400:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}"
            f":{number % 60:02}.{number % 1000:03}Z",
            "sequence": number + 1,
        }
        if key is not None:
            node["resourceKey"] = key
        ids.append(node["id"])
        wire.append(node)
    state = {"version": 1, "nodes": wire, "frontier": ids[-1:]}
    return json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode()


def _parents(ids: Sequence[str], count: int, source: random.Random) -> list[str]:
    """The newest few and some of all the others, sorted."""
    recent = ids[-(count // 2) :] if count > 1 else ids[-count:]
    older = source.sample(ids[: len(ids) - len(recent)], min(len(ids) - len(recent), count - len(recent)))
    return sorted([*recent, *older])
