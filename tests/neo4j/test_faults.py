"""Connections that are cut, servers that are killed or wrong: each told apart, and nothing lost."""

from __future__ import annotations

import json
import time

import pytest
from neo4j import exceptions

from stateweave_graph import (
    Append,
    AuthenticationError,
    InvalidRequestError,
    SchemaError,
    StateWeaveGraphError,
    StoreError,
    StoreUnavailableError,
    open_repository,
    validate,
)
from stateweave_graph.cyphertext import schema_statements
from stateweave_graph.stores.neo4j_connection import refuse_old_server, without_credentials
from stateweave_graph.stores.neo4j_errors import meaning_of
from tests.support.neo4j_server import LTS, MavenServer, free_port, lacking
from tests.support.processes import run_together, start
from tests.support.proxy import COMMIT, Proxy
from tests.support.states import append, story

# Where a connection is refused, the driver leaves its socket to the garbage collector.
LEAKY = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def repo(server):
    with open_repository(**server.arguments()) as repository:
        yield repository


@pytest.fixture
def proxy(server):
    host, port = server.uri.removeprefix("bolt://").split(":")
    proxy = Proxy(host, int(port))
    yield proxy
    proxy.close()


@pytest.fixture
def through(server, proxy):
    arguments = {**server.arguments(), "uri": f"bolt://127.0.0.1:{proxy.port}", "timeout": 10.0}
    with open_repository(**arguments) as repository:
        yield repository


def once(proxy, moment, marker):
    """Cut the connection once, before or after the client's message with a marker is passed on."""
    left = [True]

    def watch(data: bytes) -> bool:
        if marker in data and left:
            left.pop()
            return False
        return True

    setattr(proxy, moment, watch)
    return left


@LEAKY
@pytest.mark.parametrize("moment", ["before_passing", "after_passing"])
def test_a_connection_cut_at_commit(repo, through, proxy, moment):
    """COMMIT may have been done or not: the commit id tells, and it is done once."""
    through.append("a", [append("goal", "first")], expected_revision=0)
    for number in range(3):
        left = once(proxy, moment, COMMIT)
        commit = through.append("a", [append("goal", number)], expected_revision=number + 1)
        assert not left, "the connection was cut"
        assert commit.revision == number + 2
        assert not commit.replayed
    assert [node.payload for node in repo.load("a").state.nodes] == ["first", 0, 1, 2]
    assert len(repo.log("a")) == 4


@LEAKY
def test_a_turn_and_a_save_whose_connection_is_cut(repo, through, proxy):
    through.save("a", story(1), expected_revision=0)
    once(proxy, "after_passing", COMMIT)
    assert through.save("a", story(2), expected_revision=1).revision == 2
    once(proxy, "after_passing", COMMIT)
    with through.turn("a") as turn:
        turn.goal("g")
        turn.answer("x")
    assert turn.commit is not None
    assert turn.commit.revision == 3
    assert repo.head("a").node_count == len(story(2).nodes) + 2


@LEAKY
def test_a_connection_cut_before_and_between_statements(repo, through, proxy):
    through.append("a", [append("goal", "first")], expected_revision=0)
    proxy.cut()
    assert through.append("a", [append("goal", "second")], expected_revision=1).revision == 2
    once(proxy, "after_passing", b"SET s += $agent")
    assert through.append("a", [append("goal", "third")], expected_revision=2).revision == 3
    assert len(repo.load("a").state.nodes) == 3


