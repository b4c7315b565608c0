"""Exported histories: what stands in one comes back, and what is changed in its file is refused."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateweave_graph.errors import HistoryFileError, LimitExceededError
from stateweave_graph.records import Batch, FailedRunRecord
from stateweave_graph.repository.historyfile import (
    HistoryFile,
    commit_line,
    end_line,
    failure_line,
    history_line,
    is_history_file,
    judge_history_file,
)
from stateweave_graph.repository.transfer import Piece
from stateweave_graph.testing.samples import batches_of, story
from stateweave_graph.testing.strategies import states

FAILURES = [
    FailedRunRecord("2026-09-01T12:00:00.000Z", "r1", "asked \u2028", "why", '{"tokens":1}', 0),
    FailedRunRecord("Tue, 01 Sep 2026 12:00:00 GMT", None, "", "", None, 1),
]


def text_of(batches: list[Batch], failures: list[FailedRunRecord] = FAILURES) -> bytes:
    """A file as an export writes it."""
    ids: list[str] = []
    parts = [history_line(batches[-1].agent)]
    for batch in batches:
        ids += [node.id for node in batch.nodes]
        parts += commit_line(batch.commit, batch.nodes, ids)
    parts += map(failure_line, failures)
    parts.append(end_line(len(batches), len(ids), len(failures)))
    return "".join(parts).encode()


def read(data: bytes) -> tuple[list[Piece], list[FailedRunRecord]]:
    file = HistoryFile(io.BytesIO(data))
    return list(file.pieces()), file.failures


def changed(data: bytes, line: int, **fields: Any) -> bytes:
    """A file in which fields of a line (from 1) are others; Ellipsis takes one away."""
    lines = data.splitlines(keepends=True)
    record = {**json.loads(lines[line - 1]), **fields}
    kept = {name: value for name, value in record.items() if value is not ...}
    lines[line - 1] = f"{json.dumps(kept, ensure_ascii=False)}\n".encode()
    return b"".join(lines)


GOOD = text_of(batches_of("a", story(3), parts=2))


@settings(max_examples=60, deadline=None)
@given(states(max_size=8), st.integers(1, 3))
def test_what_is_written_is_read(state, parts):
    batches = batches_of("a", state, parts)
    pieces, failures = read(text_of(batches))
    assert [piece.commit for piece in pieces] == [batch.commit for batch in batches]
    assert [piece.nodes for piece in pieces] == [batch.nodes for batch in batches]
    assert failures == FAILURES


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_byte_that_is_changed_is_seen(data):
    """Whatever is still taken has the same nodes, frontiers, times and metadata."""
    place = data.draw(st.integers(0, len(GOOD) - 1))
    byte = data.draw(st.sampled_from(b'0a9"{}[],: \n\\x'))
    before, _ = read(GOOD)
    try:
        after, _ = read(GOOD[:place] + bytes([byte]) + GOOD[place + 1 :])
    except (HistoryFileError, LimitExceededError):
        return
    assert [piece.nodes for piece in after] == [piece.nodes for piece in before]
    told = [piece.commit._replace(request_hash="", appended=None) for piece in before]
    assert [piece.commit._replace(request_hash="", appended=None) for piece in after] == told


@settings(max_examples=50, deadline=None)
@given(st.integers(0, len(GOOD) - 1))
def test_a_file_that_was_cut_off_is_seen(length):
    with pytest.raises(HistoryFileError):
        read(GOOD[:length])


def test_lines_may_be_spelled_otherwise():
    """Spaces and the order of members are nobody's content."""
    respelled = b"".join(f"{json.dumps(json.loads(line))}\n".encode() for line in GOOD.splitlines())
    assert respelled != GOOD
    assert read(respelled) == read(GOOD)
    assert is_history_file(respelled[:64])


WRONG = [
    (changed(GOOD, 1, format=2), 1, "format"),
    (changed(GOOD, 1, type="commit"), 1, "commit: commitId"),
    (changed(GOOD, 1, agentId="\n"), 1, "agent id"),
    (changed(GOOD, 1, createdAt="yesterday"), 1, "createdAt"),
    (changed(GOOD, 1, vocabulary={"nodeTypes": 1}), 1, "vocabulary"),
    (changed(GOOD, 1, surprise=1), 1, "surprise"),
    (changed(GOOD, 1, revision=3), 4, "'commit' is expected"),
    (changed(GOOD, 1, revision=1), 3, "'end' is expected"),
    (changed(GOOD, 1, nodeCount=4), 6, "counts"),
    (changed(GOOD, 2, revision=2), 2, "revision 1 is expected"),
    (changed(GOOD, 2, commitId=""), 2, "commitId"),
    (changed(GOOD, 3, commitId="commit 1"), 3, "earlier commit"),
    (changed(GOOD, 2, committedAt="2026-02-30"), 2, "committedAt"),
    (changed(GOOD, 2, committedAt="2026-02-28T00:00:00.000Z"), 2, "hash"),
    (changed(GOOD, 2, metadata={"part": 2}), 2, "hash"),
    (changed(GOOD, 2, metadata=...), 2, "hash"),
    (changed(GOOD, 2, frontier=[]), 2, "hash"),
    (changed(GOOD, 2, frontier=["cw_1"]), 2, "frontier"),
    (changed(GOOD, 2, digest="0" * 64), 2, "digest"),
    (changed(GOOD, 2, hash="0" * 64), 2, "hash"),
    (changed(GOOD, 2, hash="0"), 2, "hash"),
    (changed(GOOD, 2, requestHash=None), 2, "requestHash"),
    (changed(GOOD, 2, appended=["cw_1"]), 2, "appended"),
    (changed(GOOD, 2, nodes=[1]), 2, "node must be an object"),
    (changed(GOOD, 3, nodes=[]), 3, "hash|digest|frontier"),
    (changed(GOOD, 4, at="now"), 4, "at"),
    (changed(GOOD, 4, usage=[]), 4, "usage"),
    (changed(GOOD, 4, revision=9), 4, "no revision 9"),
    (changed(GOOD, 6, failedRuns=1), 6, "counts"),
    (GOOD + b"{}\n", 7, "nothing may follow"),
    (GOOD.replace(b"\n", b"\n\n", 1), 2, "not a JSON value"),
    (b"", 1, "cut off"),
    (b"[]\n", 1, "type"),
    (b'{"type":"history"}\n', 1, "format"),
    (b'{"type":"history\xff"}\n', 1, "UTF-8"),
]


@pytest.mark.parametrize(
    ("data", "line", "word"), WRONG, ids=[f"{word}-{n}" for n, (_, _, word) in enumerate(WRONG)]
)
def test_what_is_wrong_is_named_with_its_line(data, line, word):
    with pytest.raises(HistoryFileError, match=word) as caught:
        read(data)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"exported history, line {line}: ")


def test_limits():
    judge_history_file(GOOD, max_nodes=19)
    with pytest.raises(LimitExceededError):
        judge_history_file(GOOD, max_nodes=18)
    with pytest.raises(LimitExceededError):
        judge_history_file(GOOD, max_bytes=500)
