"""The two hash chains, and every other hash that is stored (design.md, *Two hashes* and *Exact bytes*).

A hash is the SHA-256, in hex, over its fields in the order listed: each field as an 8-byte big-endian
length and its UTF-8 bytes, a number as decimal text, a list as its count and then its elements, an absent
field as the length 2⁶⁴−1 alone. Chains start from 64 zeros. None of this may ever change: hashes are stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

CHAIN_START = "0" * 64
_ABSENT = (2**64 - 1).to_bytes(8, "big")
_LENGTHS = [size.to_bytes(8, "big") for size in range(256)]

Field = str | int | None | Sequence[str]


def hash_fields(*fields: Field) -> str:
    """The hash over fields in this order."""
    parts: list[bytes] = []
    for field in fields:
        if field is None:
            parts.append(_ABSENT)
        elif isinstance(field, (str, int)):
            _frame(parts, field)
        else:
            _frame(parts, len(field))
            for element in field:
                _frame(parts, element)
    return hashlib.sha256(b"".join(parts)).hexdigest()


def extend_digest(digest: str, node_id: str, created_at: str, extra: str | None) -> str:
    """The digest of a history with one node more: what its id, time and unknown fields' JSON text add."""
    return hash_fields(digest, node_id, created_at, extra)


def commit_hash(
    previous: str,
    digest: str,
    frontier: Sequence[str],
    revision: int,
    commit_id: str,
    committed_at: str,
    metadata: str | None,
    payload_hashes: Sequence[str],
) -> str:
    """The hash of a commit, chained to the one before.

    Metadata and payloads go in by their own hashes, so that a payload can be erased without a break.
    """
    metadata_hash = None if metadata is None else hash_fields(metadata)
    return hash_fields(
        previous, digest, frontier, revision, commit_id, committed_at, metadata_hash, payload_hashes
    )


def _frame(parts: list[bytes], field: str | int) -> None:
    data = str(field).encode("utf-8")
    size = len(data)
    parts.append(_LENGTHS[size] if size < len(_LENGTHS) else size.to_bytes(8, "big"))
    parts.append(data)
