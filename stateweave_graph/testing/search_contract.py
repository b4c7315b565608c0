"""What a search finds, on every store."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stateweave_graph.errors import InvalidRequestError, NotFoundError
from stateweave_graph.mirror import CausalMirror
from stateweave_graph.model import AgentState, Append, NodeKind
from stateweave_graph.repository.repository import Repository
from stateweave_graph.results import Found
from stateweave_graph.testing.fixtures import RepositoryFixtures
from stateweave_graph.testing.samples import append
from stateweave_graph.testing.strategies import states

_WORDS = [
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
    "\u0301",
    "n\u0303",
]


def plainly(state: AgentState, words: str) -> list[str]:
    """What a search must find, worked out the slow way on the state itself."""

    def folded(text: str) -> str:
        return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())

    def strings(value: Any) -> list[str]:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            return [text for item in value for text in strings(item)]
        return [value] if isinstance(value, str) else []

    found = []
    for node in reversed(state.nodes):
        texts = list(map(folded, [*strings(node.payload), *filter(None, [node.resource_key])]))
        if all(any(folded(word) in text for text in texts) for word in words.split()):
            found.append(node.id)
    return found


def ids(found: list[Found]) -> list[str]:
    """The ids of what was found."""
    return [node.id for node in found]


class SearchContract(RepositoryFixtures):
    """``search``: the same words find the same nodes."""

    def test_every_word_must_occur_newest_first(self, repo: Repository) -> None:
        with repo.turn("a") as turn:
            turn.goal("Where is my parcel?")
            call = turn.tool_call("track", {"id": "P7", "more": [{"note": "Parcel of the year"}]})
            turn.tool_result(call, {"status": "in transit"})
            turn.resource("parcels/P7.md", operation="read")
            turn.answer("Your parcel P7 is on its way.")
        goal, tool_call, _, resource, answer = repo.load("a").state.nodes
        assert ids(repo.search("a", "parcel")) == [answer.id, resource.id, tool_call.id, goal.id]
        assert ids(repo.search("a", "PARCEL p7")) == [answer.id, resource.id, tool_call.id]
        assert ids(repo.search("a", "parcel where")) == [goal.id]
        assert ids(repo.search("a", " arce\u3000WAY ")) == [answer.id]
        assert repo.search("a", "parcel banana") == []
        assert repo.search("a", "note") == [], "names of members are no texts"

    def test_what_is_told_of_a_node_found(self, repo: Repository) -> None:
        with repo.turn("a") as turn:
            turn.goal("one")
            turn.tool_call("read", {"deep": ["x" * 300 + "\n\t needle in " + "y" * 300, "other"]})
        (found,) = repo.search("a", "NEEDLE")
        node = repo.load("a").state.nodes[1]
        assert (found.id, found.sequence, found.kind, found.turn) == (node.id, 2, NodeKind.TOOL_CALL, 1)
        assert (found.created_at, found.resource_key) == (node.created_at, None)
        assert found.path == "$.payload.args.deep[0]"
        assert found.snippet.startswith("…xxx")
        assert " needle in yyy" in found.snippet
        assert found.snippet.endswith("y…")
        assert [found.snippet[start:end] for start, end in found.marks] == ["needle"]
        assert len(found.snippet) <= 130

    def test_kinds_pages_and_limits(self, repo: Repository) -> None:
        repo.append("a", [append("goal", f"word {n}") for n in range(7)], expected_revision=0)
        repo.append("a", [append("answer", "word")], expected_revision=1)
        assert [node.sequence for node in repo.search("a", "word")] == [8, 7, 6, 5, 4, 3, 2, 1]
        assert [node.sequence for node in repo.search("a", "word", kinds=["answer"])] == [8]
        assert [
            node.sequence for node in repo.search("a", "word", kinds=[NodeKind.GOAL, "answer"], limit=2)
        ] == [8, 7]
        assert [node.sequence for node in repo.search("a", "word", before=3)] == [2, 1]
        assert repo.search("a", "word", kinds=[]) == []
        for bad in ({"limit": 0}, {"before": 0}, {"kinds": ["nonsense"]}):
            with pytest.raises(InvalidRequestError):
                repo.search("a", "word", **bad)

    def test_never_another_agents_nodes(self, repo: Repository) -> None:
        repo.append("a", [append("goal", "shared words")], expected_revision=0)
        repo.append("b", [append("goal", "shared words and more")], expected_revision=0)
        assert [node.snippet for node in repo.search("a", "shared")] == ["shared words"]
        assert len(repo.search("b", "shared")) == 1
        with pytest.raises(NotFoundError):
            repo.search("c", "shared")

    @pytest.mark.parametrize("nothing", ["", "  \n"])
    def test_a_search_for_nothing(self, repo: Repository, nothing: str) -> None:
        repo.append("a", [append("goal", "x")], expected_revision=0)
        with pytest.raises(InvalidRequestError, match="word"):
            repo.search("a", nothing)

    @pytest.mark.parametrize(
        ("text", "word", "marked"),
        [
            ("Hauptstraße 5", "STRASSE", "straße"),
            ("STRASSE", "straße", "STRASSE"),
            ("caf\u00e9", "CAFE\u0301", "caf\u00e9"),
            ("cafe\u0301 noir", "café", "cafe\u0301"),
            ("ΌΣΟΣ", "όσος", "ΌΣΟΣ"),
            ("京都で静かな宿", "静か", "静か"),
            ("ﬁnally", "FIN", "ﬁn"),
            ('say "hi" \\ now', '"HI"', '"hi"'),
            ("a\\b", "\\B", "\\b"),
            ("tab\tand\x00nul", "\x00NUL", "\x00nul"),
            ("half \ud800 of", "\ud800", "\ud800"),
            ("🦊 fox", "🦊", "🦊"),
        ],
    )
    def test_case_accents_and_scripts(self, repo: Repository, text: str, word: str, marked: str) -> None:
        repo.append("a", [append("goal", text), append("answer", "else")], expected_revision=0)
        (found,) = repo.search("a", word)
        assert [found.snippet[start:end] for start, end in found.marks] == [marked]

    def test_a_mark_after_an_escape_is_not_lost(self, repo: Repository) -> None:
        """In the JSON text a combining mark joins the letter of the escape before it."""
        repo.append(
            "a", [append("goal", "line\n\u0303tilde"), append("goal", '"\u0338x')], expected_revision=0
        )
        assert [node.sequence for node in repo.search("a", "\u0303TILDE")] == [1]
        assert [node.sequence for node in repo.search("a", "\u0338X")] == [2]

    def test_long_texts(self, repo: Repository) -> None:
        """Longer than what Neo4j's text index takes, with the word at the end or over a seam."""
        long = "ä" * 40_000 + " Nadel"
        seam = "x" * 4_094 + "Straße" + "y" * 5_000
        repo.append("a", [append("goal", long), append("goal", seam)], expected_revision=0)
        (found,) = repo.search("a", "NADEL")
        assert found.snippet.endswith("ää Nadel")
        (found,) = repo.search("a", "strasse")
        assert [found.snippet[start:end] for start, end in found.marks] == ["Straße"]

    def test_a_large_history_gives_its_newest_at_once(self, repo: Repository) -> None:
        repo.append("a", [append("goal", f"number {n}") for n in range(400)], expected_revision=0)
        wanted = plainly(repo.load("a").state, "number 39")
        assert len(wanted) == 14
        assert ids(repo.search("a", "39 number", limit=1_000)) == wanted
        assert ids(repo.search("a", "39", limit=3)) == wanted[:3]

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def test_it_finds_what_the_plain_way_finds(self, repo: Repository, data: st.DataObject) -> None:
        state = data.draw(states(max_size=6))
        mirror = CausalMirror(state)
        for text in data.draw(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4)):
            mirror.append(Append(kind="inference", payload={"t": [f"\n{text}", text * 2]}))
        state = mirror.state()
        texts = [node.payload for node in state.nodes if isinstance(node.payload, str)]
        drawn = data.draw(
            st.lists(st.sampled_from([*_WORDS, *texts, "a", "\\", '"']), min_size=1, max_size=2)
        )
        words = " ".join(drawn)
        for agent in [agent.agent_id for agent in repo.agents()]:
            repo.delete(agent)
        repo.save("a", state, expected_revision=0)
        if words.split():
            assert ids(repo.search("a", words, limit=1_000)) == plainly(state, words)
