"""The same states kept by LangGraph's SQLite saver: time for a turn more, and bytes for each.

    python -m benchmarks.checkpoints [--quick]

Both write to files on the same file system, with a write-ahead log and ``synchronous=FULL``. The saver's
``put`` takes the whole state, as is meant; ours is asked for an ``append`` of the turn, and for a ``save``
of the whole state, which writes the turn and hashes the rest. Needs the extra ``bench``.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.commits import appends
from benchmarks.histories import dense
from benchmarks.report import Measure, finish, ms, options
from stateweave_graph import AgentState, CausalMirror, open_repository

AGENT = "agent"


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    sizes, rounds = ((50, 100), 5) if chosen.quick else ((100, 1_000, 8_335), 30)
    measures = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            measures += measured(Path(folder), size, rounds)
    finish("checkpoints", measures, chosen)


def measured(folder: Path, size: int, rounds: int) -> list[Measure]:
    """A turn at a time onto a history of a size, three ways in turns."""
    mirror = CausalMirror(dense(size))
    saver = Saver(folder / "saver.db")
    ours: dict[str, list[float]] = {"append": [], "save": []}
    theirs: list[float] = []
    files = {"append": folder / "append.db", "save": folder / "save.db"}
    repos = {way: open_repository(path) for way, path in files.items()}
    heads: dict[str, Any] = {
        way: repo.import_state(AGENT, mirror.state()).revision for way, repo in repos.items()
    }
    saver.put(mirror.state())
    before = {way: stored(path) for way, path in {**files, "put": saver.path}.items()}
    for number in range(rounds):
        turn = appends(number)
        mirror.append_all(turn)
        state = mirror.state()
        whole = state.to_dict()
        began = time.perf_counter()
        saver.put_whole(whole)
        theirs.append(time.perf_counter() - began)
        began = time.perf_counter()
        heads["append"] = repos["append"].append(AGENT, turn, expected_revision=heads["append"])
        ours["append"].append(time.perf_counter() - began)
        began = time.perf_counter()
        heads["save"] = repos["save"].save(AGENT, state, expected_revision=heads["save"])
        ours["save"].append(time.perf_counter() - began)
    assert repos["save"].load(AGENT).state == state
    for repo in repos.values():
        repo.close()
    saver.close()
    after = {way: stored(path) for way, path in {**files, "put": saver.path}.items()}
    grown = {way: (after[way] - before[way]) / rounds / 1024 for way in after}
    found = []
    for way, times in ours.items():
        bound = 0.1 if way == "append" and size >= 1_000 else 1.0
        found.append(
            Measure(
                f"`{way}` of a turn after {size:,} nodes",
                "`put` of the same state by langgraph-checkpoint-sqlite",
                round(ms(times) / ms(theirs), 3),
                bound if way == "append" or size >= 1_000 else None,
                "at most",
                {
                    "ours_ms": ms(times),
                    "peer_ms": ms(theirs),
                    "ours_kb_a_turn": round(grown[way], 1),
                    "peer_kb_a_turn": round(grown["put"], 1),
                },
            )
        )
    return found


class Saver:
    """LangGraph's saver on a file of its own, one thread."""

    def __init__(self, path: Path) -> None:
        from langgraph.checkpoint.sqlite import SqliteSaver  # of the extra bench, which tests do without

        self.path = path
        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._saver = SqliteSaver(self._connection)
        self._saver.setup()
        self._connection.execute("PRAGMA synchronous = FULL")
        self._config: Any = {"configurable": {"thread_id": AGENT, "checkpoint_ns": ""}}

    def put(self, state: AgentState) -> None:
        """Keep a state."""
        self.put_whole(state.to_dict())

    def put_whole(self, state: dict[str, Any]) -> None:
        """Keep a state that is plain values already."""
        from langgraph.checkpoint.base import empty_checkpoint

        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"state": state}
        self._config = self._saver.put(self._config, checkpoint, {"source": "loop"}, {})

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def stored(path: Path) -> int:
    """The bytes of a file with its write-ahead log, all of it written back."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path.stat().st_size


if __name__ == "__main__":
    main()
