"""Exceptions from signal handlers at any point of a call: nothing is half done, and the lock is free."""

from __future__ import annotations

import gc
import json
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from stateweave_graph import ANY_REVISION, Append, Repository, open_repository
from tests.support.processes import ROOT
from tests.support.states import story

STEPS_BETWEEN = 7
"""How many steps lie between two interrupts that are tried: a prime, so that other calls hit others."""


class Interrupted(BaseException):
    """What the handlers raise: nothing but the test may catch it."""


def append(repo: Repository) -> None:
    repo.append("a", [Append(kind="goal", payload="g")], expected_revision=ANY_REVISION)


def turn(repo: Repository) -> None:
    with repo.turn("a") as turn:
        turn.goal("g")
        turn.answer("done")


def load(repo: Repository) -> None:
    repo.load("a")


def bring(repo: Repository) -> None:
    repo.import_state("imported", story(3))


def delete(repo: Repository) -> None:
    repo.fork("a", "copy")
    repo.delete("copy")


def opening(repo: Repository) -> None:
    with open_repository(repo.name) as other:
        append(other)


def interrupted_at(step: int, call: Callable[[], None]) -> bool:
    """Whether a call takes as many steps; it is interrupted there: where a signal handler runs, behind a call
    of C or before a function of Python."""
    left = step

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal left
        if event in ("call", "c_return", "c_exception"):
            left -= 1
            if left == 0:
                sys.setprofile(None)
                raise Interrupted

    gc.disable()  # what is collected in between would be counted too
    try:
        sys.setprofile(count)
        call()
    except Interrupted:
        pass
    finally:
        sys.setprofile(None)
        gc.enable()
    return left <= 0


# Python prints, and drops, what is raised while it collects an object.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("call", [append, turn, load, bring, delete, opening])
@pytest.mark.parametrize("where", ["file", "memory"])
def test_an_interrupt_at_any_step_leaves_nothing_behind(tmp_path, where, call):
    path = str(tmp_path / "history.db")
    with open_repository(path if where == "file" else ":memory:", timeout=2) as repo:
        if where == "memory" and call is opening:
            call = append
        begin_anew(repo)
        call(repo)
        begin_anew(repo)
        step = 1
        while interrupted_at(step, lambda: call(repo)):
            there = {agent.agent_id: agent.revision for agent in repo.agents()}
            for name, revision in there.items():
                assert len(repo.load(name).state.nodes) == repo.head(name).node_count
                assert repo.head(name).revision == revision
            begin_anew(repo)
            if where == "file":
                others_can_write(path)
            step += STEPS_BETWEEN
        assert step > 10 * STEPS_BETWEEN


def begin_anew(repo: Repository) -> None:
    """One small agent, as before each call: a history that grew would take more steps each time."""
    for agent in repo.agents():
        repo.delete(agent.agent_id)
    repo.save("a", story(2), expected_revision=0)


def others_can_write(path: str) -> None:
    other = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
    finally:
        other.close()


def test_a_wait_for_another_writer_is_interrupted_at_once(tmp_path):
    path = str(tmp_path / "history.db")
    with open_repository(path, timeout=60) as repo:
        append(repo)
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        before = signal.signal(signal.SIGALRM, raise_interrupted)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Interrupted):
                append(repo)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        holder.execute("ROLLBACK")
        holder.close()
        append(repo)
        assert repo.head("a").revision == 2


def test_a_wait_for_another_thread_is_interrupted_at_once(tmp_path):
    with open_repository(tmp_path / "history.db", timeout=60) as repo:
        append(repo)
        inside, go_on = threading.Event(), threading.Event()

        def hold() -> None:
            def work(tx: Any) -> None:
                inside.set()
                go_on.wait(30)

            repo.store.write(work)

        thread = threading.Thread(target=hold)
        thread.start()
        inside.wait(30)
        before = signal.signal(signal.SIGALRM, raise_interrupted)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Interrupted):
                append(repo)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            go_on.set()
            thread.join()
        append(repo)
        assert repo.head("a").revision == 2


def raise_interrupted(number: int, frame: Any) -> None:
    raise Interrupted


STORM = """
import contextlib, json, random, signal, sys, time
from stateweave_graph import ANY_REVISION, Append, ConflictError, open_repository

class Interrupted(BaseException): pass

def interrupt(number, frame):
    raise Interrupted

signal.signal(signal.SIGALRM, interrupt)
repo = open_repository(sys.argv[1], timeout=10)
acknowledged, interrupts, number = [], 0, 0
end = time.monotonic() + float(sys.argv[2])
pick = random.Random(5)
while time.monotonic() < end:
    number += 1
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, pick.uniform(0.00002, 0.003))
            commit = repo.append("a", [Append(kind="goal", payload=number)], expected_revision=ANY_REVISION)
            acknowledged.append([commit.revision, commit.ids[0]])
            with contextlib.suppress(ConflictError):  # the other process may have been first
                with repo.turn("a") as turn:
                    turn.goal(number)
            repo.load("a", revision=1)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupted:
        interrupts += 1
repo.close()
print(json.dumps({"acknowledged": acknowledged, "interrupts": interrupts}))
"""


def test_a_storm_of_signals_loses_no_acknowledged_commit(tmp_path):
    path = str(tmp_path / "history.db")
    running = [
        subprocess.Popen(
            [sys.executable, "-c", STORM, path, "4"], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = [json.loads(process.communicate(timeout=60)[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert all(one["interrupts"] > 50 and one["acknowledged"] for one in said)
    with open_repository(path) as repo:
        nodes = {node.id for node in repo.load("a").state.nodes}
        assert len(nodes) == repo.head("a").node_count
        for one in said:
            assert {node_id for _, node_id in one["acknowledged"]} <= nodes
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_an_interrupt_comes_out_of_a_progress_callback(tmp_path):
    def report(done: int, total: int) -> None:
        raise Interrupted

    with open_repository(tmp_path / "history.db") as repo:
        append(repo)
        with pytest.raises(Interrupted):
            repo.import_state("b", story(3), progress=report)
        assert [agent.agent_id for agent in repo.agents()] == ["a"]
        others_can_write(repo.name)
