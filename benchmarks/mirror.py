"""A long, dense history as a `CausalMirror`, against networkx with a dict for every node and edge.

    python -m benchmarks.mirror [--quick]

Memory is what each has allocated when it stands, without the state itself, each in a process of its own.
Times are of one process, in turn. Both graphs must have the same nodes, edges and attributes.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import networkx as nx

from benchmarks.histories import dense
from benchmarks.report import Measure, alternately, finish, ms, options
from stateweave_graph import AgentState, CausalMirror

MEMORY, TIME = 0.5, 1.0


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    state = dense(2_000 if chosen.quick else 100_000)
    edges = sum(len(node.parents) for node in state.nodes)
    compare(state)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        path.write_text(state.to_json(), "utf-8")
        bytes_of = {what: memory_of(what, path) for what in BUILDERS}
    gc.collect()
    gc.freeze()  # the state is not what is measured, so no collection should walk through it
    ours, peer = alternately([lambda: build_ours(state), lambda: build_plain(state)], 5)
    work = f"mirror of {len(state.nodes):,} nodes and {edges:,} edges"
    finish(
        "mirror",
        [
            Measure(
                work=f"{work}: memory",
                peer="networkx with plain attributes",
                ratio=round(bytes_of["ours"] / bytes_of["networkx"], 3),
                bound=MEMORY,
                sense="at most",
                figures={
                    "ours_mb": round(bytes_of["ours"] / 1e6, 1),
                    "peer_mb": round(bytes_of["networkx"] / 1e6, 1),
                },
            ),
            Measure(
                work=f"{work}: time to make it",
                peer="networkx with plain attributes",
                ratio=round(ms(ours) / ms(peer), 3),
                bound=TIME,
                sense="at most",
                figures={"ours_ms": ms(ours), "peer_ms": ms(peer), "rounds": len(ours)},
            ),
        ],
        chosen,
        networkx=nx.__version__,
    )


def build_ours(state: AgentState) -> CausalMirror:
    """The mirror; its graph is one part of it."""
    return CausalMirror(state)


def build_plain(state: AgentState) -> Any:
    """The same nodes, edges and attributes, as networkx takes them."""
    graph = nx.DiGraph()
    key_of = {node.id: node.resource_key for node in state.nodes}
    turn = 0
    for node in state.nodes:
        key = node.resource_key
        turn += node.kind.value == "goal"
        more = {} if key is None else {"resourceKey": key}
        graph.add_node(
            node.id,
            kind=node.kind.value,
            sequence=node.sequence,
            turn=turn,
            createdAt=node.created_at,
            **more,
            payload=node.payload,
        )
        for parent in node.parents:
            if key and key_of[parent] == key:
                graph.add_edge(node.id, parent, sequence=node.sequence, resourceKey=key)
            else:
                graph.add_edge(node.id, parent, sequence=node.sequence)
    return graph


BUILDERS = {"ours": build_ours, "networkx": build_plain}


def compare(state: AgentState) -> None:
    """See that nothing is missing in one of them."""
    ours, plain = build_ours(state).graph, build_plain(state)
    assert ours.nodes.keys() == plain.nodes.keys()
    assert all(dict(data) == plain.nodes[node] for node, data in ours.nodes(data=True))
    assert ours.number_of_edges() == plain.number_of_edges()
    assert all(dict(data) == plain.edges[child, parent] for child, parent, data in ours.edges(data=True))


def memory_of(what: str, path: Path) -> int:
    """Bytes, from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", f"from benchmarks.mirror import measure\nmeasure({what!r}, {str(path)!r})"],
        check=True,
        capture_output=True,
        text=True,
    )
    measured: int = json.loads(done.stdout)
    return measured


def measure(what: str, path: str) -> None:
    """Print the bytes that stand allocated for one of them."""
    state = AgentState.from_json(Path(path).read_bytes())
    build = BUILDERS[what]
    gc.collect()
    tracemalloc.start()
    built = build(state)
    gc.collect()
    print(tracemalloc.get_traced_memory()[0])
    del built


if __name__ == "__main__":
    main()
