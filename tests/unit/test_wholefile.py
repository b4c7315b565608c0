"""Outputs replace no database, keep what is there, and leave nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from stateweave_graph import InvalidRequestError, open_repository
from stateweave_graph.wholefile import whole_file
from tests.support.command import ROOT, run
from tests.support.states import story


@pytest.fixture
def folder(tmp_path):
    with open_repository(tmp_path / "stateweave.db") as repo:
        repo.save("story", story(2), expected_revision=0)
    return tmp_path


def write(name, data=b"new"):
    with whole_file(name) as file:
        file.write(data)


def other_names(folder: Path) -> list[Path]:
    (folder / "sub").mkdir()
    (folder / "link").symlink_to("stateweave.db")
    (folder / "link2").symlink_to(folder / "link")
    (folder / "hard.json").hardlink_to(folder / "stateweave.db")
    shutil.copy(folder / "stateweave.db", folder / "copy.json")
    ends = ["", "-wal", "-shm", "-journal", "-WAL"]
    names = [folder / f"stateweave.db{end}" for end in ends]
    return [
        *names,
        folder / "link",
        folder / "link2",
        folder / "hard.json",
        folder / "copy.json",
        folder / "sub" / ".." / "stateweave.db",
    ]


def test_no_output_replaces_a_database(folder):
    with open_repository(folder / "stateweave.db") as repo:
        repo.record_failure("story", input="x", error="y")
        head = repo.head("story")
        names = other_names(folder)
        (folder / "hard-wal").hardlink_to(folder / "stateweave.db-wal")
        before = {entry: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}
        for name in [*names, folder / "hard-wal"]:
            with pytest.raises(InvalidRequestError):
                write(name)
            for form in ("json", "jsonl", "graphml", "session-log"):
                with pytest.raises(InvalidRequestError):
                    repo.export("story", name, format=form)
        after = {entry: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}
        assert after == before
        assert repo.head("story") == head


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", "story", "-o", "stateweave.db"],
        ["export", "story", "--format", "json", "-o", "./stateweave.db-wal"],
        ["view", "story", "-o", "stateweave.db"],
        ["view", "story", "-o", "link.html"],
        ["query", "failures", "--agent", "story", "--format", "json", "-o", "link.html"],
    ],
)
def test_no_command_replaces_a_database(folder, arguments):
    (folder / "link.html").symlink_to("stateweave.db")
    before = (folder / "stateweave.db").read_bytes()
    done = run(*arguments, cwd=folder)
    assert done.code == 2, done
    assert (folder / "stateweave.db").read_bytes() == before
    assert not (folder / "stateweave.db-wal").exists()


def test_a_database_that_appears_while_writing_stays(folder):
    target = folder / "out.json"
    writing = whole_file(target)
    writing.__enter__().write(b"new")
    shutil.copy(folder / "stateweave.db", target)
    with pytest.raises(InvalidRequestError, match="never replaces"):
        writing.__exit__(None, None, None)
    assert target.read_bytes() == (folder / "stateweave.db").read_bytes()
    assert not list(folder.glob(".stateweave*"))


def test_links_and_permissions_are_kept(tmp_path):
    target = tmp_path / "real.json"
    target.write_bytes(b"old")
    target.chmod(0o640)
    (tmp_path / "link.json").symlink_to("real.json")
    write(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_pipes_sockets_devices_and_open_files(tmp_path):
    big = b"x" * 300_000
    read = []
    os.mkfifo(tmp_path / "pipe")
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write(tmp_path / "pipe", big)
    reader.join(30)
    assert read == [big]

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        server.listen()
        write(tmp_path / "socket", b"short")
        with server.accept()[0] as connection, connection.makefile("rb") as stream:
            assert stream.read() == b"short"

    write("/dev/null", big)
    with pytest.raises(InvalidRequestError, match=r"/dev/full.*No space"):
        write("/dev/full", big)
    with (tmp_path / "open").open("w+b") as file:
        file.write(b"before,")
        file.flush()
        write(f"/dev/fd/{file.fileno()}")
        assert (tmp_path / "open").read_bytes() == b"before,new"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_name(folder, name):
    expected = run("export", "story", cwd=folder)
    done = run("export", "story", "-o", name, cwd=folder)
    assert (done.code, done.out) == (0, expected.out), done.err


def interrupted(name):
    with whole_file(name) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def test_what_cannot_be_written_is_named_and_stays(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    for name, says in (
        (tmp_path, "folder"),
        (tmp_path / "missing" / "x.json", "missing"),
        (tmp_path / "file" / "x.json", "file"),
        (tmp_path / ("x" * 300), "long"),
        (tmp_path / "a\0b", "null"),
    ):
        with pytest.raises(InvalidRequestError, match=says):
            write(name)
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "file")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


WRITER = """
import sys
from stateweave_graph.wholefile import whole_file
with whole_file(sys.argv[1]) as file:
    file.write(b"half"); file.flush(); print("writing", flush=True); sys.stdin.read()
"""


def test_files_of_killed_writers_go_and_of_living_ones_stay(tmp_path):
    def start(name):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / name)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        return process

    killed, living = start("killed.json"), start("living.json")
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    assert len(list(tmp_path.iterdir())) == 2
    write(tmp_path / "other.json")
    assert len(list(tmp_path.iterdir())) == 2, "that of the living one, and the new file"
    living.communicate(timeout=60)
    assert living.returncode == 0
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["living.json", "other.json"]


@pytest.mark.parametrize(
    ("name", "form", "begins"),
    [
        ("x.csv", None, None),
        ("x.html", "json", None),
        ("x.json", "graphml", None),
        ("x.json.gz", None, None),
        ("x.ndjson", None, b'{"type":"history"'),
        ("x.JSON", None, b'{"version"'),
        ("x.graphml", None, b"<?xml"),
        ("x.bak", None, b'{"version"'),
        ("x", "jsonl", b'{"type":"history"'),
    ],
)
def test_the_ending_and_the_format_agree(folder, name, form, begins):
    with open_repository(folder / "stateweave.db") as repo:
        if begins is None:
            with pytest.raises(InvalidRequestError, match=r"graphml: \.graphml"):
                repo.export("story", folder / name, format=form)
            assert not (folder / name).exists()
        else:
            repo.export("story", folder / name, format=form)
            assert (folder / name).read_bytes().startswith(begins)
