"""Files that are not ours, can't be written, are full or newer; and what SQLite's errors become."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from stateweave_graph import (
    Append,
    InvalidRequestError,
    NotAStoreError,
    NotFoundError,
    SchemaError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
    open_repository,
)
from stateweave_graph.stores.sqlite import SqliteStore
from stateweave_graph.stores.sqlite_connection import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    translated,
)
from stateweave_graph.stores.sqlite_drives import refuse_network_drive
from tests.support.processes import start
from tests.support.states import story

GOAL = [Append(kind="goal", payload="g")]


def fingerprint(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize(
    "content", [b"this is a text, not a database\n" * 99, b"\x00" * 5000, b"SQLite format 3"]
)
def test_a_file_that_is_no_database_is_not_touched(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    before = fingerprint(tmp_path)
    for attempt in range(2):
        with pytest.raises(NotAStoreError, match=r"notes\.txt"), open_repository(path) as repo:
            repo.agents() if attempt else repo.append("a", GOAL, expected_revision=0)
    assert fingerprint(tmp_path) == before


@pytest.mark.parametrize(
    "prepare", ["CREATE TABLE t (x)", "PRAGMA user_version = 3", "PRAGMA application_id = 7"]
)
def test_a_database_of_another_program_is_not_touched(tmp_path, prepare):
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute(prepare)
    connection.commit()
    connection.close()
    before = fingerprint(tmp_path)
    for attempt in range(2):
        with pytest.raises(NotAStoreError, match="another program"), open_repository(path) as repo:
            repo.agents() if attempt else repo.append("a", GOAL, expected_revision=0)
    assert fingerprint(tmp_path) == before


def test_an_empty_file_becomes_a_store(tmp_path):
    path = tmp_path / "empty.db"
    path.touch()
    with open_repository(path) as repo:
        assert repo.agents() == []
        assert path.stat().st_size == 0
        assert repo.store.schema_version() == 0
        repo.append("a", GOAL, expected_revision=0)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_reading_makes_no_file(tmp_path):
    path = tmp_path / "nothing.db"
    with open_repository(path) as repo:
        assert repo.agents() == []
        assert repo.store.schema_version() == 0
        with pytest.raises(NotFoundError):
            repo.load("a")
        with pytest.raises(NotFoundError):
            repo.delete("a")
    assert list(tmp_path.iterdir()) == [] or not path.exists() or path.stat().st_size > 0


def test_a_newer_schema_is_refused_and_not_touched(tmp_path):
    path = tmp_path / "newer.db"
    with open_repository(path) as repo:
        repo.append("a", GOAL, expected_revision=0)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    before = fingerprint(tmp_path)
    for attempt in range(2):
        with (
            pytest.raises(SchemaError, match=f"version {SCHEMA_VERSION + 1}.*Upgrade"),
            open_repository(path) as repo,
        ):
            repo.agents() if attempt else repo.append("a", GOAL, expected_revision=1)
    assert fingerprint(tmp_path) == before


def test_a_folder_that_is_not_there_and_one_in_the_place_of_a_file(tmp_path):
    with pytest.raises(StoreError, match="make it first"), open_repository(tmp_path / "no" / "x.db") as repo:
        repo.append("a", GOAL, expected_revision=0)
    with pytest.raises(StoreError), open_repository(tmp_path) as repo:
        repo.append("a", GOAL, expected_revision=0)


@pytest.fixture
def shared(tmp_path_factory):
    """A folder that another user can get at, with a store in it."""
    folder = Path(tmp_path_factory.mktemp("shared"))
    for parent in (folder, *folder.parents):
        if parent.owner() == Path.home().owner() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | stat.S_IXOTH | stat.S_IROTH)
    with open_repository(folder / "history.db") as repo:
        repo.append("a", GOAL, expected_revision=0)
    return folder


def as_nobody(path: Path) -> list[dict[str, Any]]:
    worker = start("write_as_nobody", str(path))
    said, _ = worker.communicate(timeout=60)
    assert worker.returncode == 0
    return [json.loads(line) for line in said.splitlines()]


def test_a_file_that_can_only_be_read(shared):
    (shared / "history.db").chmod(0o444)
    shared.chmod(0o555)
    try:
        reading, writing = as_nobody(shared / "history.db")
    finally:
        shared.chmod(0o755)
    assert writing["writing"] == "ReadOnlyStoreError"
    assert "can't be written by this user" in writing["says"]
    assert reading == {"nodes": 1}
    with open_repository(shared / "history.db") as repo:
        assert repo.head("a").revision == 1


def test_a_file_that_can_not_be_read(shared):
    (shared / "history.db").chmod(0o000)
    try:
        reading, writing = as_nobody(shared / "history.db")
    finally:
        (shared / "history.db").chmod(0o644)
    assert (reading["reading"], writing["writing"]) == ("StoreError", "ReadOnlyStoreError")
    assert "history.db" in reading["says"]


def test_a_full_store_refuses_a_commit_whole_and_goes_on_when_there_is_room(tmp_path):
    store = SqliteStore(tmp_path / "full.db")
    from stateweave_graph import Repository

    with Repository(store) as repo:
        repo.save("a", story(2), expected_revision=0)
        before = repo.load("a")
        pages = store.administer(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
        store.administer(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages + 2}"))
        large = [Append(kind="goal", payload="x" * 200_000)]
        for _ in range(2):
            with pytest.raises(StoreFullError, match="Make room"):
                repo.append("a", large, expected_revision=1)
            with pytest.raises(StoreFullError), repo.turn("b") as turn:
                turn.goal("x" * 200_000)
        assert repo.load("a") == before
        assert [agent.agent_id for agent in repo.agents()] == ["a"]
        store.administer(lambda connection: connection.execute("PRAGMA max_page_count = 1000000"))
        assert repo.append("a", large, expected_revision=1).revision == 2
        assert repo.load("a", revision=1).state == before.state


def test_a_writer_that_never_ends_makes_others_unavailable_and_not_wrong(tmp_path):
    path = tmp_path / "busy.db"
    with open_repository(path, timeout=0.2) as repo:
        repo.append("a", GOAL, expected_revision=0)
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError, match="write lock") as caught:
            repo.append("a", GOAL, expected_revision=1)
        assert caught.value.retryable
        assert repo.head("a").revision == 1  # readers don't wait
        holder.execute("ROLLBACK")
        holder.close()
        assert repo.append("a", [Append(kind="answer", payload=1)], expected_revision=1).revision == 2


def test_a_damaged_file_is_said_to_be_damaged(tmp_path):
    path = tmp_path / "damaged.db"
    with open_repository(path) as repo:
        repo.save("a", story(40), expected_revision=0)
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(bytes(data))
    with pytest.raises(StoreError, match="backup"), open_repository(path) as repo:
        repo.load("a")


ERRORS = sorted(
    {
        name
        for name, value in vars(sqlite3).items()
        if isinstance(value, type) and issubclass(value, sqlite3.Error)
    }
)


@pytest.mark.parametrize("name", ERRORS)
def test_no_error_of_sqlite_escapes(name):
    with pytest.raises(StoreError, match="here"), translated("here"):
        raise getattr(sqlite3, name)("something")


def test_a_network_drive_is_refused(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/sda1 / ext4 rw 0 0\n"
        f"server:/x {tmp_path}/net nfs4 rw 0 0\n"
        f"//server/y {tmp_path}/net/a\\040b cifs rw 0 0\n"
        f"/dev/sdb1 {tmp_path}/net/local ext4 rw 0 0\n"
    )
    for path in ("net/x.db", "net/deeper/x.db", "net/a b/x.db"):
        with pytest.raises(StoreError, match="network drive"):
            refuse_network_drive(str(tmp_path / path), str(mounts))
    for path in ("x.db", "net/local/x.db", "network/x.db"):
        refuse_network_drive(str(tmp_path / path), str(mounts))
    refuse_network_drive(str(tmp_path / "net/x.db"), str(tmp_path / "no such file"))


@pytest.mark.parametrize(
    ("uri", "name"),
    [("sqlite:///{}/a.db", "/a.db"), ("{}/b.db", "/b.db"), ("SQLITE:///{}/c.db", "/c.db")],
)
def test_uris(tmp_path, uri, name):
    with open_repository(uri.format(tmp_path)) as repo:
        repo.append("a", GOAL, expected_revision=0)
        assert repo.name.endswith(name)
        assert repr(repo) == f"Repository({repo.name!r})"
    assert (tmp_path / name[1:]).exists()


@pytest.mark.parametrize("uri", ["", "mysql://host/db", "sqlite://", "sqlite:///", "sqlite://host/x.db"])
def test_what_is_no_uri(uri):
    with pytest.raises(InvalidRequestError):
        open_repository(uri)


def test_memory_is_gone_when_it_is_closed():
    with open_repository("sqlite:///:memory:") as repo:
        repo.append("a", GOAL, expected_revision=0)
        threads = [
            threading.Thread(target=lambda: repo.append("b", GOAL, expected_revision=0)) for _ in range(1)
        ]
        for thread in threads:
            thread.start()
            thread.join()
        assert len(repo.agents()) == 2
        repo.close()
        with pytest.raises(StoreError, match="closed"):
            repo.agents()


def test_a_copied_file_is_a_whole_store(tmp_path):
    with open_repository(tmp_path / "one.db") as repo:
        repo.save("a", story(3), expected_revision=0)
    shutil.copy(tmp_path / "one.db", tmp_path / "two.db")
    with open_repository(tmp_path / "two.db") as repo:
        assert repo.load("a").state == story(3)
