"""A real Neo4j for tests: one that is given, a container, or a server made of its Maven artifacts."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

ROOT = Path(__file__).parents[2]
POM = Path(__file__).parent / "neo4j" / "pom.xml"
PASSWORD = "for-the-tests"
PATIENCE = 180.0

# Ends a server when whoever started it ends in whatever way: then nothing holds the other end of the pipe.
_WATCH = "import os, sys; sys.stdin.buffer.read(); os.kill(int(sys.argv[1]), 9)"


@dataclass(frozen=True)
class Release:
    """A version of Neo4j as the tests start it.

    Attributes:
        version: the version of its artifacts, and of its image.
        java: the oldest Java that it runs on.
        main: its main class.
        options: options for the Java virtual machine.
        settings: settings of the server that other releases don't know.
    """

    version: str
    java: int
    main: str
    options: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def configuration(self, heap: str) -> dict[str, str]:
        """The settings of a server, however it is started: small, and silent towards the network."""
        return {
            "server.http.enabled": "false",
            "dbms.usage_report.enabled": "false",
            "server.memory.pagecache.size": "256m",
            "server.memory.heap.max_size": heap,
            # Else each of its two databases takes 256 MB of disk before it holds anything.
            "db.tx_log.preallocate": "false",
            **self.settings,
        }


_OPENED = tuple(
    f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in ("java.nio", "java.io", "sun.nio.ch")
)
LTS = Release("5.26.30", 17, "org.neo4j.server.CommunityEntryPoint", _OPENED)
NEWEST = Release(
    "2026.08.1",
    21,
    "org.neo4j.server.Neo4jCommunity",
    (*_OPENED, "--add-modules=jdk.incubator.vector", "--sun-misc-unsafe-memory-access=allow"),
    # Else it opens a port beside Bolt's and tells the local network of itself.
    {"server.fleet_discovery.enabled": "false", "dbms.fleet_manager.enabled": "false"},
)


@dataclass
class Server:
    """A server that answers.

    Attributes:
        uri: its bolt URI.
        user: the user.
        password: the password.
        database: the database; None for the home database.
        how: ``given``, ``container`` or ``maven``.
    """

    uri: str
    user: str
    password: str
    how: str
    database: str | None = None
    _stop: Any = field(default=lambda: None, repr=False)

    def arguments(self) -> dict[str, Any]:
        """What ``open_repository`` takes."""
        found: dict[str, Any] = {"uri": self.uri, "user": self.user, "password": self.password}
        return found if self.database is None else {**found, "database": self.database}

    @contextlib.contextmanager
    def session(self) -> Iterator[Any]:
        """A session of the driver, with nothing of ours in between."""
        with (
            GraphDatabase.driver(
                self.uri, auth=(self.user, self.password), notifications_min_severity="OFF"
            ) as driver,
            driver.session(database=self.database) as session,
        ):
            yield session

    def empty(self) -> None:
        """Delete all data; the schema stays.

        Raises:
            RuntimeError: the server is one that was given, and holds data that is not of the tests.
        """
        with self.session() as session:
            if self.how == "given":
                self._claim(session)
            while session.run(
                "MATCH (n) WHERE NOT n:StateWeaveSchema AND NOT n:StateWeaveTests "
                "WITH n LIMIT 5000 DETACH DELETE n RETURN count(*) AS n"
            ).single()["n"]:
                pass

    def _claim(self, session: Any) -> None:
        """Mark an empty database as one for tests, so that only such a one is ever emptied."""
        claimed, used = session.run(
            "RETURN EXISTS { MATCH (:StateWeaveTests) }, EXISTS { MATCH (n) }"
        ).single()
        if claimed:
            return
        if used:
            raise RuntimeError(
                f"the database at {self.uri} holds data, which the tests would delete: "
                "let NEO4J_TEST_URI, or NEO4J_TEST_DATABASE, name an empty one"
            )
        session.run("CREATE (:StateWeaveTests)").consume()

    def stop(self) -> None:
        """Stop it, where it was started here."""
        self._stop()


class MavenServer(Server):
    """A server made of its Maven artifacts, on loopback, as a process of ours."""

    def __init__(self, release: Release, home: Path, heap: str = "1g") -> None:
        super().__init__("", "neo4j", PASSWORD, "maven")
        self.release, self.home, self.heap = release, home, heap
        self.port = free_port()
        self.uri = f"bolt://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        self._stop = self.kill  # its data is thrown away, and an orderly end takes 5 to 10 s
        settings = {
            "server.bolt.listen_address": f"127.0.0.1:{self.port}",
            "server.bolt.advertised_address": f"127.0.0.1:{self.port}",
            **release.configuration(heap),
        }
        (home / "conf").mkdir(parents=True, exist_ok=True)
        (home / "conf" / "neo4j.conf").write_text("".join(f"{key}={settings[key]}\n" for key in settings))
        atexit.register(self.kill)
        self.start()

    def start(self) -> None:
        """Start it, again after it was killed, and wait until it answers.

        Raises:
            RuntimeError: something that it needs is missing, Maven failed, or it does not answer.
        """
        missing = lacking(self.release)
        if missing:
            raise RuntimeError(f"Neo4j {self.release.version} needs {' and '.join(missing)}")
        command = [
            str(java_for(self.release)),
            f"-Xmx{self.heap}",
            *self.release.options,
            "-cp",
            f"{jars(self.release)}/*",
            self.release.main,
            f"--home-dir={self.home}",
            f"--config-dir={self.home / 'conf'}",
            "--console-mode",
        ]
        with (self.home / "console.log").open("ab") as console:
            self.process = subprocess.Popen(
                command, stdout=console, stderr=subprocess.STDOUT, start_new_session=True
            )
        try:
            self._watcher = subprocess.Popen(
                [sys.executable, "-I", "-c", _WATCH, str(self.process.pid)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._wait()
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """Pull the plug: SIGKILL."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        if self._watcher is not None:
            self._watcher.kill()
            self._watcher.communicate()

    def _wait(self) -> None:
        assert self.process is not None
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                # The driver leaves a socket open where it is refused, so knock first.
                socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
                self._log_in()
            except (Neo4jError, DriverError, OSError) as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    tail = (self.home / "console.log").read_text("utf-8", "replace")[-3_000:]
                    raise RuntimeError(
                        f"Neo4j {self.release.version} did not start: {error}\n{tail}"
                    ) from error
                time.sleep(0.25)
            else:
                return

    def _log_in(self) -> None:
        """The first login changes the password; later ones find it changed."""
        marker = self.home / "password-set"
        first = "neo4j" if not marker.exists() else PASSWORD
        with (
            GraphDatabase.driver(self.uri, auth=("neo4j", first)) as driver,
            driver.session(database="system" if not marker.exists() else None) as session,
        ):
            if marker.exists():
                session.run("RETURN 1").consume()
                return
            session.run("ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $p", p=PASSWORD).consume()
            marker.touch()
        with self.session() as session:
            session.run("RETURN 1").consume()


