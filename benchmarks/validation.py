"""`validate` and `from_json` of three states, against the same rules in Node.

    python -m benchmarks.validation [--quick]

Both are warm, read the same bytes, which lie in memory, and take turns. Before that, both judge every case of
tests/vectors, and must find the same rules broken at the same places. Wants a `node` of version 20 or newer.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.report import Measure, finish, options
from benchmarks.states import STATES
from stateweave_graph import AgentState, validate

PEER = Path(__file__).parent / "peers" / "validate.mjs"
VECTORS = Path(__file__).parents[1] / "tests" / "vectors"
QUICK = {"dense": (300, 4_200), "nested": (300,), "wide": (300, 100)}
BOUNDS = {"validate": 1.0, "from_json": 0.7}


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    rounds = 3 if chosen.quick else 15
    states = {name: make(*(QUICK[name] if chosen.quick else ())) for name, make in STATES.items()}
    measures = []
    with tempfile.TemporaryDirectory() as folder, node_peer() as peer:
        cases = compare_on_vectors(peer)
        for name, data in states.items():
            path = Path(folder) / f"{name}.json"
            path.write_bytes(data)
            version = peer.ask("load", path)["node"]
            measures += compare(name, data, peer, path, rounds)
    finish("validation", measures, chosen, node=version, cases_judged_alike=cases)


class Peer:
    """The rules in Node, asked line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, request: str, path: Path) -> dict[str, Any]:
        """The answer to one request; the process lives on."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({request: str(path)}), file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@contextmanager
def node_peer() -> Iterator[Peer]:
    """The peer, started; it ends with its input."""
    node = shutil.which("node")
    if node is None:
        raise SystemExit(
            "node is not installed, and it is what this is measured against; it wants 20 or newer"
        )
    environment = {**os.environ, "LC_ALL": "en_US.UTF-8"}  # a locale that orders keys as the root does
    with subprocess.Popen(
        [node, str(PEER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield Peer(process)


def compare_on_vectors(peer: Peer) -> int:
    """How many cases both judged, all of them alike."""
    paths = sorted([*VECTORS.glob("valid/*.json"), *VECTORS.glob("invalid/*.json")])
    for path in paths:
        ours = {(violation.rule, violation.path) for violation in validate(path.read_bytes())}
        theirs = {tuple(found) for found in peer.ask("check", path)["found"]}
        assert ours == theirs, f"{path.name}: {ours ^ theirs}"
        assert bool(ours) == (path.parent.name == "invalid"), path.name
    return len(paths)


def compare(name: str, data: bytes, peer: Peer, path: Path, rounds: int) -> list[Measure]:
    """Rates of nodes a second, over the medians of the rounds."""
    state = AgentState.from_json(data)
    nodes, parents = len(state.nodes), sum(len(node.parents) for node in state.nodes)
    del state
    works = {"validate": validate, "from_json": AgentState.from_json}
    seconds: dict[str, list[float]] = {"node": [], **{work: [] for work in works}}
    for number in range(rounds + 3):
        answer = peer.ask("run", path)
        assert answer["violations"] == 0
        times = {"node": answer["ms"] / 1000}
        for work, call in works.items():
            began = time.perf_counter()
            call(data)
            times[work] = time.perf_counter() - began
        if number >= 3:  # the first rounds warm both up
            for work, taken in times.items():
                seconds[work].append(taken)
    median = {work: statistics.median(taken) for work, taken in seconds.items()}
    what = f"{name}: {nodes:,} nodes, {parents:,} parents, {len(data) / 1e6:.1f} MB"
    return [
        Measure(
            work=f"`{work}` of {what}",
            peer="the same rules in Node",
            ratio=round(median["node"] / median[work], 3),
            bound=bound,
            sense="at least",
            figures={
                "ours_nodes_per_second": round(nodes / median[work]),
                "peer_nodes_per_second": round(nodes / median["node"]),
                "ours_ms": round(median[work] * 1000, 1),
                "peer_ms": round(median["node"] * 1000, 1),
                "rounds": rounds,
            },
        )
        for work, bound in BOUNDS.items()
    ]


if __name__ == "__main__":
    main()
