"""How the tests come by a Neo4j: in which order, what is said where none is there, and that one works."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.neo4j_fixtures import need
from tests.support.neo4j_server import (
    LTS,
    NEWEST,
    ROOT,
    MavenServer,
    Server,
    container_variable,
    docker_answers,
    jars,
    jars_folder,
    java_for,
    java_version,
    javas,
    lacking,
    parse_java_version,
    start,
    why_not,
)

# A Java that no machine has, so that the texts don't depend on the machine.
FROM_THE_FUTURE = dataclasses.replace(LTS, java=900)


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Nothing given, no engine, no jars yet, no programs on the path; a folder to put programs in."""
    for name in ("URI", "USER", "PASSWORD", "DATABASE"):
        monkeypatch.delenv(f"NEO4J_TEST_{name}", raising=False)
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'no-engine.sock'}")
    monkeypatch.setenv("STATEWEAVE_GRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java"))
    return programs


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{text}")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)', 17),
        ('openjdk version "25" 2025-09-16 LTS', 25),
        ('openjdk version "21-ea" 2023-09-19', 21),
        ('java version "1.8.0_402"', 8),
        ('Picked up JAVA_TOOL_OPTIONS: -Dversion=3\nopenjdk version "21.0.4" 2024-07-16', 21),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", 0),
        ("", 0),
    ],
)
def test_the_version_in_what_java_prints(text, version):
    assert parse_java_version(text) == version


