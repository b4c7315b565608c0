"""Finding one's way among many agents on SQLite: a page of them, and where one of them stands.

    python -m benchmarks.agents [--quick]

The plans of the statements are looked at as well: none may walk a whole table.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from benchmarks.report import Measure, alternately, finish, ms, options, percentile
from stateweave_graph import Append, NotFoundError, Repository, open_repository
from stateweave_graph.stores.sqlite import SqliteStore

PAGE = 50
ALLOWED_MS = 5.0


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    agents, rounds = (200, 20) if chosen.quick else (10_000, 400)
    with tempfile.TemporaryDirectory() as folder, open_repository(Path(folder) / "many.db") as repo:
        names = fill(repo, agents)
        middle = names[len(names) // 2]
        works = {
            f"`agents()`, the first {PAGE} of {agents:,}": lambda repo: repo.agents(limit=PAGE),
            f"`agents()`, {PAGE} from the middle of {agents:,}": lambda repo: repo.agents(
                after=middle, limit=PAGE
            ),
            f"`head()` of one of {agents:,} agents": lambda repo: repo.head(middle),
        }
        assert [agent.agent_id for agent in repo.agents(limit=PAGE)] == names[:PAGE]
        times = alternately([partial(work, repo) for work in works.values()], rounds)
    with open_repository(
        ":memory:"
    ) as repo:  # where one connection does everything; plans don't depend on it
        fill(repo, PAGE)
        plans = {work: plan_of(repo, call) for work, call in works.items()}
    assert not any("SCAN" in step for steps in plans.values() for step in steps), plans
    measures = [
        Measure(
            work=work,
            peer=f"{ALLOWED_MS:g} ms",
            ratio=round(ms(taken) / ALLOWED_MS, 3),
            bound=1.0,
            sense="at most",
            figures={
                "ours_ms": ms(taken),
                "peer_ms": ALLOWED_MS,
                "p99_ms": percentile(taken, 0.99),
                "rounds": rounds,
            },
        )
        for work, taken in zip(works, times, strict=True)
    ]
    finish("agents", measures, chosen, plans=plans)


def fill(repo: Repository, agents: int) -> list[str]:
    """Begin that many agents, in an order that is not theirs, and give their ids in order."""
    names = [f"agent-{number:06}" for number in range(agents)]
    for name in random.Random(agents).sample(names, agents):
        turn = [
            Append(kind="goal", payload=f"What is new, {name}?"),
            Append(kind="answer", payload="Nothing."),
        ]
        repo.append(name, turn, expected_revision=0)
    return names


def plan_of(repo: Repository, call: Callable[[Repository], object]) -> list[str]:
    """The steps of SQLite's plans for all that a call asks of a store in memory."""
    assert isinstance(repo.store, SqliteStore)
    asked: list[str] = []
    repo.store.administer(lambda connection: connection.set_trace_callback(asked.append))
    with suppress(NotFoundError):  # of an agent that is only in the file
        call(repo)
    repo.store.administer(lambda connection: connection.set_trace_callback(None))
    return [
        row[3]
        for text in asked
        if text.startswith(("SELECT", "WITH"))
        for row in repo.store.administer(
            lambda connection, text=text: connection.execute(f"EXPLAIN QUERY PLAN {text}").fetchall()
        )
    ]


if __name__ == "__main__":
    main()
