"""Forks of a process that has a file open: every acknowledged commit is there, or the child is refused.

Each pattern runs in a process of its own, which writes down what was acknowledged: a fork of the test process
would copy pytest too.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stateweave_graph import open_repository
from tests.support.processes import ROOT

HEADER = """
import json, os, sys, threading, time
from stateweave_graph import ANY_REVISION, Append, StoreError, open_repository

path = sys.argv[1]
said = path + ".said"

def commit(repo, text):
    ids = repo.append("a", [Append(kind="goal", payload=text)], expected_revision=ANY_REVISION).ids
    with open(said, "a") as file:  # one write, at the end: what several processes say is not mixed
        file.write(json.dumps(ids[0]) + "\\n")

def wait(pid):
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""

INHERITED = """
repo = open_repository(path)
commit(repo, "parent")
for number in range(5):
    pid = os.fork()
    if pid == 0:
        for turn in range(20):
            commit(repo, f"child {number} {turn}")
        os._exit(0)
    commit(repo, f"parent {number}")
    wait(pid)
repo.close()
"""

OWN = """
repo = open_repository(path)
commit(repo, "parent")
pid = os.fork()
if pid == 0:
    with open_repository(path) as own:
        for turn in range(20):
            commit(own, f"child {turn}")
    os._exit(0)
repo.close()
wait(pid)
"""

PARENT_FIRST = """
repo = open_repository(path)
commit(repo, "parent")
if os.fork() == 0:
    time.sleep(0.5)
    for turn in range(20):
        commit(repo, f"child {turn}")
    open(path + ".done", "w").close()
"""

COLLECTED = """
import gc
repo = open_repository(path)
commit(repo, "parent")
pid = os.fork()
if pid == 0:
    for turn in range(20):
        commit(repo, f"child {turn}")
    os._exit(0)
del repo
gc.collect()
wait(pid)
commit(open_repository(path), "parent again")
"""

DAEMON = """
repo = open_repository(path)
commit(repo, "parent")
pid = os.fork()
if pid == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    time.sleep(0.3)
    for turn in range(20):
        commit(repo, f"daemon {turn}")
    repo.close()
    open(path + ".done", "w").close()
    os._exit(0)
wait(pid)
"""

BUSY = """
repo = open_repository(path)
stop = threading.Event()

def work(name):
    number = 0
    while not stop.is_set():
        number += 1
        commit(repo, f"{name} {number}")
        repo.load("a", revision=1)

threads = [threading.Thread(target=work, args=[name]) for name in ("x", "y")]
for thread in threads:
    thread.start()
for number in range(15):
    pid = os.fork()
    if pid == 0:
        for turn in range(5):
            commit(repo, f"child {number} {turn}")
        os._exit(0)
    wait(pid)
stop.set()
for thread in threads:
    thread.join()
repo.close()
"""

WITHIN = """
repo = open_repository(path)
commit(repo, "parent")

def refused(call):
    try:
        call()
    except StoreError as error:
        return "forked while a call" in str(error)
    return False

def work(tx):
    pid = os.fork()
    if pid == 0:
        inherited = refused(lambda: commit(repo, "lost"))
        own = refused(lambda: commit(open_repository(path), "lost"))
        repo.close()
        os._exit(0 if inherited and own else 1)
    wait(pid)

repo.store.read(work)
repo.store.write(work)
commit(repo, "parent again")
repo.close()
commit(open_repository(path), "anew")
"""

POOLS = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

def by_inherited(text):
    commit(repo, text)

def by_own(text):
    with open_repository(path) as own:
        commit(own, text)

repo = open_repository(path)
if __name__ == "__main__":
    commit(repo, "parent")
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with context.Pool(3) as pool:
            pool.map(by_inherited, [f"pool {method} {number}" for number in range(9)])
        with ProcessPoolExecutor(2, mp_context=context) as executor:
            list(executor.map(by_own, [f"executor {method} {number}" for number in range(6)]))
        process = context.Process(target=by_inherited, args=["one"])
        process.start()
        process.join()
        assert process.exitcode == 0
    repo.close()
"""


def acknowledged(path: Path) -> list[str]:
    return [json.loads(line) for line in Path(f"{path}.said").read_text("utf-8").splitlines()]


def assert_nothing_is_lost(path: Path, at_least: int) -> None:
    said = acknowledged(path)
    assert len(set(said)) == len(said) >= at_least
    with open_repository(path) as repo:
        state = repo.load("a").state
        assert {node.id for node in state.nodes} == set(said)
        assert repo.head("a").revision == len(said)


@pytest.mark.parametrize(
    ("script", "at_least"),
    [
        (INHERITED, 106),
        (OWN, 21),
        (PARENT_FIRST, 21),
        (COLLECTED, 22),
        (DAEMON, 21),
        (BUSY, 75),
        (WITHIN, 3),
        (POOLS, 33),
    ],
    ids=["inherited", "own", "parent-exits", "collected", "daemon", "busy", "within", "pools"],
)
def test_no_acknowledged_commit_is_lost(tmp_path, script, at_least):
    path, program = tmp_path / "history.db", tmp_path / "program.py"
    program.write_text(HEADER + script, "utf-8")
    subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(program), str(path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=120,
    )
    if ".done" in script:
        until = time.monotonic() + 60
        while not Path(f"{path}.done").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
    assert_nothing_is_lost(path, at_least)


APPLICATION = """
import json, os
from stateweave_graph import ANY_REVISION, Append, open_repository

repo = open_repository(os.environ["HISTORY"])
repo.append("a", [Append(kind="goal", payload="before the fork")], expected_revision=ANY_REVISION)

def application(environ, start_response):
    goal = Append(kind="goal", payload=environ["PATH_INFO"])
    commit = repo.append("a", [goal], expected_revision=ANY_REVISION)
    start_response("200 OK", [("Content-Type", "application/json")])
    return [json.dumps([commit.ids[0], os.getpid()]).encode()]
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[int]:
    """The port of a pre-fork server whose master process opened the file before it forked."""
    (tmp_path / "application.py").write_text(APPLICATION, "utf-8")
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = f"--preload --workers 3 --threads 2 --bind 127.0.0.1:{port} --log-level error"
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", *options.split(), "application:application"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HISTORY": str(tmp_path / "history.db")},
    )
    try:
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def ask(port: int, number: int) -> tuple[str, int]:
    until = time.monotonic() + 30
    while True:
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
                connection.request("GET", f"/{number}")
                node_id, worker = json.loads(connection.getresponse().read())
                return node_id, worker
        except ConnectionRefusedError:
            assert time.monotonic() < until
            time.sleep(0.05)


def test_a_prefork_server_that_preloads(tmp_path, server):
    answers = [ask(server, number) for number in range(60)]
    os.kill(answers[0][1], signal.SIGKILL)  # the master forks another worker
    while len({worker for _, worker in answers}) < 4:
        try:
            answers.append(ask(server, len(answers)))
        except (ConnectionResetError, http.client.RemoteDisconnected):  # asked the worker that was killed
            continue
        assert len(answers) < 5000
    with open_repository(tmp_path / "history.db") as repo:
        nodes = {node.id for node in repo.load("a").state.nodes}
    assert {node_id for node_id, _ in answers} <= nodes
    assert len(nodes) >= len(answers) + 1
