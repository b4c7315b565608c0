"""Every parameter of every method of a repository refuses wrong values with an error of this package."""

from __future__ import annotations

import inspect
from datetime import datetime

import pytest

from stateweave_graph import Append, StateWeaveGraphError, open_repository
from stateweave_graph.repository.repository import Repository

CYCLE: dict[str, object] = {}
CYCLE["a"] = CYCLE

WRONG = [
    None,
    True,
    -1,
    0,
    1.5,
    float("nan"),
    10**400,
    b"x",
    "\ud800",
    "a\0b",
    [1],
    ["\ud800"],
    {1: 2},
    {1},
    object(),
    datetime(2020, 1, 1),
    CYCLE,
]

GOOD = {
    "new": "b",
    "appends": [Append(kind="goal", payload=2)],
    "text": "MATCH (n) RETURN count(n) AS n",
    "name": "failures",
    "expected_revision": 1,
    "first": 1,
    "second": 1,
}


def parameters():
    for name, method in inspect.getmembers(Repository, inspect.isfunction):
        if not name.startswith("_"):
            for parameter in list(inspect.signature(method).parameters.values())[1:]:
                if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                    yield name, parameter.name


@pytest.mark.parametrize(("method", "parameter"), list(parameters()))
def test_what_is_refused_raises_an_error_of_this_package(tmp_path, monkeypatch, method, parameter):
    monkeypatch.chdir(tmp_path)
    signature = inspect.signature(getattr(Repository, method))
    needed = {
        name: GOOD.get(name, "a")
        for name, found in signature.parameters.items()
        if name != "self" and found.default is found.empty and found.kind is not found.VAR_KEYWORD
    }
    if "target" in needed:
        needed["target"] = tmp_path / "out.json"
    for value in WRONG:
        with open_repository(":memory:") as repo:
            repo.append("a", [Append(kind="goal", payload=1)], expected_revision=0)
            before = repo.load("a").state.to_json()
            try:
                given = getattr(repo, method)(**{**needed, parameter: value})
                if inspect.isgenerator(given):
                    list(given)
            except StateWeaveGraphError:
                assert repo.load("a").state.to_json() == before, "what is refused writes nothing"


@pytest.mark.parametrize("value", [None, 1, b"h.db", [], object(), "a\0b", ""])
def test_a_path_that_is_not_a_string(value):
    with pytest.raises(StateWeaveGraphError):
        open_repository(value)