def test_the_oldest_java_that_is_new_enough(bare, monkeypatch, tmp_path):
    assert java_for(FROM_THE_FUTURE) is None
    newer = program(bare / "java", "echo 'openjdk version \"902.0.1\"' >&2")
    assert java_for(FROM_THE_FUTURE) == newer
    home = tmp_path / "jdk-901"
    older = program(home / "bin" / "java", "echo 'openjdk version \"901\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java_for(FROM_THE_FUTURE) == older
    assert java_for(dataclasses.replace(LTS, java=902)) == newer


def test_a_java_with_two_names_is_asked_once(bare, monkeypatch, tmp_path):
    real = program(tmp_path / "jdk" / "bin" / "java", "echo 'openjdk version \"901\"' >&2")
    (bare / "java").symlink_to(real)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert [java for java in javas() if java.samefile(real)] == [real]


def test_a_java_that_does_not_run(tmp_path):
    broken = tmp_path / "java"
    broken.write_text("not a program")
    assert java_version(broken) == 0


def test_a_given_server_comes_first(bare, monkeypatch, tmp_path):
    monkeypatch.setenv("NEO4J_TEST_URI", "neo4j://db.example:7687")
    assert why_not(FROM_THE_FUTURE) is not None, "what is given stands for the long-term release only"
    assert why_not(LTS) is None
    server = start(LTS, tmp_path / "home")
    assert server.how == "given"
    assert server.arguments() == {"uri": "neo4j://db.example:7687", "user": "neo4j", "password": ""}
    monkeypatch.setenv("NEO4J_TEST_USER", "ada")
    monkeypatch.setenv("NEO4J_TEST_PASSWORD", "s3cret")
    monkeypatch.setenv("NEO4J_TEST_DATABASE", "scratch")
    assert start(LTS, tmp_path / "home").arguments() == {
        "uri": "neo4j://db.example:7687",
        "user": "ada",
        "password": "s3cret",
        "database": "scratch",
    }
    assert not (tmp_path / "home").exists()


def test_no_engine_behind_the_socket(bare, monkeypatch):
    assert not docker_answers()
    with socket.socket() as bound_but_deaf:
        bound_but_deaf.bind(("127.0.0.1", 0))
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{bound_but_deaf.getsockname()[1]}")
        assert not docker_answers()


def test_what_is_missing_is_named(bare):
    reason = why_not(FROM_THE_FUTURE)
    assert reason is not None
    assert reason.startswith("no Neo4j 5.26.30: ")
    assert reason.endswith("start a Docker engine, or install Java 900 or newer and Maven")
    program(bare / "java", "echo 'openjdk version \"900\"' >&2")
    assert str(why_not(FROM_THE_FUTURE)).endswith("or install Maven")
    program(bare / "mvn", "exit 1")
    assert why_not(FROM_THE_FUTURE) is None


def test_jars_that_are_there_need_no_maven(bare):
    program(bare / "java", "echo 'openjdk version \"900\"' >&2")
    jars_folder(FROM_THE_FUTURE).mkdir(parents=True)
    assert why_not(FROM_THE_FUTURE) is None


def test_only_the_long_term_release_can_be_given(bare):
    assert "NEO4J_TEST_URI" in str(why_not(LTS))
    newest = str(why_not(dataclasses.replace(NEWEST, java=900)))
    assert newest == "no Neo4j 2026.08.1: start a Docker engine, or install Java 900 or newer and Maven"


def test_a_download_that_fails_leaves_nothing(bare):
    program(
        bare / "mvn",
        'for a; do case "$a" in -DoutputDirectory=*) mkdir "${a#*=}";; esac; done\necho broken pipe; exit 1',
    )
    with pytest.raises(RuntimeError, match=r"(?s)Maven did not bring Neo4j 5\.26\.30:.*broken pipe"):
        jars(LTS)
    assert [path.name for path in jars_folder(LTS).parent.iterdir()] == ["5.26.30.lock"]


def test_two_that_need_the_jars_download_them_once(bare, tmp_path):
    program(
        bare / "mvn",
        f'echo "$@" >> {tmp_path / "asked"}\nsleep 0.3\n'
        'for a; do case "$a" in -DoutputDirectory=*) mkdir "${a#*=}"; : > "${a#*=}/a.jar";; esac; done',
    )
    with ThreadPoolExecutor(2) as pool:
        folders = list(pool.map(jars, [LTS, LTS]))
    assert folders == [jars_folder(LTS)] * 2
    assert [path.name for path in folders[0].iterdir()] == ["a.jar"]
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    assert "-Dneo4j.version=5.26.30" in asked


def test_settings_reach_a_container_as_the_image_spells_them():
    assert container_variable("server.memory.heap.max_size") == "NEO4J_server_memory_heap_max__size"
    assert container_variable("dbms.usage_report.enabled") == "NEO4J_dbms_usage__report_enabled"


@pytest.mark.parametrize(
    ("ci", "outcome"), [(None, "1 skipped"), ("true", "1 error")], ids=["at a desk", "under CI"]
)
def test_without_a_neo4j_tests_are_skipped_except_under_ci(bare, tmp_path, ci, outcome):
    (tmp_path / "test_sample.py").write_text(
        "from tests.support.neo4j_fixtures import neo4j_server\n\n"
        "def test_sample(neo4j_server):\n    raise AssertionError('it was run')\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path],
        cwd=ROOT,
        env=environment if ci is None else {**environment, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome in done.stdout.splitlines()[-1]
    assert "no Neo4j 5.26.30: set NEO4J_TEST_URI, or start a Docker engine, or install" in done.stdout
    assert done.returncode == (0 if ci is None else 1)


def test_a_server_that_lacks_something_says_what(bare, tmp_path):
    with pytest.raises(RuntimeError, match=r"Neo4j 5\.26\.30 needs Java 900 or newer and Maven"):
        MavenServer(FROM_THE_FUTURE, tmp_path / "home")


def test_a_server_that_does_not_start_says_why(bare, tmp_path):
    """A Java that gives up at once: its words are in the error, and nothing is left running."""
    program(
        bare / "java", "echo 'openjdk version \"900\"' >&2\n[ $# = 1 ] || echo no room for a heap; exit 1"
    )
    jars_folder(FROM_THE_FUTURE).mkdir(parents=True)
    with pytest.raises(RuntimeError, match=r"(?s)Neo4j 5\.26\.30 did not start.*no room for a heap"):
        MavenServer(FROM_THE_FUTURE, tmp_path / "home")


OWNER = """
import json, sys, time
from pathlib import Path
from tests.support.neo4j_server import LTS, MavenServer

server = MavenServer(LTS, Path(sys.argv[1]), heap="512m")
with server.session() as session:
    session.run("CREATE (:Kept {value: 1})").consume()
print(json.dumps({"port": server.port, "pid": server.process.pid}), flush=True)
time.sleep(600)
"""


@pytest.mark.neo4j
def test_a_server_ends_with_its_owner_and_keeps_its_data(tmp_path, monkeypatch):
    """An owner that is killed leaves no server behind; what was written is there at the next start."""
    need(LTS)
    if lacking(LTS):
        pytest.skip("a server that is given, or in a container, has no home of ours")
    home = tmp_path / "home"
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, home], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        said = json.loads(owner.stdout.readline())
        owner.kill()
    deadline = time.monotonic() + 30
    while listening(said["port"]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not listening(said["port"])

    own = MavenServer(LTS, home, heap="512m")
    try:
        with own.session() as session:
            assert session.run("RETURN 1").single().value() == 1
            assert session.run("MATCH (n:Kept) RETURN n.value").value() == [1]
        own.kill()
        own.start()
        given = Server(own.uri, own.user, own.password, "given")
        with pytest.raises(RuntimeError, match="holds data, which the tests would delete"):
            given.empty()
        with own.session() as session:
            assert session.run("MATCH (n:Kept) RETURN n.value").value() == [1]
        own.empty()
        given.empty()
        with own.session() as session:
            session.run("CREATE (:AgentState)").consume()
        given.empty()
        with own.session() as session:
            assert session.run("MATCH (n:AgentState) RETURN count(*)").value() == [0]
    finally:
        own.kill()
    assert not listening(own.port)


def listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
