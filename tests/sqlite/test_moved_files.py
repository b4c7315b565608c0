"""The file at the path is removed, replaced or restored while it is open; its log; the names of files."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from stateweave_graph import (
    ANY_REVISION,
    Append,
    InvalidRequestError,
    NotFoundError,
    Repository,
    StoreError,
    StoreMissingError,
    StoreMovedError,
    open_repository,
)
from stateweave_graph.stores.sqlite_connection import LOG_BYTES
from stateweave_graph.stores.sqlite_drives import refuse_network_drive

ENDS = ("", "-wal", "-shm")


def goal(repo: Repository, payload: object = "g") -> int:
    return repo.append("a", [Append(kind="goal", payload=payload)], expected_revision=ANY_REVISION).revision


def names() -> list[str]:
    return sorted(file.name for file in Path().iterdir())


def remove(path: Path) -> None:
    for end in ENDS:
        Path(f"{path}{end}").unlink(missing_ok=True)


def remove_only_the_database(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def replace(path: Path) -> None:
    other = path.with_name("other.db")
    with open_repository(other) as repo:
        goal(repo, "other")
    other.replace(path)


def replace_all(path: Path) -> None:
    remove(path)
    with open_repository(path) as repo:
        goal(repo, "other")


def remove_the_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def replace_the_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("old"))
    path.parent.mkdir()


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (remove, StoreMissingError),
        (remove_only_the_database, StoreMissingError),
        (move, StoreMissingError),
        (replace, StoreMovedError),
        (replace_all, StoreMovedError),
        (remove_the_log, StoreMovedError),
        (replace_the_folder, StoreMissingError),
    ],
)
def test_nothing_is_acknowledged_that_nobody_can_read(tmp_path, change: Callable[[Path], None], kind):
    path = tmp_path / "folder" / "history.db"
    path.parent.mkdir()
    repo = open_repository(path)
    goal(repo)
    repo.load("a")
    change(path)
    for call in (lambda: goal(repo), lambda: repo.load("a"), repo.agents, lambda: repo.delete("a")):
        with pytest.raises(StoreError) as raised:
            call()
        assert type(raised.value) is kind
        assert str(path) in str(raised.value)
    repo.close()
    with open_repository(path) as again:
        goal(again, "again")
        payloads = [node.payload for node in again.load("a").state.nodes]
    assert payloads in (["again"], ["other", "again"], ["g", "again"])
    assert payloads[0] == "other" or change not in (replace, replace_all)


def test_a_file_that_is_missing_is_not_found(tmp_path):
    with open_repository(tmp_path / "history.db") as repo:
        goal(repo)
        remove(tmp_path / "history.db")
        with pytest.raises(NotFoundError, match="removed or moved while it was open"):
            repo.head("a")


def test_a_file_that_is_put_back_goes_on(tmp_path):
    path = tmp_path / "history.db"
    with open_repository(path) as repo:
        goal(repo)
        path.rename(tmp_path / "away")
        with pytest.raises(StoreMissingError):
            goal(repo)
        (tmp_path / "away").rename(path)
        assert goal(repo) == 2


def test_a_restore_as_the_operators_page_says_is_read_and_not_overwritten(tmp_path):
    path, backup = tmp_path / "history.db", tmp_path / "backup.db"
    with open_repository(path) as repo:
        goal(repo, "kept")
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(backup)) as target:
            source.backup(target)
        goal(repo, "lost")
        shutil.copy(backup, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)
        with pytest.raises(StoreMovedError, match="stop every process"):
            goal(repo)
    for end in ENDS[1:]:
        Path(f"{path}{end}").unlink(missing_ok=True)
    with open_repository(path) as repo:
        assert [node.payload for node in repo.load("a").state.nodes] == ["kept"]
        assert goal(repo) == 2


def test_a_file_moved_aside_keeps_its_commits_and_its_log_leaves_the_restored_one_alone(tmp_path):
    path, aside, backup = tmp_path / "history.db", tmp_path / "aside.db", tmp_path / "backup.db"
    with open_repository(backup) as repo:
        goal(repo, "backup")
    repo = open_repository(path)
    for number in range(3):
        goal(repo, number)
    path.rename(aside)
    shutil.copy(backup, path)
    with pytest.raises(StoreMovedError):
        goal(repo)
    with open_repository(path) as restored:  # the log of the old file is still there, and empty
        assert [node.payload for node in restored.load("a").state.nodes] == ["backup"]
    repo.close()
    with open_repository(aside) as old:
        assert [node.payload for node in old.load("a").state.nodes] == [0, 1, 2]


def test_a_file_that_was_replaced_between_two_repositories_of_one_process(tmp_path):
    path = tmp_path / "history.db"
    with open_repository(path) as old:
        goal(old)
        replace_all(path)
        with open_repository(path) as new:
            assert goal(new) == 2
            with pytest.raises(StoreMovedError):
                goal(old)
    with open_repository(path) as new:
        assert new.head("a").revision == 2


def test_the_log_is_cut_and_keeps_nothing_that_was_deleted(tmp_path):
    path = tmp_path / "history.db"
    with open_repository(path) as repo:
        repo.append("big", [Append(kind="goal", payload="x" * 30_000_000)], expected_revision=0)
        repo.append("b", [Append(kind="goal", payload="secret-of-b " * 1000)], expected_revision=0)
        for number in range(3):
            goal(repo, number)
        assert Path(f"{path}-wal").stat().st_size <= LOG_BYTES
        repo.delete("b")
        repo.delete("big")
        for end in ENDS:
            assert b"secret-of-b" not in Path(f"{path}{end}").read_bytes()


def test_deleted_text_leaves_the_log_once_nobody_reads_it_any_more(tmp_path):
    path = tmp_path / "history.db"
    with open_repository(path) as repo:
        repo.append("b", [Append(kind="goal", payload="secret-of-b " * 1000)], expected_revision=0)
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
            repo.delete("b")
        goal(repo)
        for end in ENDS:
            assert b"secret-of-b" not in Path(f"{path}{end}").read_bytes()


REMOTE = (
    "nfs",
    "nfs4",
    "cifs",
    "smb2",
    "smb3",
    "smbfs",
    "virtiofs",
    "9p",
    "lustre",
    "ceph",
    "glusterfs",
    "afs",
)
REMOTE_FUSE = (
    "fuse.sshfs",
    "fuse.s3fs",
    "fuse.rclone",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.ceph-fuse",
    "fuse",
)
LOCAL = ("ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuseblk", "fuse.mergerfs", "apfs", "f2fs")


@pytest.mark.parametrize("kind", REMOTE + REMOTE_FUSE)
@pytest.mark.parametrize(
    "point", ["net", "a b", "tab\there", "new\nline", "back\\slash", "back\\040slash", "ünï"]
)
def test_network_drives(tmp_path, kind, point):
    escaped = "".join(f"\\{ord(one):03o}" if one in " \t\n\\" else one for one in f"{tmp_path}/{point}")
    mounts = tmp_path / "mounts"
    mounts.write_bytes(f"/dev/sda1 / ext4 rw 0 0\nsource {escaped} {kind} rw 0 0\n".encode())
    with pytest.raises(StoreError, match=f"network drive \\({kind}"):
        refuse_network_drive(f"{tmp_path}/{point}/history.db", str(mounts))
    refuse_network_drive(f"{tmp_path}/{point}2/history.db", str(mounts))


@pytest.mark.parametrize("kind", LOCAL)
def test_local_drives(tmp_path, kind):
    (tmp_path / "mounts").write_text(
        f"nfs-server:/x / nfs rw 0 0\n/dev/sda1 {tmp_path} {kind} rw 0 0\n", "utf-8"
    )
    refuse_network_drive(f"{tmp_path}/history.db", str(tmp_path / "mounts"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("file:h.db", "h.db"),
        ("file:./h.db", "h.db"),
        ("file:h%20i.db", "h i.db"),
        ("file:h.db?mode=rwc", "h.db"),
        ("sqlite:///h.db", "h.db"),
        ("h.db", "h.db"),
        ("./sqlite:h.db", "sqlite:h.db"),
        ("./file:h.db", "file:h.db"),
        ("h%20i.db", "h%20i.db"),
        ("a?b#c.db", "a?b#c.db"),
    ],
)
def test_a_name_means_one_file_everywhere(tmp_path, monkeypatch, text, name):
    monkeypatch.chdir(tmp_path)
    with open_repository(text) as repo:
        goal(repo)
        assert names() == sorted(f"{name}{end}" for end in ENDS)
    with open_repository(Path(name)) as repo:
        assert repo.head("a").revision == 1


@pytest.mark.parametrize(
    "text",
    [
        "sqlite:x.db",
        "sqlite://x.db",
        "file://host/x.db",
        "file:x.db?mode=ro",
        "file:x.db?cache=shared",
        "sqlite:///x.db?mode=ro",
        "http:x.db",
        "neo4j:x",
        "postgres://x/y",
        "file:",
        "file:?mode=rwc",
    ],
)
def test_a_name_with_two_meanings_is_refused_and_makes_no_file(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequestError):
        open_repository(text)
    assert names() == []


@pytest.mark.parametrize("text", ["file::memory:", "file:any?mode=memory", ":memory:", "sqlite:///:memory:"])
def test_names_of_memory(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    with open_repository(text) as repo:
        goal(repo)
    assert names() == []
