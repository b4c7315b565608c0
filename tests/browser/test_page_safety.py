"""What a history holds came from anywhere: a page runs none of it, and fetches nothing."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from stateweave_graph import CausalMirror
from tests.support.states import append

ATTACKS = (
    "</script><script>document.title = 'run'</script>",
    "<img src=x onerror=\"document.title = 'run'\">",
    "<!-- <script> ",
    "--> ]]> &lt;b&gt; &amp; <svg onload=\"document.title='run'\">",
    "javascript:document.title='run'",
    "\u202egnp.exe\u2066 \u200f mirrored",
    "NUL \x00 escape \x1b[31m bell \x07 line\u2028separators\u2029here",
    "half \ud800 of a character, and \udc00 the other",
    "@@script@@ @@history@@ ${document.title='run'} \\u003cscript>",
    "long " * 200_000,
)


@pytest.fixture(scope="session")
def attacked(repo):
    mirror = CausalMirror()
    for number, attack in enumerate(ATTACKS):
        key = attack[:200].encode("utf-8", "replace").decode()
        payload = [attack, {"name": attack, attack[:300]: 1}][number % 2]
        mirror.append(append(["goal", "tool_call", "answer"][number % 3], attack))
        mirror.append(append("resource", payload, resource_key=key))
    repo.save("<img src=x onerror=document.title='run'></title>", mirror.state(), expected_revision=0)
    return "<img src=x onerror=document.title='run'></title>"


def seen(text):
    """A text as the page writes it: what can't be seen, or misleads, as an escape."""
    hidden = "\x00\x1b\x07\u2028\u2029\u202e\u2066\u200f\ud800\udc00"
    return "".join(f"\\u{ord(unit):04x}" if unit in hidden else unit for unit in text)


def test_nothing_in_a_history_runs(show, repo, attacked):
    page = show(attacked)
    title = page.title()
    state = repo.load(attacked).state
    for node in state.nodes:
        page.evaluate("(id) => go(story.byId.get(id))", node.id)
        if isinstance(node.payload, str):
            assert page.locator("#payload").text_content() == seen(node.payload)[:20_000]
    page.keyboard.press("Home")
    assert page.locator("#agent").text_content() == attacked
    assert page.locator("#node-1 .label").text_content() == ATTACKS[0]
    assert page.title() == title == f"{attacked}, revision 1"
    assert page.locator("img, svg, iframe, object").count() == 0
    assert page.locator("script").count() == 2


def test_a_long_text_is_shown_in_full_when_asked_for(show, repo, attacked):
    page = show(attacked)
    node = repo.load(attacked).state.nodes[-2]
    page.evaluate("(id) => go(story.byId.get(id))", node.id)
    assert len(page.locator("#payload").text_content()) == 20_000
    page.get_by_role("button", name="Show all 1,000,000 characters").click()
    assert page.locator("#payload").text_content() == node.payload


REACH_OUT = """async (url) => {
  const made = (tag, more) => document.body.append(Object.assign(document.createElement(tag), more));
  const tries = {
    fetch: () => fetch(url + "/fetch"),
    image: () => new Promise((yes, no) => made("img", { onload: yes, onerror: no, src: url + "/image" })),
    frame: () => new Promise((yes, no) => {
      addEventListener("securitypolicyviolation", no, { once: true });
      made("iframe", { src: url + "/frame" });
    }),
    beacon: () => new Promise((yes, no) => {
      addEventListener("securitypolicyviolation", no, { once: true });
      navigator.sendBeacon(url + "/beacon", "x");
    }),
    script: () => made("script", { src: url + "/script" }),
    markup: () => { document.body.innerHTML = "<b>markup</b>"; },
    evaluation: () => (0, eval)("1"),
  };
  const refused = [];
  for (const [name, attempt] of Object.entries(tries)) {
    try { await attempt(); } catch { refused.push(name); }
  }
  return refused;
}"""


class Server(BaseHTTPRequestHandler):
    """Notes what it is asked for."""

    asked: ClassVar[list[str]] = []

    def answer(self):
        self.asked.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = answer  # noqa: N815  (the names that http.server looks for)

    def log_message(self, *arguments):
        """Be quiet."""


def test_the_page_can_reach_no_one(browser, repo, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(repo.view("dense-10"), encoding="utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(file.as_uri())
            refused = page.evaluate(REACH_OUT, url)
            assert Server.asked == []
            assert refused == ["fetch", "image", "frame", "beacon", "script", "markup", "evaluation"]
            page.goto(f"{url}/asked")  # and it would have noticed
        assert Server.asked[0] == "/asked"
        server.shutdown()
