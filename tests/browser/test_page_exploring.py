"""Exploring a history: what clicks and keys show is what the repository says."""

from __future__ import annotations

import json

import pytest

from stateweave_graph import AgentState
from tests.browser.conftest import SIZES

SELECTED = '#list [role="option"][aria-selected="true"]'

USABLE = """Math.max(
  performance.getEntriesByName("first-contentful-paint")[0].startTime,
  performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd,
)"""
"""Milliseconds until the page was painted and its scripts, which run as it is read, had run."""

FRAMES = """new Promise((done) => {
  const list = document.getElementById("list");
  const times = [];
  list.scrollTop = 0;
  let last = performance.now();
  const frame = (now) => {
    times.push(now - last);
    last = now;
    list.scrollTop += 120;
    times.length < 61 ? requestAnimationFrame(frame) : done(times.slice(1));
  };
  requestAnimationFrame(frame);
})"""
"""Milliseconds of each of 60 frames while the list is scrolled."""


def selected(page):
    """The id of the node that the panel shows, which must be the one whose row is selected."""
    sequence = page.locator(f"{SELECTED} .seq").inner_text()
    node = page.locator("#node-id").inner_text()
    assert page.evaluate("([id, n]) => story.ids[n - 1] === id", [node, int(sequence)])
    assert page.url.endswith(f"#{node}") or "#" not in page.url
    return node


def rows(page):
    """The ids of all nodes that have a row."""
    return page.evaluate("graph.order.map((node) => story.ids[node])")


@pytest.mark.parametrize("size", SIZES)
def test_it_opens_at_any_size(show, repo, size, capsys):
    page = show(f"dense-{size}")
    assert page.title() == f"dense-{size}, revision 1"
    counts = page.locator("#counts").inner_text()
    assert counts.startswith(f"revision 1 · {size:,} nodes · ")
    assert selected(page) == repo.head(f"dense-{size}").frontier[-1]
    assert page.locator(SELECTED).is_visible()
    assert page.locator(".row").count() <= min(size, 100), "only rows in sight are in the document"
    usable = page.evaluate(USABLE)
    frames = sorted(page.evaluate(FRAMES))
    told = f"usable after {usable:.0f} ms, frames of {frames[30]:.0f} ms, the longest {frames[-1]:.0f} ms"
    with capsys.disabled():
        print(f"\n{size:,} nodes: {len(repo.view(f'dense-{size}')):,} characters, {told}")


def test_a_click_shows_the_node(show, repo):
    state = repo.load("coding-agent").state
    page = show("coding-agent")
    page.keyboard.press("Home")
    page.locator("#node-12").click()
    node = state.nodes[11]
    assert selected(page) == node.id
    assert page.locator("#details h2").inner_text().split() == [node.kind.value, "12"]
    assert node.created_at in page.locator("#details dl").inner_text()
    shown = page.locator("#payload").inner_text()
    assert shown == node.payload if isinstance(node.payload, str) else json.loads(shown) == node.payload
    parents = page.locator("#parents .link")
    assert sorted(parents.evaluate_all("(links) => links.map((link) => link.dataset.node)")) == node.parents
    parents.first.click()
    assert selected(page) in node.parents
    page.go_back()
    assert selected(page) == node.id
    children = [other.id for other in state.nodes if node.id in other.parents]
    shown_children = page.locator("#children .link").evaluate_all("(l) => l.map((link) => link.dataset.node)")
    assert shown_children == children[:25]
    if len(children) > 25:
        page.get_by_role("button", name=f"Show all {len(children)}", exact=True).click()
        assert page.locator("#children .link").count() == len(children)


def test_payloads_are_shown_to_the_letter(show, repo):
    page = show("hostile")
    for node in repo.load("hostile").state.nodes:
        page.evaluate("(id) => go(story.byId.get(id))", node.id)
        if page.get_by_role("button", name="characters").count():
            page.get_by_role("button", name="characters").click()
        if not isinstance(node.payload, str):
            assert json.loads(page.locator("#payload").text_content()) == node.payload
        elif node.payload.isascii() and node.payload.isprintable():
            assert page.locator("#payload").text_content() == node.payload
        if node.extra:
            assert json.loads(page.locator("#extra").text_content()) == node.extra
    order = page.evaluate('indented(\'{"b":1,"10":[],"9":{},"a":[1.50,"\\\\\\\\"]}\')')
    assert order == '{\n  "b": 1,\n  "10": [],\n  "9": {},\n  "a": [\n    1.50,\n    "\\\\"\n  ]\n}'


