"""What the pictures of a history show, on every store."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from stateweave_graph.errors import InvalidRequestError, NotFoundError
from stateweave_graph.mermaid import mermaid
from stateweave_graph.repository.repository import Repository
from stateweave_graph.testing.fixtures import RepositoryFixtures
from stateweave_graph.testing.samples import dense_state, hostile_state, story


def data_of(page: str) -> Any:
    """The history that a page carries."""
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match
    return json.loads(match[1])


class PictureContract(RepositoryFixtures):
    """``mermaid`` and ``view``."""

    def test_a_flowchart_of_what_a_node_rests_on(self, repo: Repository) -> None:
        state = story(2)
        repo.save("a", state, expected_revision=0)
        call = next(node for node in state.nodes[7:] if node.kind.value == "tool_call")
        drawn = [*repo.lineage("a", call.id).nodes(), call]
        assert repo.mermaid("a", call.id) == mermaid(drawn, state.frontier)
        near = [*repo.lineage("a", call.id, depth=1).nodes(), call]
        assert repo.mermaid("a", call.id, depth=1) == mermaid(near, state.frontier)
        assert len(near) < len(drawn)
        assert repo.mermaid("a", call.id, limit=3) == mermaid(drawn[-3:], state.frontier)

    def test_a_flowchart_of_all_heads(self, repo: Repository) -> None:
        state = dense_state(60, 5)
        repo.save("a", state, expected_revision=0)
        heads = {*state.frontier}
        causes = {found for head in heads for found in repo.lineage("a", head).ids}
        drawn = [node for node in state.nodes if node.id in heads | causes]
        assert repo.mermaid("a", limit=100) == mermaid(drawn, state.frontier)
        assert repo.mermaid("a") == mermaid(drawn[-30:], state.frontier)

    def test_the_page_carries_the_whole_history(self, repo: Repository) -> None:
        state = hostile_state()
        repo.save("<!-- a", state, expected_revision=0)
        page = repo.view("<!-- a")
        assert page.encode().decode() == page, "it is valid UTF-8"
        data = data_of(page)
        assert (data["agent"], data["revision"]) == ("<!-- a", 1)
        assert data["ids"] == [node.id for node in state.nodes]
        assert [json.loads(text) for text in data["payloads"]] == [node.payload for node in state.nodes]
        assert data["times"] == [node.created_at for node in state.nodes]
        assert data["keys"] == [node.resource_key for node in state.nodes]
        kinds = [data["kindNames"][kind] for kind in data["kinds"]]
        assert kinds == [node.kind.value for node in state.nodes]
        parents = [sorted(data["ids"][sequence - 1] for sequence in found) for found in data["parents"]]
        assert parents == [node.parents for node in state.nodes]
        assert [data["ids"][sequence - 1] for sequence in data["frontier"]] == state.frontier
        extras = {int(sequence): json.loads(text) for sequence, text in data["extras"].items()}
        assert extras == {node.sequence: node.extra for node in state.nodes if node.extra}
        assert data["turns"] == [0] * 11 + [1, 2]

    def test_the_page_of_a_revision(self, repo: Repository) -> None:
        repo.save("a", story(1), expected_revision=0)
        repo.save("a", story(3), expected_revision=1)
        assert data_of(repo.view("a", revision=1))["ids"] == [node.id for node in story(1).nodes]
        assert len(data_of(repo.view("a"))["ids"]) == len(story(3).nodes)

    def test_pictures_of_what_is_not_there(self, repo: Repository) -> None:
        repo.save("a", story(1), expected_revision=0)
        for agent, revision in (("b", None), ("a", 2)):
            with pytest.raises(NotFoundError):
                repo.view(agent, revision=revision)
        for agent, node in (("b", None), ("a", "cw_nowhere")):
            with pytest.raises(NotFoundError):
                repo.mermaid(agent, node)
        with pytest.raises(InvalidRequestError):
            repo.mermaid("a", depth=0)
        with pytest.raises(InvalidRequestError):
            repo.mermaid("a", limit=0)
