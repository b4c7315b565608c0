"""Pages in a real, headless Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.histories import dense
from stateweave_graph import AgentState, Repository, open_repository
from stateweave_graph.shipped import example_files
from stateweave_graph.testing.samples import hostile_state

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

SIZES = (10, 300, 5_000)
NAMES = ("chromium", "chromium-browser", "google-chrome")

Show = Callable[..., "Page"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, or the one that ``CHROMIUM`` names."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        why = "no Chromium is installed; on Debian: apt install chromium; else say CHROMIUM=/path/to/it"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=found) as launched:
        yield launched


@pytest.fixture(scope="session")
def repo(tmp_path_factory) -> Iterator[Repository]:
    """The examples, dense histories of each size, and one with everything that a page may get wrong."""
    with open_repository(tmp_path_factory.mktemp("histories") / "all.db") as opened:
        for path in example_files():
            if path.suffix == ".json":
                opened.save(path.stem, AgentState.from_json(path.read_bytes()), expected_revision=0)
        for size in SIZES:
            opened.save(f"dense-{size}", dense(size), expected_revision=0)
        opened.save("hostile", hostile_state(), expected_revision=0)
        yield opened


@pytest.fixture
def show(browser, repo, tmp_path) -> Iterator[Show]:
    """Opens an agent's page; at the end, none may have said an error, or asked for anything but itself."""
    said: list[str] = []
    asked: list[str] = []
    contexts: list[BrowserContext] = []

    def opened(agent: str, fragment: str = "", width: int = 1400, height: int = 850, **options: Any) -> Page:
        file = tmp_path / f"{len(contexts)}.html"
        file.write_text(repo.view(agent), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page: Page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{file.as_uri()}{fragment}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert len(asked) == len(contexts)
    assert all(url.startswith(tmp_path.as_uri()) for url in asked)