@pytest.mark.parametrize("agent", ["coding-agent", "dense-300"])
def test_lineage_and_impact_are_those_of_the_repository(show, repo, agent):
    page = show(agent)
    ids = [node.id for node in repo.load(agent).state.nodes]
    for node in ids[:: len(ids) // 12]:
        page.evaluate("(id) => go(story.byId.get(id))", node)
        for name, found in (("lineage", repo.lineage(agent, node)), ("impact", repo.impact(agent, node))):
            assert page.locator(f"#{name} strong").inner_text() == f"{len(found):,}"
            page.locator(f"#{name}").click()
            assert (
                page.locator("#marked span")
                .inner_text()
                .startswith(f"Node {ids.index(node) + 1}: {len(found)} ")
            )
            assert page.locator(f"#{name}").get_attribute("aria-pressed") == "true"
            page.locator("#only").click()
            assert rows(page) == sorted([*found.ids, node], key=ids.index)
            page.keyboard.press("Escape")
            assert rows(page) == ids
            assert page.locator("#marked").is_hidden()


def test_the_versions_of_a_resource_in_order(show, repo):
    page = show("coding-agent")
    for key, head in list(repo.resources("coding-agent").items())[:8]:
        page.evaluate("(id) => go(story.byId.get(id))", head.id)
        versions = [version.id for version in reversed(repo.resource("coding-agent", key))]
        links = page.locator("#versions .link")
        assert links.evaluate_all("(links) => links.map((link) => link.dataset.node)") == versions[:25]
        assert page.locator('#versions [aria-current="true"]').get_attribute("data-node") == head.id
        assert page.locator("#details .key").inner_text() == key
    links.first.click()
    assert selected(page) == versions[0]
    assert page.locator("#versions .link").count() == min(25, len(versions))


def test_the_turns(show, repo):
    state = repo.load("coding-agent").state
    goals = [node for node in state.nodes if node.kind.value == "goal"]
    page = show("coding-agent")
    buttons = page.locator("#turns button")
    assert buttons.count() == len(goals) + 1, "the turns, and what came before the first"
    assert buttons.nth(0).text_content().endswith("Before the first goal")
    assert goals[2].payload in buttons.nth(3).text_content()
    buttons.nth(3).click()
    assert selected(page) == goals[2].id
    assert page.locator("#turns [aria-current]").get_attribute("data-turn") == "3"
    page.locator("#list").focus()
    page.keyboard.press("]")
    assert selected(page) == goals[3].id
    page.keyboard.press("[")
    page.keyboard.press("[")
    assert selected(page) == goals[1].id


def test_the_frontier_is_marked(show, repo):
    page = show("hostile")
    heads = {node.sequence for node in repo.heads("hostile")}
    assert len(heads) > 2
    marked = page.locator(".row.head .seq").all_inner_texts()
    assert set(map(int, marked)) == heads


def test_the_keyboard_moves(show, repo):
    ids = [node.id for node in repo.load("dense-5000").state.nodes]
    parents = {node.id: node.parents for node in repo.load("dense-5000").state.nodes}
    page = show("dense-5000")
    for key, expected in (("Home", 0), ("j", 1), ("ArrowDown", 2), ("k", 1), ("ArrowUp", 0), ("k", 0),
                          ("End", 4999), ("j", 4999), ("ArrowUp", 4998)):  # fmt: skip
        page.keyboard.press(key)
        assert selected(page) == ids[expected], key
        active = page.locator("#list").get_attribute("aria-activedescendant")
        assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
        assert page.locator(SELECTED).is_visible()
    page.keyboard.press("PageUp")
    assert ids.index(selected(page)) < 4990
    child = selected(page)
    page.keyboard.press("p")
    before = selected(page)
    assert before == max(parents[child], key=ids.index), "the newest comes first"
    page.keyboard.press("c")
    assert before in parents[selected(page)]
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    assert before in parents[selected(page)], "keys are for the dialog while it is open"
    page.keyboard.press("l")
    assert page.locator("#lineage").get_attribute("aria-pressed") == "true"
    page.keyboard.press("i")
    assert page.locator("#impact").get_attribute("aria-pressed") == "true"


def test_a_link_to_a_node(show, repo):
    node = repo.load("dense-5000").state.nodes[2_500]
    page = show("dense-5000", f"#{node.id}")
    assert selected(page) == node.id
    assert page.locator(SELECTED).is_visible()


def test_kinds_can_be_left_out(show, repo):
    state = repo.load("coding-agent").state
    page = show("coding-agent")
    for kind in ("tool_call", "tool_result"):
        button = page.locator(f'#kinds [data-kind="{kind}"]')
        count = sum(node.kind.value == kind for node in state.nodes)
        assert button.locator("b").inner_text() == str(count)
        button.click()
        assert button.get_attribute("aria-pressed") == "false"
    left = [node.id for node in state.nodes if node.kind.value not in ("tool_call", "tool_result")]
    assert rows(page) == left
    page.locator("#list").focus()
    page.keyboard.press("Home")
    page.keyboard.press("j")
    assert selected(page) == left[1]
    page.locator('#kinds [data-kind="tool_call"]').click()
    assert len(rows(page)) > len(left)


def test_a_history_of_one_node_and_of_none(repo, show):
    with repo.turn("one", expected_revision=0) as turn:
        turn.goal("only this")
    page = show("one")
    assert page.locator("#counts").inner_text() == "revision 1 · 1 node · 1 turn · 1 head"
    page.locator('#kinds [data-kind="goal"]').click()
    assert page.locator("#nothing").is_visible()
    repo.save("none", AgentState(version=1, nodes=[], frontier=[]), expected_revision=0)
    page = show("none")
    assert page.locator("#details").inner_text() == "This history has no nodes."
    for key in ("j", "k", "n", "l", "p", "]", "Home", "End"):
        page.keyboard.press(key)
