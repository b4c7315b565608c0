"""What a vocabulary promises, on every store."""

from __future__ import annotations

from typing import Any

import pytest

from stateweave_graph.errors import InvalidRequestError, NotFoundError, VocabularyError
from stateweave_graph.repository.repository import Repository
from stateweave_graph.repository.requests import ANY_REVISION
from stateweave_graph.testing.fixtures import OpenRepo, RepositoryFixtures
from stateweave_graph.testing.import_contract import session_log
from stateweave_graph.testing.samples import append, story
from stateweave_graph.vocabulary import NodeType, Vocabulary

TRAVEL = Vocabulary([NodeType("Hotel Style", "How the guest likes to stay."), NodeType("trip", "A journey.")])


class VocabularyContract(RepositoryFixtures):
    """An agent's vocabulary is stored with it, and enforced for every worker."""

    def test_it_is_stored_and_enforced_for_every_worker(self, open_repo: OpenRepo) -> None:
        repo, other = open_repo(), open_repo()
        with other.turn("a") as turn:
            turn.remember("anything", "goes", 1)
        assert repo.vocabulary("a") is None
        repo.set_vocabulary("a", TRAVEL)
        assert open_repo().vocabulary("a") == TRAVEL
        for worker in (repo, other, open_repo()):
            refused: Any = None
            with pytest.raises(VocabularyError, match="'anything'") as caught, worker.turn("a") as turn:
                refused = turn.remember("anything", "goes", 2)
            assert refused.id in str(caught.value)
            assert "hotel-style, trip" in str(caught.value)
        with other.turn("a") as turn:
            turn.remember("Hotel  style", "pillows", "soft")
        assert [memory.type for memory in repo.memory("a")] == ["anything", "hotel-style"]
        assert repo.head("a").revision == 2
        repo.set_vocabulary("a", None)
        with other.turn("a") as turn:
            turn.remember("anything", "goes", 3)

    def test_saved_appended_and_imported(self, repo: Repository) -> None:
        repo.save("a", story(1), expected_revision=0)
        repo.set_vocabulary("a", TRAVEL)
        before = repo.log("a")
        semantic = append(
            "semantic", {"type": "memory", "key": "x", "content": 1}, resource_key="semantic:memory:x"
        )
        for attempt in (
            lambda: repo.append("a", [append("goal", "g"), semantic], expected_revision=1),
            lambda: repo.append("a", [append("semantic", "no object")], expected_revision=1),
            lambda: repo.append("a", [append("semantic", {"type": "Hotel-Style"})], expected_revision=1),
            lambda: repo.save("a", story(2), expected_revision=1),
            lambda: repo.import_state("a", story(2)),
            lambda: repo.import_session_log("a", session_log(3)),
        ):
            with pytest.raises(VocabularyError):
                attempt()
        assert repo.log("a") == before
        good = append("semantic", {"type": "trip", "key": "x", "content": 1}, resource_key="anything")
        assert repo.append("a", [append("goal", "g"), good], expected_revision=1).revision == 2
        assert repo.save("a", repo.load("a").state, expected_revision=2).revision == 2

    def test_types_that_the_agent_invents(self, repo: Repository) -> None:
        repo.save("a", story(1), expected_revision=0)
        repo.set_vocabulary("a", Vocabulary(TRAVEL.node_types, allow_dynamic=True))
        with repo.turn("a") as turn:
            turn.remember("Something New", "k", 1)
        with pytest.raises(VocabularyError):
            repo.append("a", [append("semantic", {"type": "Not Normalised"})], expected_revision=ANY_REVISION)

    def test_it_goes_with_a_fork(self, repo: Repository) -> None:
        repo.save("a", story(1), expected_revision=0)
        repo.set_vocabulary("a", TRAVEL)
        repo.fork("a", "b")
        assert repo.vocabulary("b") == TRAVEL

    def test_what_is_no_vocabulary(self, repo: Repository) -> None:
        with pytest.raises(NotFoundError):
            repo.set_vocabulary("a", TRAVEL)
        with pytest.raises(NotFoundError):
            repo.vocabulary("a")
        with pytest.raises(InvalidRequestError):
            repo.set_vocabulary("a", ["memory"])  # type: ignore[arg-type]
        for types in ([], [NodeType("a", "")] * 2, [NodeType(f"t{number}", "") for number in range(33)]):
            with pytest.raises(VocabularyError):
                Vocabulary(types)
        for name, description in (("日本", ""), ("a", "x" * 241)):
            with pytest.raises(VocabularyError):
                NodeType(name, description)
        assert len(Vocabulary([NodeType(f"t{number}", "x" * 240) for number in range(32)]).node_types) == 32
        assert Vocabulary.from_text(TRAVEL.to_text()) == TRAVEL
