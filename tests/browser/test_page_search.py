"""Searching the page finds what the repository's search finds."""

from __future__ import annotations

import unicodedata

import pytest

from stateweave_graph import CausalMirror
from stateweave_graph.repository.search import fold
from tests.support.states import append

WORDS = (
    "Straße",
    "STRASSE",
    "é",
    "e\u0301",
    "ﬁn",
    "ΣΊΣΥΦΟΣ",
    "σίσυφος",
    "İ",
    "京都",
    "도",
    "\u1103\u1169",
    "n\u0303",
    "ᏣᎳᎩ",
    "ꮳꮃꭹ",
    "ſ",
    "ẞ",
)


@pytest.fixture(scope="session")
def tongues(repo):
    mirror = CausalMirror()
    for number, word in enumerate(WORDS):
        payload = (
            [f"a{word}b", {"deep": {"member": [word.upper(), 3, None]}}] if number % 2 else f"{word} {number}"
        )
        mirror.append(append("goal", payload, resource_key=f"key/{word}" if number % 3 == 0 else None))
    mirror.append(
        append("resource", {"tab": "one\ttwo", "lone": "x\ud800y", "NUL": "\x00"}, resource_key="a b.txt")
    )
    repo.save("tongues", mirror.state(), expected_revision=0)
    return "tongues"


def test_folding_is_that_of_the_repository(show):
    """Every character that this Python knows, alone and behind another."""
    page = show("dense-10")
    known = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
    assert len(known) > 250_000
    for start in range(0, len(known), 50_000):
        part = known[start : start + 50_000]
        folded = page.evaluate("(texts) => texts.map((text) => story.fold(text))", part)
        wrong = [text for text, found in zip(part, folded, strict=True) if found != fold(text)]
        assert wrong == []
    words = ["ΟΔΟΣ", "Ὀδυσσεύς", "a\u0345\u0301", "ᾳ\u0301", "İstanbul", "\ufb03", "ǰ", "ŉ", "x\ud800y"]
    assert page.evaluate("(t) => t.map((text) => story.fold(text))", words) == [fold(word) for word in words]


def test_the_same_nodes_are_found(show, repo, tongues):
    page = show(tongues)
    asked = [*WORDS, *(f"{one} {two}" for one in WORDS[:6] for two in WORDS[:6]), "two", "one two", "member",
             "b.txt", "a", "\u2003a\u3000key/ ", "\x00", "x", "nowhere", "key/ß", "15", "3"]  # fmt: skip
    found_some = 0
    for query in asked:
        expected = [found.id for found in reversed(repo.search(tongues, query, limit=1000))]
        found = page.evaluate("(q) => story.ids.filter((_, node) => story.matching(q).has(node))", query)
        assert found == expected, query
        found_some += bool(found)
    assert found_some > len(asked) // 2
    assert page.evaluate("story.matching(' \u2003\\n')") is None


def test_searching_by_keyboard(show, repo):
    matches = [found.id for found in reversed(repo.search("coding-agent", "Ruff CHECK", limit=1000))]
    ids = [node.id for node in repo.load("coding-agent").state.nodes]
    assert len(matches) > 3
    page = show("coding-agent")
    node = page.locator("#node-id")
    page.keyboard.press("Home")
    page.keyboard.press("/")
    page.keyboard.type("Ruff CHECK")
    assert page.locator("#found").inner_text() == str(len(matches))
    assert page.locator("#marked span").inner_text() == f"{len(matches)} nodes found"
    page.keyboard.press("Enter")
    assert node.inner_text() == matches[0]
    page.locator("#list").focus()
    for key, place in (("n", 1), ("Enter", 2), ("N", 1), ("N", 0), ("N", -1), ("n", 0)):
        page.keyboard.press(key)
        assert node.inner_text() == matches[place], key
    page.keyboard.press("o")
    assert page.evaluate("graph.order.map((node) => story.ids[node])") == matches
    page.keyboard.press("Escape")
    assert page.evaluate("graph.order.length") == len(ids)
    assert page.locator("#query").input_value() == ""
    page.locator("#query").fill("nowhere to be found")
    assert page.locator("#marked span").inner_text() == "Nothing found"
    assert page.locator("#next").is_disabled()


def test_matches_stand_out_and_the_others_stand_back(show):
    page = show("coding-agent")
    page.keyboard.press("Home")
    page.locator("#query").fill("careful engineer")
    assert set(page.locator("#node-1").get_attribute("class").split()) == {"row", "marked"}
    assert set(page.locator("#node-3").get_attribute("class").split()) == {"row", "left"}
    page.locator("#query").fill("")
    assert page.locator("#node-3").get_attribute("class") == "row"
