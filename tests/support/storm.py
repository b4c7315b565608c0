"""Every operation at once on agents that are deleted and made again: ``python -m tests.support.storm``.

Each history begins with a goal that names it, and each later node says which history it is of, so a result
that mixes two histories shows.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from stateweave_graph import (
    AgentState,
    Append,
    ConflictError,
    DivergedError,
    NotFoundError,
    Repository,
    open_repository,
    validate,
)
from stateweave_graph.repository.transfer import copy_agent
from tests.support.workers import opened

AGENTS = ("a", "b", "c")
THREADS = 6


def begin(repo: Repository, pick: random.Random, agent: str) -> None:
    """A history of a few commits, with a resource, a memory and branches."""
    name = uuid4().hex
    newest = repo.append(agent, [Append(kind="goal", payload=name)], expected_revision=0)
    for number in range(pick.randint(0, 4)):
        newest = repo.append(agent, [appended(name, number)], expected_revision=newest)


def appended(name: str, number: object) -> Append:
    """A node that says which history it is of."""
    return Append(
        kind="semantic",
        payload={"content": name, "type": "fact", "key": f"k{number}"},
        resource_key=f"semantic:fact:k{number}",
    )


def name_of(state: AgentState) -> str:
    """The one history that a state is of; fails where it is broken or of two."""
    assert validate(state.to_json()) == []
    names = {node.payload if node.kind == "goal" else node.payload["content"] for node in state.nodes}
    assert len(names) == 1, f"nodes of {len(names)} histories"
    return str(names.pop())


def append(repo: Repository, pick: random.Random, agent: str) -> None:
    stored = repo.load(agent)
    repo.append(agent, [appended(name_of(stored.state), pick.randint(0, 3))], expected_revision=stored)


def turn(repo: Repository, pick: random.Random, agent: str) -> None:
    with repo.turn(agent) as turn:
        turn.goal(name_of(repo.load(agent).state))


def load(repo: Repository, pick: random.Random, agent: str) -> None:
    stored = repo.load(agent)
    name_of(stored.state)
    assert repo.load(agent, revision=1).state.nodes


def look(repo: Repository, pick: random.Random, agent: str) -> None:
    pick.choice(
        [
            lambda: repo.memory(agent),
            lambda: repo.log(agent),
            lambda: repo.heads(agent),
            lambda: repo.resources(agent),
            lambda: repo.mirror(agent).check_order(),
            lambda: list(repo.iter_nodes(agent)),
            lambda: repo.search(agent, "k1"),
            lambda: repo.diff(agent, 1, repo.head(agent).revision),
            lambda: repo.lineage(agent, repo.head(agent).frontier[0]).nodes(),
            lambda: repo.why(agent, repo.head(agent).frontier[0]),
            lambda: repo.resource(agent, "semantic:fact:k1"),
        ]
    )()


def fail(repo: Repository, pick: random.Random, agent: str) -> None:
    repo.record_failure(agent, input="i", error="e")


def delete(repo: Repository, pick: random.Random, agent: str) -> None:
    repo.delete(agent)


def fork(repo: Repository, pick: random.Random, agent: str) -> None:
    new = f"fork-{uuid4().hex}"
    try:
        repo.fork(agent, new)
        name_of(repo.load(new).state)
        repo.log(new)
        repo.memory(new)
    finally:
        if new in {found.agent_id for found in repo.agents(limit=100_000)}:
            name_of(repo.load(new).state)
            repo.delete(new)


def copy(repo: Repository, pick: random.Random, agent: str) -> None:
    with open_repository(":memory:") as other:
        copy_agent(repo.store, other.store, agent)
        name_of(other.load(agent).state)


def export(repo: Repository, pick: random.Random, agent: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "x.jsonl"
        repo.export(agent, target)
        with open_repository(":memory:") as other:
            other.import_history("x", target)
            name_of(other.load("x").state)


def listed(repo: Repository, pick: random.Random, agent: str) -> None:
    for found in repo.agents(limit=100_000):
        try:
            repo.head(found.agent_id)
            name_of(repo.load(found.agent_id).state)
        except NotFoundError:
            continue


OPERATIONS: list[Callable[[Repository, random.Random, str], None]] = [
    *[begin] * 4,
    *[append] * 4,
    *[turn] * 2,
    *[load] * 2,
    *[look] * 6,
    *[delete] * 2,
    fail,
    fork,
    copy,
    export,
    listed,
]


def main(where: str, seconds: str, seed: str) -> None:
    repo = opened(where)
    end = time.monotonic() + float(seconds)
    counts: Counter[str] = Counter()
    wrong: list[str] = []

    def work(number: int) -> None:
        pick = random.Random(f"{seed} {number}")
        while time.monotonic() < end and len(wrong) < 20:
            operation = pick.choice(OPERATIONS)
            try:
                operation(repo, pick, pick.choice(AGENTS))
            except (NotFoundError, ConflictError, DivergedError) as error:
                counts[f"{operation.__name__} {type(error).__name__}"] += 1
            except Exception:
                wrong.append(f"{operation.__name__}: {traceback.format_exc()}")
            else:
                counts[operation.__name__] += 1

    threads = [threading.Thread(target=work, args=[number]) for number in range(THREADS)]
    print("ready", flush=True)
    sys.stdin.readline()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for agent in repo.agents(limit=100_000):
        name_of(repo.load(agent.agent_id).state)
        repo.log(agent.agent_id)
    repo.close()
    print(json.dumps({"counts": counts, "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
