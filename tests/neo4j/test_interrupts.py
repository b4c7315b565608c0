"""Interrupts at any moment: the caller gets what was raised, the next call works, nothing is half done."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import threading
import time

import pytest

from stateweave_graph import (
    ANY_REVISION,
    NotFoundError,
    Repository,
    StoreError,
    open_repository,
    validate,
)
from stateweave_graph.stores.neo4j import Neo4jStore
from stateweave_graph.stores.neo4j_staging import Sizes
from tests.support.states import append, story

ROUNDS = int(os.environ.get("STATEWEAVE_TEST_INTERRUPTS", "25"))

# What is raised inside a destructor or callback can't reach anybody; Python reports it.
LOST = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class AlarmError(Exception):
    """What an application's alarm handler may raise."""


@pytest.fixture
def repo(server):
    arguments = {**server.arguments(), "timeout": 20.0}
    store = Neo4jStore(
        arguments.pop("uri"), **arguments, max_commit_nodes=20, sizes=Sizes(nodes=4, commits=3)
    )
    with Repository(store) as repository:
        repository.save("a", story(3), expected_revision=0)
        yield repository


def append_one(repo):
    repo.append("a", [append("goal", "g")], expected_revision=ANY_REVISION)


def take_turn(repo):
    with repo.turn("a") as turn:
        turn.goal("g")
        turn.answer("x")


def load(repo):
    repo.load("a")


def bring_in(repo):
    repo.save("b", story(20), expected_revision=ANY_REVISION)


def ask(repo):
    repo.cypher("MATCH (n:CausalNode) RETURN n.id AS id, n.payload AS payload LIMIT 20")


CALLS = [append_one, take_turn, load, bring_in, ask]


def check(repo, before):
    """The store is as it was before or as it is after the call, and takes the next commit."""
    head = repo.head("a")
    assert head.revision - before in (0, 1)
    assert validate(repo.load("a").state.to_json()) == []
    assert repo.log("a")[0].revision == head.revision
    try:
        assert repo.head("b").node_count == len(story(20).nodes)
        assert validate(repo.load("b").state.to_json()) == []
        repo.delete("b")
    except NotFoundError:
        pass
    commit = repo.append("a", [append("goal", "next")], expected_revision=head.revision)
    assert commit.revision == head.revision + 1
    return commit.revision


def events(call, kind, stop_at=None, error=KeyboardInterrupt):
    """Run a call; count what the interpreter traces in its thread, and raise an error at one event."""
    seen = 0

    def trace(frame, event, _):
        nonlocal seen
        frame.f_trace_opcodes = True
        seen += 1
        if seen == stop_at:
            sys.settrace(None)
            raise error
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    return seen


