"""The examples hold every rule, and are what their script writes."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import stateweave_graph
from stateweave_graph import AgentState, read_session_log, validate
from stateweave_graph.cyphertext import cypher_folder
from stateweave_graph.shipped import example_files, examples_folder
from tests.support.command import ROOT


@pytest.mark.parametrize("path", example_files(), ids=lambda path: path.name)
def test_an_example_holds_every_rule(path):
    if path.suffix == ".jsonl":
        log = read_session_log(path)
        assert len(log.revisions) > 3
        assert log.failures
    else:
        assert validate(path.read_bytes()) == []
        assert len(AgentState.from_json(path.read_bytes()).nodes) > 20


def test_the_script_writes_the_same_bytes_again(tmp_path):
    script = ROOT / "examples" / "make_examples.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, env={"PYTHONPATH": str(ROOT)})
    for path in example_files():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name
    assert len(list(tmp_path.iterdir())) == len(example_files())


def test_what_is_shipped_is_found():
    assert {path.name for path in example_files()} >= {"coding-agent.json", "support-bot.jsonl"}
    assert (examples_folder() / "make_examples.py").exists()
    assert (cypher_folder() / "schema.cypher").exists()


def modules():
    for module in pkgutil.walk_packages(stateweave_graph.__path__, "stateweave_graph."):
        if not module.name.endswith("__main__"):
            yield module.name


@pytest.mark.parametrize("name", ["stateweave_graph", *modules()])
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
