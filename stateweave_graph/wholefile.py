"""Files that are written whole or not at all; every output of the package goes through here."""

from __future__ import annotations

import errno
import os
import re
import shutil
import socket
import stat
import struct
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

from stateweave_graph.errors import InvalidRequestError, StateWeaveGraphError

_SQLITE_HEADERS = (
    b"SQLite format 3\0",
    b"\x37\x7f\x06\x82",  # write-ahead log
    b"\x37\x7f\x06\x83",
    b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",  # rollback journal
    struct.pack("=I", 3007000) + bytes(4),  # shared memory of the write-ahead log
)
"""How files of SQLite begin (https://www.sqlite.org/fileformat2.html, https://www.sqlite.org/walformat.html)."""

_COMPANIONS = ("-wal", "-shm", "-journal")
"""What the names of files end with that SQLite keeps beside a database."""

_PARTIAL = re.compile(r"\.stateweave-graph-[^.]+\.part")
"""Names of files that are being written."""

_DESCRIPTOR_FOLDERS = ("/dev/fd", "/proc/self/fd", "/proc/thread-self/fd")


@contextmanager
def whole_file(name: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of another when the block is left, and is gone if it fails.

    A link keeps pointing where it points, and a file that is there keeps its permissions. A pipe, a socket, a
    device or an open file (``/dev/stdout``) gets what was written at the end. What a killed process left
    half-written in the folder is removed.

    Raises:
        InvalidRequestError: it can't be written, or is a file of SQLite, which is never replaced.
    """
    try:
        descriptor = _descriptor(os.fspath(name))
        target = Path(name).resolve()
        if descriptor is not None or (target.exists() and not target.is_file()):
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, "it is a folder; give the name of a file in it")
            writing = _copied(target, descriptor)
        else:
            if not target.parent.is_dir():
                folder = os.fspath(target.parent)
                raise NotADirectoryError(
                    errno.ENOTDIR, f"there is no folder {folder!r}; make it first, or choose another"
                )
            writing = _replaced(target)
        with writing as file:
            yield file
    except StateWeaveGraphError:  # of what was to be written
        raise
    except (OSError, ValueError, TypeError) as error:
        shown = os.fspath(name) if isinstance(name, (str, os.PathLike)) else name
        raise InvalidRequestError(f"the file {shown!r} can't be written: {reason(error)}") from None


def reason(error: OSError | ValueError | TypeError) -> str:
    """What the system says, without its number and without the name again."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def refuse_database(target: Path) -> None:
    """Refuse to write over a file of SQLite, whatever name it is given.

    Raises:
        InvalidRequestError: the target is a database, or a file that SQLite keeps beside one.
    """
    lowered = target.name.lower()
    owner = next((target.name[: -len(end)] for end in _COMPANIONS if lowered.endswith(end)), None)
    beside = owner is not None and owner != "" and _header_of(target.with_name(owner)) is not None
    with_companions = any(target.with_name(target.name + end).exists() for end in _COMPANIONS)
    if beside or with_companions or _header_of(target) is not None:
        raise InvalidRequestError(
            f"{os.fspath(target)!r} is a SQLite database or belongs to one, and output never replaces it; "
            "nothing was written. Choose another file name"
        )


def _header_of(path: Path) -> bytes | None:
    """The header that makes a file one of SQLite's; None where it has none."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            head = file.read(16)
    except FileNotFoundError:
        return None
    return next((header for header in _SQLITE_HEADERS if head.startswith(header)), None)


def _descriptor(name: str) -> int | None:
    """The number of the open file that a name such as ``/dev/stdout`` means; else None."""
    if sys.platform == "win32":
        return None
    path = Path(os.path.normpath(Path.cwd() / name))
    own = (*_DESCRIPTOR_FOLDERS, f"/proc/{os.getpid()}/fd")
    for _ in range(40):  # as many links as Linux follows
        folder = os.path.realpath(path.parent)
        if (str(path.parent) in own or folder in own) and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = Path(os.path.normpath(folder / path.readlink()))
    return None


@contextmanager
def _copied(target: Path, descriptor: int | None) -> Iterator[BinaryIO]:
    if target.is_file():
        refuse_database(target)
    with tempfile.TemporaryFile() as kept:
        yield cast(BinaryIO, kept)
        kept.seek(0)
        if descriptor is None and stat.S_ISSOCK(target.stat().st_mode):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.connect(os.fspath(target))
                connection.sendfile(kept)
            return
        if descriptor == 1:
            sys.stdout.flush()
        unbuffered = (
            target.open("wb", buffering=0)
            if descriptor is None
            else os.fdopen(os.dup(descriptor), "wb", buffering=0)
        )
        with unbuffered as file:
            shutil.copyfileobj(kept, _Whole(file))


class _Whole:
    """A file without a buffer, each write to which is continued until everything is written."""

    def __init__(self, file: RawIOBase) -> None:
        self._file = file

    def write(self, data: bytes) -> int:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]
        return len(data)


@contextmanager
def _replaced(target: Path) -> Iterator[BinaryIO]:
    refuse_database(target)
    _remove_abandoned(target.parent)
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "it may not be written by this user")
    handle, partial = _partial_file(target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            partial.chmod(mode)
            os.fsync(file.fileno())
            refuse_database(target)  # again: what stands there may have changed meanwhile
            if sys.platform == "win32":  # which moves no open file
                file.close()
            partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _partial_file(folder: Path) -> tuple[int, Path]:
    """A new file that is locked as long as its process lives, by which others know that it is in use."""
    while True:
        handle, name = tempfile.mkstemp(dir=folder, prefix=".stateweave-graph-", suffix=".part")
        if not _lock(handle):
            return handle, Path(name)
        if Path(name).exists():
            return handle, Path(name)
        os.close(handle)  # another process took it for abandoned before it was locked


def _remove_abandoned(folder: Path) -> None:
    """Remove the partial files of processes that were killed; those of living ones are locked."""
    if sys.platform == "win32":
        return
    with os.scandir(folder) as entries:
        names = [entry.path for entry in entries if _PARTIAL.fullmatch(entry.name)]
    for name in names:
        with suppress(OSError):  # of another user, or removed already
            handle = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if _lock(handle):
                    Path(name).unlink()
            finally:
                os.close(handle)


def _lock(handle: int) -> bool:
    """Lock a file without waiting; whether that could be done."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