def start(release: Release, home: Path, heap: str = "1g") -> Server:
    """A server of this release, in the first way that is there (see ``why_not``).

    Args:
        release: which; what ``NEO4J_TEST_URI`` names stands for the long-term release only.
        home: the folder for its data, where it is made of its Maven artifacts.
        heap: the most that Java's heap may take, as ``512m`` or ``1g``.

    Raises:
        RuntimeError: it can't be started; the text says why.
    """
    given = os.environ.get("NEO4J_TEST_URI")
    if given and release is LTS:
        return Server(
            given,
            os.environ.get("NEO4J_TEST_USER", "neo4j"),
            os.environ.get("NEO4J_TEST_PASSWORD", ""),
            "given",
            os.environ.get("NEO4J_TEST_DATABASE"),
        )
    if docker_answers():
        return container(release, heap)
    return MavenServer(release, home, heap)


def container(release: Release, heap: str) -> Server:
    """A container of the release's image; its port is one that the engine chose."""
    from testcontainers.community.neo4j import Neo4jContainer

    # The name is said, since $NEO4J_USER would be taken for it.
    running = Neo4jContainer(f"neo4j:{release.version}-community", username="neo4j", password=PASSWORD)
    for setting, value in release.configuration(heap).items():
        running.with_env(container_variable(setting), value)
    running.start()
    return Server(running.get_connection_url(), "neo4j", PASSWORD, "container", _stop=running.stop)


