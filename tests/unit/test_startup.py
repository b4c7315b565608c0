"""Starting is light: names and heavy libraries come when they are asked for, and all is still there."""

from __future__ import annotations

import ast
import importlib
import pickle
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import stateweave_graph
from stateweave_graph.cli.reference import commands
from tests.support.command import ROOT

HEAVY = {"icu", "ladybug", "neo4j", "networkx", "pandas", "pyarrow", "rich", "sqlite3"}
HELP = "from stateweave_graph.cli.main import main\nsys.argv = ['stateweave-graph', *{}, '--help']\nmain()"


def loaded_by(code: str) -> set[str]:
    """The modules that are loaded when a fresh interpreter has run some code and ends."""
    written = (
        f"import atexit, sys\natexit.register(lambda: print('\\n', *sys.modules, file=sys.stderr))\n{code}"
    )
    done = subprocess.run(
        [sys.executable, "-c", written], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stderr.split())


def imported_for_type_checkers() -> dict[str, str]:
    """Each name that a type checker sees in the package, and the module it is taken from."""
    tree = ast.parse(Path(stateweave_graph.__file__).read_text("utf-8"))
    branches = [node for node in tree.body if isinstance(node, ast.If)]
    assert ast.unparse(branches[0].test) == "TYPE_CHECKING"
    return {
        alias.name: node.module or ""
        for node in branches[0].body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_importing_the_package_loads_nothing_but_itself():
    loaded = loaded_by("import stateweave_graph")
    assert {name for name in loaded if name.startswith("stateweave_graph")} == {
        "stateweave_graph",
        "stateweave_graph.version",
    }
    assert not loaded & (HEAVY | {"pydantic", "typer"})


def test_opening_a_repository_loads_neither_an_engine_that_is_not_used_nor_the_graph_library():
    loaded = loaded_by("import stateweave_graph\nstateweave_graph.open_repository('never-made.db')")
    assert loaded & HEAVY == {"sqlite3"}
    assert "stateweave_graph.repository.repository" in loaded


def test_reading_loads_no_graph_library_and_committing_does(tmp_path):
    path = str(tmp_path / "history.db")
    writing = f"from stateweave_graph import open_repository\nwith open_repository({path!r}) as repo:\n"
    assert loaded_by(f"{writing}    with repo.turn('a') as turn: turn.goal('?')") & HEAVY == {
        "networkx",
        "sqlite3",
    }
    assert loaded_by(f"{writing}    repo.load('a'), repo.log('a'), repo.head('a')") & HEAVY == {"sqlite3"}


def test_the_help_of_the_command_line_loads_nothing_heavy():
    loaded = loaded_by(HELP.format([]))
    assert "typer" in loaded
    assert not loaded & (HEAVY | {"pydantic", "stateweave_graph.model"})


@pytest.mark.parametrize("name", sorted(commands()))
def test_the_help_of_a_command_loads_nothing_heavy(name):
    loaded = loaded_by(HELP.format([name]))  # typer itself takes pydantic to read options
    assert "typer" in loaded
    assert not loaded & (HEAVY | {"stateweave_graph.model"})


def test_what_a_type_checker_sees_is_what_a_program_gets():
    seen = imported_for_type_checkers()
    assert sorted([*seen, "__version__"]) == stateweave_graph.__all__
    for name, module in seen.items():
        assert getattr(stateweave_graph, name) is getattr(importlib.import_module(module), name), name


def test_a_star_gives_every_public_name():
    names: dict[str, object] = {}
    exec("from stateweave_graph import *", names)
    assert set(stateweave_graph.__all__) <= set(names)
    assert names["AgentState"] is importlib.import_module("stateweave_graph.model").AgentState


def test_modules_are_found_as_attributes_without_being_imported_first():
    loaded = loaded_by(
        "import stateweave_graph\nassert stateweave_graph.errors.NotFoundError.retryable is False"
    )
    assert "stateweave_graph.errors" in loaded


def test_names_are_listed_before_they_are_asked_for():
    code = "import stateweave_graph\nassert set(stateweave_graph.__all__) <= set(dir(stateweave_graph))"
    assert "stateweave_graph.model" not in loaded_by(code)


def test_what_is_not_there_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="module 'stateweave_graph' has no attribute 'open_repo'"):
        getattr(stateweave_graph, "open_repo")  # noqa: B009 - a type checker refuses it otherwise, as it should
    with pytest.raises(ImportError, match="cannot import name 'open_repo'"):
        exec("from stateweave_graph import open_repo")


def test_help_and_pickle_go_through():
    page = pydoc.plain(pydoc.render_doc(stateweave_graph))
    assert "class AgentState" in page
    assert "open_repository(uri" in page
    state = stateweave_graph.AgentState.from_json('{"version": 1, "nodes": [], "frontier": []}')
    assert pickle.loads(pickle.dumps(state)) == state
    assert pickle.loads(pickle.dumps(stateweave_graph.open_repository)) is stateweave_graph.open_repository
