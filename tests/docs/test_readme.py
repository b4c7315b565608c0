"""The README and the pages are a promise: every block is run, and its output compared."""

from __future__ import annotations

import os
import re

import pytest

from stateweave_graph import StateWeaveGraphError, errors
from tests.support.command import ROOT
from tests.support.pages import blocks, run_page

OF_THEIR_OWN = {"docs/benchmarks.md", "docs/cli.md", "docs/scale.md"}  # made or held by other tests
PAGES = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
WRITTEN = [*PAGES, "ARCHITECTURE.md", "CONTRIBUTING.md", "cypher/README.md"]


@pytest.mark.parametrize("name", [name for name in PAGES if name not in OF_THEIR_OWN])
def test_a_page_prints_what_it_shows(name, tmp_path):
    ran = list(run_page(name, tmp_path))
    for piece in ran:
        assert piece.printed == piece.shown, piece.code
    runnable = [language for language, _ in blocks(name) if language in ("python", "console")]
    assert len(ran) >= len(runnable)


def test_pages_show_something():
    shown = {name: sum(language == "output" for language, _ in blocks(name)) for name in PAGES}
    for name in ("README.md", "docs/app-developers.md", "docs/analysts.md", "docs/from-the-sdk.md"):
        assert shown[name] >= 3, name


@pytest.mark.parametrize("name", [name for name in PAGES if name not in OF_THEIR_OWN])
def test_every_block_is_of_a_kind_that_is_run(name):
    kinds = {language for language, _ in blocks(name)}
    assert kinds <= {
        "python",
        "output",
        "console",
        "cypher",
        "text",
        "",
    }  # Cypher: tests/neo4j/test_cypher.py
    plain = [code.strip() for language, code in blocks(name) if not language]
    # CI and the demo's own test run these.
    assert plain == (["make demo", "make test"] if name == "README.md" else [])


def test_the_table_of_errors_names_each_branch_of_the_tree():
    table = re.findall(r"^\| (`\w+Error`[^|]*) \|", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    named = set(re.findall(r"\w+Error", " ".join(table)))
    branches = {error.__name__ for error in StateWeaveGraphError.__subclasses__()}
    assert branches - {"MissingExtraError"} <= named  # its message says all
    assert all(issubclass(getattr(errors, name), StateWeaveGraphError) for name in named)


def test_the_make_targets_that_are_named_exist():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for name in WRITTEN:
        for target in re.findall(r"`make ([a-z-]+)", (ROOT / name).read_text("utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("name", WRITTEN)
def test_links_lead_somewhere(name):
    for link in re.findall(r"\]\(([^)\s]+)\)", (ROOT / name).read_text("utf-8")):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text("utf-8")), link


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    for path in (ROOT / "docs").glob("*.md"):
        assert path.name == "README.md" or f"({path.name})" in index, path.name
    assert "docs/README.md" in (ROOT / "README.md").read_text("utf-8")


def test_ci_calls_the_test_command_of_the_readme():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "make test" in (ROOT / ".ci" / "run").read_text("utf-8")
