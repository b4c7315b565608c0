"""What the processes of the tests run: ``python -m tests.support.workers JOB DATABASE …``."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from stateweave_graph import Append, ConflictError, Repository, open_repository


def opened(where: str) -> Repository:
    """The repository at a path or, as JSON, with the arguments of ``open_repository``."""
    if where.startswith("{"):
        return open_repository(**json.loads(where))
    return open_repository(where)


def race(where: str, worker: str, rounds: str, writers: str) -> None:
    """Commit on the head that was read, win or lose, with several writers; print what came of it."""
    repo = opened(where)
    said: list[dict[str, object]] = []
    print("ready", flush=True)
    sys.stdin.readline()

    def write(writer: int) -> None:
        for number in range(int(rounds)):
            head = repo.head("a")
            append = Append(kind="goal", payload=[worker, writer, number])
            try:
                commit = repo.append("a", [append], expected_revision=head.revision)
            except ConflictError as error:
                said.append({"lost": error.actual, "expected": error.expected})
            else:
                said.append({"won": commit.revision, "on": head.frontier, "id": commit.ids[0]})

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(int(writers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for line in said:
        print(json.dumps(line))


def begin(where: str, worker: str) -> None:
    """Make the agent, if nobody else was first."""
    repo = opened(where)
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        repo.append("a", [Append(kind="goal", payload=worker)], expected_revision=0)
    except ConflictError as error:
        print(json.dumps({"lost": error.actual}), flush=True)
    else:
        print(json.dumps({"won": 1}), flush=True)


def stream(where: str, worker: str) -> None:
    """Commit turns for ever; say each only when it has been acknowledged."""
    repo = opened(where)
    number = 0
    while True:
        with repo.turn(worker) as turn:
            turn.goal(f"goal {number}")
            call = turn.tool_call("read", {"number": number})
            turn.tool_result(call, {"ok": True, "text": "x" * 2_000})
            turn.resource(f"file {number % 3}", operation="write")
            turn.answer(f"answer {number}")
        assert turn.commit is not None
        print(json.dumps({"revision": turn.commit.revision, "answer": turn.commit.ids[-1]}), flush=True)
        number += 1


def bring(where: str, turns: str) -> None:
    """Import a history in small parts; say how many nodes are written."""
    from stateweave_graph.stores.neo4j import Neo4jStore
    from stateweave_graph.stores.neo4j_staging import Sizes
    from stateweave_graph.testing.samples import story

    arguments = json.loads(where)
    store = Neo4jStore(arguments.pop("uri"), **arguments, max_commit_nodes=6, sizes=Sizes(nodes=4, commits=3))
    Repository(store).import_state(
        "a", story(int(turns)), progress=lambda done, total: print(json.dumps({"done": done}), flush=True)
    )


def write_as_nobody(where: str) -> None:
    """Give up root, then read and try to write; print what the errors are."""
    import os

    # Libraries are imported when they are first used, and nobody may not read where they are installed.
    opened(":memory:").append("a", [Append(kind="goal", payload="first")], expected_revision=0)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    repo = opened(where)
    try:
        print(json.dumps({"nodes": repo.head("a").node_count}))
    except Exception as error:
        print(json.dumps({"reading": type(error).__name__, "says": str(error)}))
    try:
        repo.append("a", [Append(kind="goal", payload="new")], expected_revision=1)
    except Exception as error:
        print(json.dumps({"writing": type(error).__name__, "says": str(error)}))
    else:
        print(json.dumps({"writing": "done"}))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    job, *rest = sys.argv[1:]
    jobs: dict[str, Callable[..., None]] = {
        "race": race,
        "begin": begin,
        "stream": stream,
        "bring": bring,
        "write_as_nobody": write_as_nobody,
    }
    jobs[job](*rest)