def container_variable(setting: str) -> str:
    """The environment variable that carries a setting into Neo4j's image."""
    return "NEO4J_" + setting.replace("_", "__").replace(".", "_")


def why_not(release: Release) -> str | None:
    """What is missing to start a server of this release; None where nothing is."""
    if os.environ.get("NEO4J_TEST_URI") and release is LTS:
        return None
    if docker_answers():
        return None
    missing = lacking(release)
    if not missing:
        return None
    given = "set NEO4J_TEST_URI, or " if release is LTS else ""
    return f"no Neo4j {release.version}: {given}start a Docker engine, or install {' and '.join(missing)}"


def lacking(release: Release) -> list[str]:
    """What is not there of what a server made of Maven artifacts needs."""
    missing = []
    if java_for(release) is None:
        missing.append(f"Java {release.java} or newer")
    if shutil.which("mvn") is None and not jars_folder(release).is_dir():
        missing.append("Maven")
    return missing


def docker_answers() -> bool:
    """Whether a Docker engine answers a ping; a client without an engine is common."""
    try:
        import docker
        from docker.errors import DockerException
    except ImportError:
        return False
    with warnings.catch_warnings():
        # The library leaves its socket open where nothing answers.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            client = docker.from_env(timeout=5)
            answers = bool(client.ping())
            client.close()
        except (DockerException, OSError):
            answers = False
        gc.collect()
    return answers


def java_for(release: Release) -> Path | None:
    """The Java to start a release with: the oldest of those found that is new enough."""
    found = {version: path for path in javas() if (version := java_version(path)) >= release.java}
    return found[min(found)] if found else None


def javas() -> list[Path]:
    """The Java programs of this machine."""
    homes = [os.environ.get("JAVA_HOME"), *Path("/usr/lib/jvm").glob("*"), *Path("/opt").glob("*")]
    named = [Path(home) / "bin" / "java" for home in homes if home]
    found = [program for program in [*named, shutil.which("java")] if program and Path(program).is_file()]
    # Many names of one program are common; each would be asked for its version.
    return list({os.path.realpath(program): Path(program) for program in reversed(found)}.values())


def java_version(program: Path) -> int:
    """The feature version of a Java program; 0 where it doesn't say."""
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return parse_java_version(done.stderr)


def parse_java_version(text: str) -> int:
    """The feature version in what ``java -version`` prints."""
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else 0


def cache_folder() -> Path:
    """Where jars are kept between runs."""
    return Path(os.environ.get("STATEWEAVE_GRAPH_CACHE", ROOT / ".cache"))


def jars_folder(release: Release) -> Path:
    """The folder of a release's jars, whether they are there or not."""
    return cache_folder() / "neo4j" / release.version


def jars(release: Release) -> Path:
    """The folder of a release's jars, which Maven brings if they are not there yet.

    Raises:
        RuntimeError: Maven failed; the text has its last words.
    """
    folder = jars_folder(release)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{release.version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
                half = Path(scratch) / "jars"
                _copy_jars(release, half)
                half.rename(folder)
    return folder


def _copy_jars(release: Release, folder: Path) -> None:
    command = [
        "mvn",
        "-q",
        "-B",
        "-f",
        str(POM),
        f"-Dneo4j.version={release.version}",
        "dependency:copy-dependencies",
        f"-DoutputDirectory={folder}",
        "-DincludeScope=runtime",
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"Maven did not bring Neo4j {release.version}:\n{done.stdout[-3_000:]}")


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
