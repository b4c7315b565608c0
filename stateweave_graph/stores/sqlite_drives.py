"""Network drives, on which SQLite's locks can't be relied on (known on Linux only)."""

from __future__ import annotations

import os
import re
from pathlib import Path

from stateweave_graph.errors import StoreError

_NETWORK_FILE_SYSTEMS = frozenset(
    {
        "9p", "afs", "afsfs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs2",
        "glusterfs", "gpfs", "lustre", "ncp", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "prl_fs",
        "pvfs2", "quobyte", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs", "wekafs",
    }
)  # fmt: skip
_LOCAL_FUSE = frozenset(
    {
        "fuse.bindfs", "fuse.encfs", "fuse.exfat", "fuse.ext2", "fuse.ext4", "fuse.fuse-ext2",
        "fuse.fuse-overlayfs", "fuse.fuse2fs", "fuse.gocryptfs", "fuse.lxcfs", "fuse.mergerfs", "fuse.ntfs",
        "fuse.ntfs-3g", "fuse.overlayfs", "fuse.portal", "fuse.securefs", "fuse.unionfs", "fuse.zfs",
    }
)  # fmt: skip
"""File systems in user space that keep their data on a local disk; any other is taken for remote."""

_ESCAPE = re.compile(r"\\([0-7]{3})")


def refuse_network_drive(path: str, mounts: str = "/proc/self/mounts") -> None:
    """Refuse a file on a network drive, where commits of several machines or processes may be lost.

    Args:
        path: the file.
        mounts: the table of mounts, as of proc(5).

    Raises:
        StoreError: the file is on one.
    """
    if not Path(mounts).is_file():
        return
    resolved = str(Path(path).resolve())
    best, kind = "", ""
    for line in Path(mounts).read_bytes().splitlines():
        fields = [_unescaped(field) for field in line.split(b" ")[:3]]
        if len(fields) < 3:
            continue
        _, point, file_system = fields
        inside = resolved == point or resolved.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, file_system
    if _is_remote(kind):
        raise StoreError(
            f"{path}: this is on a network drive ({kind} at {best}), where SQLite can't keep its locks and "
            "commits may be lost. Use a local disk (in a container: a volume, not a folder of the host), or "
            "Neo4j for many machines"
        )


def _is_remote(kind: str) -> bool:
    in_user_space = kind == "fuse" or kind.startswith("fuse.")
    return kind in _NETWORK_FILE_SYSTEMS or (in_user_space and kind not in _LOCAL_FUSE)


def _unescaped(field: bytes) -> str:
    r"""A field of the table, in which blanks and backslashes are written as ``\040`` and ``\134``."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), os.fsdecode(field))