@LEAKY
def test_a_server_that_stays_away_says_that_the_outcome_is_unknown(server, repo, proxy):
    arguments = {**server.arguments(), "uri": f"bolt://127.0.0.1:{proxy.port}", "timeout": 2.0}
    with open_repository(**arguments) as through:
        through.append("a", [append("goal", "first")], expected_revision=0)

        def gone(data: bytes) -> bool:
            proxy.down = proxy.down or COMMIT in data
            return not proxy.down

        proxy.after_passing = gone
        with pytest.raises(StoreUnavailableError, match="commit_id='mine'") as caught:
            through.append("a", [append("goal", "second")], expected_revision=1, commit_id="mine")
        assert caught.value.retryable
        assert caught.value.outcome_unknown
        proxy.down = False
        proxy.after_passing = lambda data: True
        again = through.append("a", [append("goal", "second")], expected_revision=1, commit_id="mine")
        assert again.revision == 2
    assert len(repo.load("a").state.nodes) == 2


@pytest.mark.skipif(bool(lacking(LTS)), reason=str(lacking(LTS)))
def test_a_killed_server_loses_nothing_acknowledged(tmp_path):
    own = MavenServer(LTS, tmp_path / "home", heap="512m")
    try:
        where = json.dumps(own.arguments())
        worker = start("stream", where, "a")
        assert worker.stdout is not None
        said = [worker.stdout.readline() for _ in range(20)]
        own.kill()
        worker.kill()
        rest, _ = worker.communicate()
        lines = [line for line in [*said, *rest.splitlines(keepends=True)] if line.endswith("\n")]
        acknowledged = json.loads(lines[-1])
        own.start()
        with open_repository(**own.arguments()) as repo:
            assert repo.head("a").revision >= acknowledged["revision"] >= 20
            assert repo.node("a", acknowledged["answer"]).kind == "answer"
            assert validate(repo.load("a").state.to_json()) == []
            with repo.turn("a") as turn:
                turn.goal("after the crash")
    finally:
        own.kill()


@LEAKY
def test_no_server():
    with open_repository(f"bolt://127.0.0.1:{free_port()}", user="neo4j", password="x", timeout=1.0) as repo:
        for use in (repo.agents, lambda: repo.append("a", [append("goal", "g")], expected_revision=0)):
            began = time.monotonic()
            with pytest.raises(StoreUnavailableError, match="can't be reached") as caught:
                use()
            assert caught.value.retryable
            assert time.monotonic() - began < 30
    with (
        pytest.raises(StoreUnavailableError, match=r"no\.such\.host"),
        open_repository("neo4j://no.such.host.invalid", timeout=1.0) as repo,
    ):
        repo.agents()


def test_a_wrong_password_is_never_shown(server):
    with open_repository(server.uri, user=server.user, password="a secret that is wrong") as repo:
        with pytest.raises(AuthenticationError, match="user or the password") as caught:
            repo.agents()
        shown = [str(caught.value), repr(caught.value), repr(repo), repr(repo.store), repo.name]
        assert not [text for text in shown if "secret" in text]


def test_a_wrong_database(server):
    with (
        pytest.raises(StoreError, match="no such database"),
        open_repository(server.uri, user=server.user, password=server.password, database="nothing") as repo,
    ):
        repo.agents()


def test_a_newer_schema_is_refused(server, repo):
    repo.append("a", [append("goal", "g")], expected_revision=0)
    with server.session() as session:
        session.run("MATCH (v:StateWeaveSchema) SET v.version = 99").consume()
    try:
        with (
            pytest.raises(SchemaError, match=r"version 99.*Upgrade"),
            open_repository(**server.arguments()) as newer,
        ):
            newer.agents()
    finally:
        with server.session() as session:
            session.run("MATCH (v:StateWeaveSchema) SET v.version = 1").consume()


@pytest.mark.parametrize(
    ("agent", "refused"),
    [
        ("Neo4j/5.25.1", True),
        ("Neo4j/4.4.0", True),
        ("Neo4j/5.26.0", False),
        ("Neo4j/2026.08.1", False),
        ("x", False),
    ],
)
def test_old_servers_are_refused(agent, refused):
    if not refused:
        refuse_old_server(agent, "here")
        return
    with pytest.raises(StoreError, match=r"5\.26 or newer"):
        refuse_old_server(agent, "here")


