"""Light and dark, wide and narrow."""

from __future__ import annotations

import re

import pytest

THEMES = ("light", "dark")


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def luminance(colour):
    """Relative luminance, as WCAG 2.2 defines it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_the_theme_is_that_of_the_system_until_it_is_chosen(show):
    light = show("dense-10", color_scheme="light")
    dark = show("dense-10", color_scheme="dark")
    assert luminance(background(light)) > 0.9 > 0.1 > luminance(background(dark))
    edges = light.evaluate("document.getElementById('edges').toDataURL()")
    light.locator("#theme").click()
    assert background(light) == background(dark)
    assert light.evaluate("document.getElementById('edges').toDataURL()") != edges
    light.keyboard.press("t")
    assert luminance(background(light)) > 0.9
    assert light.evaluate("document.getElementById('edges').toDataURL()") == edges


@pytest.mark.parametrize("theme", THEMES)
def test_texts_can_be_read(show, theme):
    """At least 4.5 to 1, WCAG's level AA, on every ground that they stand on."""
    page = show("coding-agent", color_scheme=theme)
    kinds = page.evaluate("story.kindNames")
    colour = """(name) => {
      const probe = document.body.appendChild(document.createElement("i"));
      probe.style.color = `var(--${name})`;
      const found = getComputedStyle(probe).color;
      probe.remove();
      return found;
    }"""
    assert len(kinds) == 10
    for ground in ("page", "panel", "chosen"):
        for text in [*kinds, "text", "quiet"]:
            ratio = contrast(page.evaluate(colour, text), page.evaluate(colour, ground))
            assert ratio >= 4.5, (text, ground, ratio)


@pytest.mark.parametrize("width", [360, 768, 1600])
@pytest.mark.parametrize("agent", ["coding-agent", "dense-5000", "hostile"])
def test_nothing_is_cut_off_at_the_side(show, agent, width):
    page = show(agent, width=width, height=740)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for panel in ("#turns", "#graph", "#details"):
        box = page.locator(panel).bounding_box()
        assert box["width"] > 100
        assert box["height"] > 100
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    wide = page.evaluate(
        "[...document.querySelectorAll('main *')].filter((e) => e.scrollWidth > e.clientWidth + 1"
        " && getComputedStyle(e).overflowX === 'visible' && getComputedStyle(e).display !== 'inline').length"
    )
    assert wide == 0


def test_parts_have_names_for_those_who_do_not_see_them(show):
    page = show("coding-agent")
    for role, name in (("navigation", "Turns"), ("listbox", "Nodes by sequence"), ("region", "Selected node"),
                       ("search", None), ("searchbox", "Search payloads and resource keys"),
                       ("group", "Kinds shown"), ("button", "Next match")):  # fmt: skip
        assert page.get_by_role(role, name=name).count() == 1, role
    chosen = page.get_by_role("option", selected=True)
    assert chosen.count() == 1
    assert chosen.get_attribute("aria-setsize") == "570"
    nameless = page.evaluate(
        "[...document.querySelectorAll('button')].filter((b) => !b.textContent.trim() && !b.ariaLabel).length"
    )
    assert nameless == 0
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_scrolling_far_draws_what_is_in_sight(show):
    page = show("dense-5000")
    pictures: list[str] = []
    for place in (0, 60_000, 129_000, 30_000):
        page.evaluate("(top) => { document.getElementById('list').scrollTop = top; }", place)
        first = place // 26 + 2
        page.locator(f"#node-{first}").wait_for(state="visible")
        box = page.locator(f"#node-{first}").bounding_box()
        frame = page.locator("#list").bounding_box()
        assert frame["y"] <= box["y"] <= frame["y"] + frame["height"]
        drawn = page.evaluate("document.getElementById('edges').toDataURL()")
        assert drawn not in pictures
        pictures.append(drawn)
