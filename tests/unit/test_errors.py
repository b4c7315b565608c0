"""Errors that are pickled, copied and shown as JSON."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import stateweave_graph.errors as errors
from stateweave_graph import ANY_REVISION, Append, open_repository
from stateweave_graph.cli.output import report
from stateweave_graph.validation import Violation
from tests.support.states import story

VIOLATION = Violation("kind", "$.nodes[0].kind", "must be one of ten", "'x'")
COMMON = {"type", "message", "retryable"}


def kinds(kind=errors.StateWeaveGraphError):
    return [kind, *(found for child in kind.__subclasses__() for found in kinds(child))]


OWN_ARGUMENTS = {
    errors.InvalidStateError: lambda kind: kind([VIOLATION] * 12),
    errors.LimitExceededError: lambda kind: kind([VIOLATION], "the log"),
    errors.UnknownParentError: lambda kind: kind(["cw_1", "\ud800"]),
    errors.ConflictError: lambda kind: kind(
        "a", ANY_REVISION, 2, "why", [Append(kind="goal", payload={"a": [1]})]
    ),
    errors.DivergedError: lambda kind: kind("a", "differs", sequence=1, stored="x", given=["y"]),
    errors.CommitIdReusedError: lambda kind: kind("a", "c", 1),
    errors.SessionLogError: lambda kind: kind("json", 3, "wrong", [VIOLATION]),
    errors.HistoryFileError: lambda kind: kind(0, "wrong", [VIOLATION]),
    errors.MissingExtraError: lambda kind: kind("it", "pyarrow", "pip install it"),
    errors.StoreUnavailableError: lambda kind: kind("busy", outcome_unknown=True),
}


def made(kind):
    error = OWN_ARGUMENTS.get(kind, lambda kind: kind("what happened"))(kind)
    error.__cause__ = OSError(2, "no such file", "x")
    vars(error)["__notes__"] = ["a note"]
    return error


@pytest.mark.parametrize("kind", kinds())
def test_an_error_is_the_same_pickled_and_copied(kind):
    error = made(kind)
    others = [pickle.loads(pickle.dumps(error, number)) for number in range(pickle.HIGHEST_PROTOCOL + 1)]
    for other in (*others, copy.copy(error), copy.deepcopy(error)):
        assert type(other) is kind
        assert (str(other), repr(other), other.args) == (str(error), repr(error), error.args)
        assert vars(other) == vars(error)
        assert repr(other.__cause__) == repr(error.__cause__)
        assert other.__suppress_context__ == error.__suppress_context__


@pytest.mark.parametrize("kind", kinds())
def test_an_error_as_json_has_the_declared_fields_and_no_others(kind, capsys):
    error = made(kind)
    error.another = object()
    report(error, as_json=True)
    shown = json.loads(capsys.readouterr().err)["error"]
    assert set(shown) == COMMON | set(kind.FIELDS)
    assert set(kind.FIELDS) <= set(vars(error))
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    for field in (*kind.FIELDS, *COMMON):
        assert f"| `{field}` |" in page, "a field of errors is described in the docs"


def conflicting_turn(db):
    with open_repository(db) as repo, repo.turn("a") as turn:
        turn.goal("mine")
        repo.append("a", [Append(kind="goal", payload="theirs")], expected_revision=turn.head or 0)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_conflict_in_a_worker_reaches_the_caller(tmp_path, method):
    db = str(tmp_path / "h.db")
    with open_repository(db) as repo:
        head = repo.append("a", [Append(kind="goal", payload=1)], expected_revision=0)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        for expected in (1, 2):
            with pytest.raises(errors.ConflictError) as caught:
                pool.submit(conflicting_turn, db).result(timeout=60)
            assert caught.value.actual == expected + 1
            assert [append.payload for append in caught.value.appends] == ["mine"]
    assert head.revision == 1


def test_results_can_be_sent_between_processes():
    with open_repository(":memory:") as repo:
        commit = repo.save("a", story(2), expected_revision=0)
        results = [commit, repo.head("a"), repo.load("a"), *repo.log("a"), *repo.agents(), ANY_REVISION]
        for result in results:
            assert pickle.loads(pickle.dumps(result)) == result
            assert copy.deepcopy(result) == result
        assert pickle.loads(pickle.dumps(repo.load("a").state)).to_json() == repo.load("a").state.to_json()
        assert pickle.loads(pickle.dumps(ANY_REVISION)) is ANY_REVISION
