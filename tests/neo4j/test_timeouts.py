"""``timeout`` ends every call, also where the network is silent; and settings that a server is given."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time

import pytest

from stateweave_graph import (
    ANY_REVISION,
    AuthenticationError,
    InvalidRequestError,
    StoreUnavailableError,
    open_repository,
)
from tests.support.neo4j_server import free_port
from tests.support.proxy import COMMIT, Proxy
from tests.support.states import append

# Far from what is measured, and far from the minutes of a hanging connection.
GENEROUS = 45.0
LEAKY = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def proxy(server):
    host, port = server.uri.removeprefix("bolt://").split(":")
    proxy = Proxy(host, int(port))
    yield proxy
    proxy.close()


def append_one(repo):
    repo.append("a", [append("goal", "g")], expected_revision=ANY_REVISION)


def ends(call):
    """Whether a call ends soon, with the error that it may be tried again."""
    began = time.monotonic()
    with pytest.raises(StoreUnavailableError) as caught:
        call()
    assert time.monotonic() - began < GENEROUS
    assert caught.value.retryable
    return caught.value


@LEAKY
@pytest.mark.parametrize(
    "call",
    [
        lambda repo: repo.head("a"),
        append_one,
        lambda repo: repo.load("a"),
        lambda repo: repo.cypher("RETURN 1 AS one"),
        lambda repo: repo.agents(),
        lambda repo: repo.store.schema_version(),
        lambda repo: repo.delete("a"),
    ],
    ids=["head", "append", "load", "cypher", "agents", "schema_version", "delete"],
)
def test_a_connection_that_falls_silent(server, proxy, call):
    arguments = {**server.arguments(), "uri": f"bolt://127.0.0.1:{proxy.port}", "timeout": 2.0}
    with open_repository(**arguments) as repo:
        append_one(repo)
        proxy.silent.set()
        error = ends(lambda: call(repo))
        assert "timeout" in str(error)
        proxy.silent.clear()
        append_one(repo)
        proxy.silent.set()
        began = time.monotonic()
    assert time.monotonic() - began < GENEROUS, "close() ended"


@LEAKY
def test_only_the_idle_connections_are_dead(server, proxy):
    """A firewall forgets idle connections; new ones pass. The call itself makes a new one."""
    arguments = {**server.arguments(), "uri": f"bolt://127.0.0.1:{proxy.port}", "timeout": 6.0}
    with open_repository(**arguments) as repo:
        append_one(repo)
        proxy.silence_those_there()
        append_one(repo)
        assert repo.head("a").revision == 2


@LEAKY
@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_server_that_is_silent_from_the_start(scheme):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        uri = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
        with open_repository(uri, user="neo4j", password="x", timeout=1.5) as repo:
            ends(repo.agents)
            ends(lambda: append_one(repo))


@LEAKY
def test_silence_at_commit_says_that_the_outcome_is_unknown(server, proxy):
    arguments = {**server.arguments(), "uri": f"bolt://127.0.0.1:{proxy.port}", "timeout": 2.0}
    with open_repository(**arguments) as repo, open_repository(**server.arguments()) as direct:
        append_one(repo)
        proxy.before_passing = lambda data: (COMMIT in data and proxy.silent.set()) or True

        def again():
            return repo.append("a", [append("goal", 2)], expected_revision=1, commit_id="mine")

        error = ends(again)
        assert error.outcome_unknown
        assert "commit_id='mine'" in str(error)
        proxy.before_passing = lambda data: True
        proxy.silent.clear()
        assert again().revision == 2
        assert direct.head("a").revision == 2


@LEAKY
def test_silence_before_commit_is_known_to_have_written_nothing(server, proxy):
    arguments = {**server.arguments(), "uri": f"bolt://127.0.0.1:{proxy.port}", "timeout": 2.0}
    with open_repository(**arguments) as repo, open_repository(**server.arguments()) as direct:
        append_one(repo)
        proxy.before_passing = lambda data: (b"SET s += $agent" in data and proxy.silent.set()) or True
        error = ends(lambda: append_one(repo))
        assert not error.outcome_unknown
        assert "nothing was written" in str(error)
        append_one(direct)  # the lock is free
        assert direct.head("a").revision == 2


def test_waiting_for_another_writer_ends(server):
    with (
        open_repository(**server.arguments()) as holder,
        open_repository(**server.arguments(), timeout=2.0) as repo,
    ):
        append_one(holder)
        locked, release = threading.Event(), threading.Event()

        def work(tx):
            tx.lock("a")
            locked.set()
            release.wait(GENEROUS)

        thread = threading.Thread(target=holder.store.write, args=(work,))
        thread.start()
        assert locked.wait(GENEROUS)
        try:
            ends(lambda: append_one(repo))
        finally:
            release.set()
            thread.join()
        append_one(repo)
        assert repo.head("a").revision == 2


def test_waiting_for_a_free_connection_ends(server):
    with open_repository(**server.arguments(), timeout=2.0, max_connection_pool_size=1) as repo:
        append_one(repo)
        inside, release = threading.Event(), threading.Event()

        def work(tx):
            inside.set()
            release.wait(1.9)

        def call():
            repo.store.read(work)

        thread = threading.Thread(target=call)
        thread.start()
        assert inside.wait(GENEROUS)
        error = ends(lambda: repo.store.read(lambda tx: repo.head("a")))  # needs two at once
        assert "max_connection_pool_size" in str(error)
        release.set()
        thread.join()
        assert repo.head("a").revision == 1


@pytest.mark.parametrize(
    "spelling", ["{}/neo4j", "{}/?database=neo4j", "{}?database=neo4j", "{}/neo4j?database=neo4j"]
)
def test_a_database_in_the_uri(server, spelling):
    with open_repository(spelling.format(server.uri), user=server.user, password=server.password) as repo:
        append_one(repo)
        assert repo.name.endswith("database neo4j")
        assert server.uri in repo.name
    with (
        pytest.raises(Exception, match="no such database"),
        open_repository(f"{server.uri}/orders", user=server.user, password=server.password) as repo,
    ):
        repo.agents()


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("neo4j://host/orders?database=other", "two databases"),
        ("neo4j://host?database=a&database=b", "two databases"),
        ("neo4j://host?databse=orders", "'databse'"),
        ("bolt://host?policy=eu", "'policy'"),
        ("neo4j://host?policy=eu&policy=us", "twice"),
        ("neo4j://host/a/b", "name of a database"),
        ("neo4j://host?database=", "name of a database"),
        ("neo4j://host#orders", "'#orders'"),
        ("neo4j://", "host"),
        ("neo4j://host:99999", "URI of a server"),
        ("neo4j://host?database", "URI of a server"),
    ],
)
def test_uris_that_are_refused(uri, said):
    with pytest.raises(InvalidRequestError, match=said):
        open_repository(uri)


def test_a_database_beside_and_in_the_uri():
    with pytest.raises(InvalidRequestError, match="two databases"):
        open_repository("neo4j://host/orders", database="other")
    with open_repository("NEO4J://host/orders?policy=eu", database="orders") as repo:
        assert repo.name == "neo4j://host?policy=eu database orders"


@pytest.mark.parametrize(
    "options",
    [
        {"user": "neo4j"},
        {"password": "secret"},
        {"user": "neo4j", "password": "secret", "token": "t"},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"timeout": "5"},
        {"max_connection_pool_size": 0},
        {"max_connection_pool_size": 1.5},
    ],
)
def test_options_that_are_refused(options):
    with pytest.raises(InvalidRequestError) as caught:
        open_repository("neo4j://host", **options)
    assert "secret" not in str(caught.value)
    with pytest.raises(InvalidRequestError):
        open_repository("x.db", token="t")


def test_missing_credentials_are_named(server):
    with open_repository(server.uri) as repo, pytest.raises(AuthenticationError, match="NEO4J_USERNAME"):
        repo.agents()


def test_a_token_is_sent_as_one(server):
    """This server has no single sign-on: it says that it does not know the scheme, and no token is shown."""
    with open_repository(server.uri, token="my-token") as repo:
        with pytest.raises(AuthenticationError) as caught:
            repo.agents()
        assert "my-token" not in f"{caught.value}{repo!r}{repo.store!r}"


def command(*arguments, **environment):
    """Run the command line as it is installed, with nothing of this process's environment that it reads."""
    return subprocess.run(
        [sys.executable, "-m", "stateweave_graph", *arguments],
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_json_is_not_mixed_with_lines_of_the_driver(server):
    account = {"NEO4J_USERNAME": server.user, "NEO4J_PASSWORD": server.password}
    for uri, environment, kind in (
        (server.uri, {}, "AuthenticationError"),
        (server.uri, {**account, "NEO4J_PASSWORD": "wrong password"}, "AuthenticationError"),
        (server.uri, {**account, "NEO4J_DATABASE": "nothing"}, "StoreError"),
        (f"{server.uri}/orders", {**account, "NEO4J_DATABASE": "other"}, "InvalidRequestError"),
        (server.uri, {"NEO4J_TOKEN": "x.y.z"}, "AuthenticationError"),
    ):
        done = command("agents", "--db", uri, "--json", **environment)
        assert done.returncode != 0
        assert done.stdout == ""
        assert json.loads(done.stderr)["error"]["type"] == kind, done.stderr
        assert "wrong password" not in done.stderr
    done = command("agents", "--db", server.uri, "--json", **account)
    assert (done.returncode, done.stderr) == (0, "")
    json.loads(done.stdout)


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_the_driver_writes_nothing_to_standard_error(scheme):
    """It warns through logging, and Python prints warnings that no handler takes."""
    text = (
        "import sys; from stateweave_graph import StoreUnavailableError, open_repository\n"
        "try: open_repository(sys.argv[1], user='neo4j', password='x', timeout=1.5).agents()\n"
        "except StoreUnavailableError: print('unavailable')"
    )
    uri = f"{scheme}://127.0.0.1:{free_port()}"
    done = subprocess.run(
        [sys.executable, "-c", text, uri], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.stderr) == ("unavailable\n", "")
