"""The pool of connections: bounded for any number of threads, waited for by close, and never half closed."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from stateweave_graph import (
    ANY_REVISION,
    Append,
    InvalidRequestError,
    Repository,
    StoreError,
    StoreUnavailableError,
    open_repository,
)
from stateweave_graph.stores.sqlite_pool import READERS
from tests.support.processes import ROOT
from tests.support.states import story

MOST_DESCRIPTORS = 3 * (1 + READERS)
"""A database and a log for each connection, and the one index of the log, counted generously."""


def goal(repo: Repository, payload: object = "g") -> str:
    return repo.append("a", [Append(kind="goal", payload=payload)], expected_revision=ANY_REVISION).ids[0]


def descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_a_thread_for_each_request_uses_a_bounded_number_of_descriptors(tmp_path):
    with open_repository(tmp_path / "history.db") as repo:
        goal(repo)
        before, most = descriptors(), 0
        for number in range(600):
            thread = threading.Thread(
                target=goal if number % 2 else lambda r: r.load("a", revision=1), args=[repo]
            )
            thread.start()
            thread.join()
            most = max(most, descriptors() - before)
        with ThreadPoolExecutor(64) as executor:
            list(executor.map(lambda n: goal(repo, n) if n % 3 == 0 else repo.head("a"), range(600)))
        assert max(most, descriptors() - before) <= MOST_DESCRIPTORS
        assert repo.head("a").revision == 1 + 300 + 200


def test_asyncio_to_thread(tmp_path):
    async def serve(repo: Repository) -> None:
        await asyncio.gather(*(asyncio.to_thread(goal, repo, number) for number in range(100)))

    with open_repository(tmp_path / "history.db") as repo:
        asyncio.run(serve(repo))
        assert repo.head("a").revision == 100


def test_repositories_that_are_not_closed_leave_nothing_open(tmp_path):
    before = descriptors()
    for number in range(50):
        goal(open_repository(tmp_path / f"{number}.db"))
    gc.collect()
    assert descriptors() == before


CLOSES = """
import sys, threading, time
from stateweave_graph import ANY_REVISION, Append, StoreError, open_repository

for round in range(15):
    repo = open_repository(sys.argv[1] if round % 2 else ":memory:")
    acknowledged, wrong = [], []
    def work():
        try:
            while True:
                acknowledged.append(repo.append("a", [Append(kind="goal", payload=1)],
                                                expected_revision=ANY_REVISION).ids[0])
                repo.load("a")
        except StoreError as error:
            if "closed" not in str(error):
                wrong.append(error)
        except BaseException as error:
            wrong.append(error)
    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads: thread.start()
    time.sleep(0.05)
    repo.close()
    for thread in threads: thread.join()
    assert not wrong, wrong
    if round % 2:
        with open_repository(sys.argv[1]) as again:
            assert set(acknowledged) <= {node.id for node in again.load("a").state.nodes}
"""


def test_closing_while_other_threads_commit(tmp_path):
    subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", CLOSES, str(tmp_path / "history.db")],
        cwd=ROOT,
        check=True,
        timeout=120,
    )


@pytest.mark.parametrize("where", ["history.db", ":memory:"])
def test_every_call_on_a_closed_repository_is_refused(tmp_path, where):
    repo = open_repository(where if where == ":memory:" else tmp_path / where)
    goal(repo)
    repo.close()
    repo.close()
    calls: list[Any] = [
        lambda: goal(repo),
        lambda: repo.load("a"),
        lambda: repo.head("a"),
        repo.agents,
        lambda: repo.delete("a"),
        lambda: repo.import_state("b", story(1)),
        lambda: repo.memory("a"),
        lambda: list(repo.iter_nodes("a")),
    ]
    for call in calls:
        with pytest.raises(StoreError, match="closed; open it again"):
            call()


def test_close_waits_for_the_unit_of_work_of_another_thread(tmp_path):
    repo = open_repository(tmp_path / "history.db", timeout=20)
    inside, go_on = threading.Event(), threading.Event()
    ended: list[float] = []

    def work(tx: Any) -> None:
        inside.set()
        go_on.wait(20)
        ended.append(time.monotonic())

    thread = threading.Thread(target=repo.store.write, args=[work])
    thread.start()
    assert inside.wait(20)
    threading.Timer(0.3, go_on.set).start()
    repo.close()
    assert ended
    assert time.monotonic() >= ended[0]
    thread.join()


def test_close_gives_up_after_the_timeout_and_can_be_said_again(tmp_path):
    repo = open_repository(tmp_path / "history.db", timeout=0.2)
    inside, go_on = threading.Event(), threading.Event()

    def work(tx: Any) -> None:
        inside.set()
        go_on.wait(20)

    thread = threading.Thread(target=repo.store.read, args=[work])
    thread.start()
    assert inside.wait(20)
    with pytest.raises(StoreUnavailableError, match="close it again later"):
        repo.close()
    go_on.set()
    thread.join()
    repo.close()


@pytest.mark.parametrize("where", ["history.db", ":memory:"])
def test_a_progress_callback_may_read_and_not_write(tmp_path, where):
    with open_repository(where if where == ":memory:" else tmp_path / where) as repo:
        goal(repo)
        seen: list[object] = []

        def look(done: int, total: int) -> None:
            seen.append((repo.head("a").revision, len(repo.agents()) >= 1, len(repo.load("a").state.nodes)))

        repo.import_state("b", story(3), progress=look)
        assert seen
        assert set(seen) == {(1, True, 1)}

        def write(done: int, total: int) -> None:
            goal(repo)

        with pytest.raises(InvalidRequestError, match="may only read"):
            repo.import_state("c", story(3), progress=write)
        with pytest.raises(InvalidRequestError, match="callback of its own"):
            repo.import_state("d", story(3), progress=lambda done, total: repo.close())
        assert [agent.agent_id for agent in repo.agents()] == ["a", "b"]
        assert goal(repo)


def test_readers_wait_for_a_connection_and_say_when_there_was_none(tmp_path):
    with open_repository(tmp_path / "history.db", timeout=0.3) as repo:
        goal(repo)
        go_on = threading.Event()
        inside = threading.Semaphore(0)

        def work(tx: Any) -> None:
            inside.release()
            go_on.wait(20)

        threads = [threading.Thread(target=repo.store.read, args=[work]) for _ in range(READERS)]
        for thread in threads:
            thread.start()
        for _ in threads:
            assert inside.acquire(timeout=20)
        with pytest.raises(StoreUnavailableError, match="other threads of this process"):
            repo.head("a")
        goal(repo)  # a commit needs no reader
        go_on.set()
        for thread in threads:
            thread.join()
        assert repo.head("a").revision == 2


def test_a_call_within_a_unit_of_work_of_the_same_thread_uses_its_connection(tmp_path):
    with open_repository(tmp_path / "history.db", timeout=0.5) as repo:
        goal(repo)

        def deep(tx: Any, depth: int = 0) -> int:
            if depth == 3 * READERS:
                return repo.head("a").revision
            return repo.store.read(lambda inner: deep(inner, depth + 1))

        assert repo.store.read(deep) == 1