@pytest.mark.parametrize("uri", ["bolt://me:secret@host", "neo4j://me@host:7687"])
def test_a_password_in_a_uri_is_refused(uri):
    with pytest.raises(InvalidRequestError, match="apart") as caught:
        open_repository(uri)
    assert "secret" not in str(caught.value)
    assert "@" not in without_credentials(uri)


def test_a_bad_uri_and_server_options_for_a_file():
    with pytest.raises(InvalidRequestError), open_repository("bolt://host:port") as repo:
        repo.agents()
    with pytest.raises(InvalidRequestError, match="file"):
        open_repository("x.db", user="neo4j", password="x")


def _kinds():
    return sorted(
        (
            kind
            for kind in vars(exceptions).values()
            if isinstance(kind, type) and issubclass(kind, (exceptions.Neo4jError, exceptions.DriverError))
        ),
        key=lambda kind: kind.__name__,
    )


@pytest.mark.parametrize("kind", _kinds(), ids=lambda kind: kind.__name__)
def test_every_error_of_the_driver_means_one_of_ours(kind):
    meant = meaning_of(kind("what the driver said"), "here")
    assert isinstance(meant, StateWeaveGraphError)
    assert str(meant).startswith("here: ")


def test_missing_rights_are_told_apart():
    for code, kind in (
        ("Neo.ClientError.Security.Forbidden", AuthenticationError),
        ("Neo.ClientError.Security.Unauthorized", AuthenticationError),
        ("Neo.ClientError.Security.CredentialsExpired", AuthenticationError),
        ("Neo.ClientError.Database.DatabaseNotFound", StoreError),
    ):
        error = exceptions.Neo4jError._hydrate_neo4j(code=code, message="no")
        assert type(meaning_of(error, "here")) is kind, code


def test_who_we_are_shows_in_the_server(server, repo):
    repo.append("a", [append("goal", "g")], expected_revision=0)
    seen = []

    def work(tx):
        tx.lock("a")
        with server.session() as session:
            seen.extend(session.run("SHOW TRANSACTIONS YIELD metaData RETURN metaData").value())
            seen.extend(session.run("CALL dbms.listConnections() YIELD userAgent RETURN userAgent").value())

    repo.store.write(work)
    assert any(isinstance(said, dict) and said.get("app") == "stateweave-graph" for said in seen)
    assert any(isinstance(said, str) and said.startswith("stateweave-graph/") for said in seen)


def test_bookmarks_are_handed_over(server, repo):
    commit = repo.append("a", [append("goal", "g")], expected_revision=0)
    marks = repo.bookmarks()
    assert marks
    uri = server.uri.replace("bolt://", "neo4j://")
    with open_repository(**{**server.arguments(), "uri": uri}, bookmarks=marks) as other:
        assert other.head("a").revision == commit.revision
        other.append("a", [Append(kind="answer", payload=1)], expected_revision=1)
        assert other.bookmarks() != marks


def test_many_processes_use_a_database_first(server):
    """Schema statements that run at once fail in Neo4j; five workers still get one schema and one agent."""
    with server.session() as session:
        for name in session.run("SHOW CONSTRAINTS YIELD name").value():
            session.run(f"DROP CONSTRAINT {name}").consume()
        for name in session.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name").value():
            session.run(f"DROP INDEX {name}").consume()
        session.run("MATCH (n) DETACH DELETE n").consume()
    said = run_together([start("begin", json.dumps(server.arguments()), str(worker)) for worker in range(5)])
    assert sorted(word for lines in said for line in lines for word in line) == ["lost"] * 4 + ["won"]
    with server.session() as session:
        constraints = session.run("SHOW CONSTRAINTS YIELD name").value()
        indexes = session.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name").value()
    assert (len(constraints), len(indexes)) == (8, 17)
    assert len(schema_statements()) == len(set(constraints) | set(indexes))
