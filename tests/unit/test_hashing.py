"""The bytes that stored hashes are made of: they can never change.

Each text here is framed by hand from the rule (design.md, *Exact bytes*), and the hex digits beside it were
computed once: the one shows what is hashed, the other that nobody has changed both.
"""

from __future__ import annotations

import hashlib

import pytest

from stateweave_graph.hashing import CHAIN_START, commit_hash, extend_digest, hash_fields
from stateweave_graph.mapper import key_hash

ABSENT = b"\xff" * 8


def framed(*fields: bytes | None) -> bytes:
    return b"".join(ABSENT if field is None else len(field).to_bytes(8, "big") + field for field in fields)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("fields", "data", "fixed"),
    [
        ((), b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (("",), b"\0" * 8, "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc"),
        ((None,), b"\xff" * 8, "12a3ae445661ce5dee78d0650d33362dec29c4f82af05e7e57fb595bbbacf0ca"),
        (
            ("abc",),
            b"\0\0\0\0\0\0\0\x03abc",
            "c3494ca1a2cf8eeb8a11ded316fb55b83c3bbbedb6313cd50415251e5d09e12f",
        ),
        (
            ("é😀",),
            b"\0\0\0\0\0\0\0\x06\xc3\xa9\xf0\x9f\x98\x80",
            "07b176f30f3fca5b5b3e0967ff52c586d9671d227ff9df285099536d8525861a",
        ),
        (
            (12, -3, 0),
            framed(b"12", b"-3", b"0"),
            "432ccf17b3d4668171a822d9df3e280449e764a5ccb1196a61efcdf7335f9ce8",
        ),
        (([],), framed(b"0"), "338a3d986bbcbc43f2a3206a429aaa307429eeded38ff142415fe9538fa163fc"),
        (
            (["a", ""], "b"),
            framed(b"2", b"a", b"", b"b"),
            "264e92f0ef82799564e6a3f070e5849c3f3850ab2d5da56fbfcda75d5ad39bac",
        ),
        (
            ("x" * 300, None),
            b"\0\0\0\0\0\0\x01\x2c" + b"x" * 300 + ABSENT,
            "01806989b21565f55dc776153b7637e3e3c4ad7085754f3b503752d01e6a90ee",
        ),
    ],
    ids=repr,
)
def test_framing(fields, data, fixed):
    assert hash_fields(*fields) == sha256(data) == fixed


def test_fields_do_not_run_into_each_other():
    different = [
        ("ab", "c"),
        ("a", "bc"),
        ("abc",),
        ("abc", ""),
        ("", "abc"),
        ("abc", None),
        (["abc"],),
        (["a", "bc"],),
        (["ab", "c"],),
        ([], "abc"),
        ("abc", []),
    ]
    assert len({hash_fields(*fields) for fields in different}) == len(different)


def test_the_digest_of_nodes():
    first = extend_digest(CHAIN_START, "cw_0314bab460e030b07dc7b36c", "2026-09-01", None)
    step = framed(b"0" * 64, b"cw_0314bab460e030b07dc7b36c", b"2026-09-01", None)
    assert first == sha256(step) == "b47e742eb7931d3cd220a8e699cfbc33c9e3c2ee4dd43df7df15cacabc970d40"
    second = extend_digest(first, "cw_1", "Tue, 01 Sep 2026 12:00:00 GMT", '{"note":"é"}')
    step = framed(first.encode(), b"cw_1", b"Tue, 01 Sep 2026 12:00:00 GMT", '{"note":"é"}'.encode())
    assert second == sha256(step) == "78cbac4c274363c74a97ca59b32208e443e067b69aa6a40ddb6568c8401605cb"


def test_the_hash_of_a_commit():
    payloads = [hash_fields('"a"'), hash_fields("{}")]
    made = commit_hash(
        CHAIN_START,
        "d" * 64,
        ["cw_1", "cw_0"],
        7,
        "commit é",
        "2026-09-01T12:00:00.000Z",
        '{"a":1}',
        payloads,
    )
    data = framed(
        b"0" * 64,
        b"d" * 64,
        b"2",
        b"cw_1",
        b"cw_0",
        b"7",
        "commit é".encode(),
        b"2026-09-01T12:00:00.000Z",
        sha256(framed(b'{"a":1}')).encode(),
        b"2",
        sha256(framed(b'"a"')).encode(),
        sha256(framed(b"{}")).encode(),
    )
    assert made == sha256(data) == "71065e0a6739cc74f457d3b1cfef5c23d20dc397a420a796510ecf03e73169e6"


def test_the_hash_of_a_commit_of_nothing():
    made = commit_hash("p" * 64, "d" * 64, [], 1, "c", "t", None, [])
    data = framed(b"p" * 64, b"d" * 64, b"0", b"1", b"c", b"t", None, b"0")
    assert made == sha256(data) == "0c609ffe387868030083beead0ee002960ee864d4a5397a433f8beceb8251227"


def test_the_hash_that_stands_for_a_key():
    assert (
        key_hash("src/é.py")
        == sha256(framed("src/é.py".encode()))
        == "b6f00e3ba34f814292b571a60880c4eff7a6071063d2005366dafde3b3c8de0e"
    )