@LOST
@pytest.mark.parametrize("error", [KeyboardInterrupt, AlarmError, TimeoutError])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_an_interrupt_at_any_instruction(repo, call, error):
    """Everything on the caller's thread may be interrupted; a sample of its instructions is."""
    call(repo)
    revision = check(repo, repo.head("a").revision - 1)
    count = events(lambda: call(repo), call)
    revision = check(repo, revision)
    chosen = random.Random(f"{call.__name__} {error.__name__}")
    for _ in range(max(3, ROUNDS // 4)):
        with pytest.raises(error) as caught:
            events(lambda: call(repo), call, chosen.randrange(1, int(count * 0.9)), error)
        assert type(caught.value) is error
        revision = check(repo, revision)


@LOST
@pytest.mark.parametrize("error", [KeyboardInterrupt, AlarmError, TimeoutError])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_a_signal_at_any_moment(repo, call, error):
    def stop(*_):
        raise error

    call(repo)
    revision = check(repo, repo.head("a").revision - 1)
    began = time.monotonic()
    call(repo)
    usual = time.monotonic() - began
    revision = check(repo, revision)
    chosen = random.Random(call.__name__)
    old = signal.signal(signal.SIGALRM, stop)
    try:
        for _ in range(ROUNDS // 3):
            with contextlib.suppress(error):  # what else comes out fails the test
                signal.setitimer(signal.ITIMER_REAL, chosen.uniform(0.0002, usual * 1.2))
                call(repo)
                signal.setitimer(signal.ITIMER_REAL, 0)
            revision = check(repo, revision)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@LOST
def test_an_interrupt_while_another_writer_holds_the_lock(server, repo):
    """The interrupt ends the waiting at once, and nothing of it stays at the server."""

    def stop(*_):
        raise KeyboardInterrupt

    locked, release = threading.Event(), threading.Event()

    def hold():
        with open_repository(**server.arguments()) as other:

            def work(tx):
                tx.lock("a")
                locked.set()
                release.wait(60)

            other.store.write(work)

    holder = threading.Thread(target=hold)
    holder.start()
    assert locked.wait(60)
    old = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            append_one(repo)
    finally:
        signal.signal(signal.SIGALRM, old)
        release.set()
        holder.join()
    revision = repo.head("a").revision
    append_one(repo)
    assert repo.head("a").revision == revision + 1
    with server.session() as session:
        left = "SHOW TRANSACTIONS YIELD metaData WHERE metaData.app = 'stateweave-graph' RETURN count(*) AS n"
        deadline = time.monotonic() + 30
        while (running := session.run(left).single()["n"]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert running == 0


@LOST
def test_an_interrupt_inside_a_unit_of_work(repo):
    """What the work itself raises comes out as itself, and what it wrote is rolled back."""
    for error in (KeyboardInterrupt, SystemExit, AlarmError, TimeoutError):

        def work(tx, error=error):
            tx.set_vocabulary("a", "[]")
            raise error

        with pytest.raises(error) as caught:
            repo.store.write(work)
        assert type(caught.value) is error
    check(repo, repo.head("a").revision)
    assert repo.store.read(lambda tx: tx.agent("a")).vocabulary is None


def test_a_closed_repository_refuses_calls(server):
    repo = open_repository(**server.arguments())
    repo.append("a", [append("goal", "g")], expected_revision=0)
    repo.close()
    repo.close()
    for call in CALLS:
        with pytest.raises(StoreError, match="is closed; open it again"):
            call(repo)
    with pytest.raises(StoreError, match="is closed"):
        repo.agents()


def test_close_waits_for_calls_of_other_threads(server):
    repo = open_repository(**server.arguments())
    repo.append("a", [append("goal", "g")], expected_revision=0)
    inside, go_on, ended = threading.Event(), threading.Event(), []

    def call():
        def work(tx):
            inside.set()
            go_on.wait(60)
            return tx.agent("a").revision

        ended.append(repo.store.read(work))

    caller = threading.Thread(target=call)
    caller.start()
    assert inside.wait(60)
    closer = threading.Thread(target=repo.close)
    closer.start()
    go_on.set()
    closer.join(60)
    caller.join(60)
    assert ended == [1]
    assert not closer.is_alive()


def _in_child(work):
    """Run something in a forked child; 0 where it returned."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_child_has_connections_of_its_own(server, repo):
    import gc

    def work():
        append_one(repo)
        gc.collect()
        append_one(repo)
        repo.close()

    append_one(repo)
    revision = repo.head("a").revision
    for _ in range(3):
        assert _in_child(work) == 0
        append_one(repo)
    assert repo.head("a").revision == revision + 9
    assert _in_child(lambda: _in_child(work) and os._exit(3)) == 0
    append_one(repo)
    assert repo.head("a").revision == revision + 12


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_fork_while_other_threads_commit(server, repo):
    stop = threading.Event()
    failed = []

    def commit():
        while not stop.is_set():
            try:
                append_one(repo)
            except StoreError as error:
                failed.append(error)
                return

    threads = [threading.Thread(target=commit) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert _in_child(lambda: append_one(repo)) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failed == []
    assert validate(repo.load("a").state.to_json()) == []
