"""The cases of the format through a repository, on any store."""

from __future__ import annotations

import json

import pytest

from stateweave_graph import (
    AgentState,
    Append,
    InvalidRequestError,
    Repository,
    UnknownParentError,
    read_session_log,
    validate,
)
from stateweave_graph.javascript import javascript_json
from stateweave_graph.testing.fixtures import OpenRepo, RepositoryFixtures
from tests.support import vectors

EXPECTED_SESSIONS = json.loads((vectors.FOLDER / "sessions" / "expected.json").read_text("utf-8"))


class VectorContract(RepositoryFixtures):
    """What comes out of a store is what went in; appends and logs as the format says."""

    @pytest.mark.parametrize("path", vectors.VALID, ids=lambda path: path.stem)
    def test_valid_states_come_back(self, open_repo: OpenRepo, path):
        data = path.read_bytes()
        open_repo().save("a", AgentState.from_json(data), expected_revision=0)
        back = open_repo().load("a").state
        assert json.loads(back.to_json()) == json.loads(data)
        assert javascript_json(back.to_dict()) == javascript_json(AgentState.from_json(data).to_dict())
        assert validate(back.to_json()) == []
        assert open_repo().mirror("a").frontier == json.loads(data)["frontier"]

    def test_appends_step_by_step(self, open_repo: OpenRepo):
        repo = open_repo()
        for number, case in enumerate(vectors.APPENDS):
            play(repo, f"agent {number}", case)

    def test_appends_on_cold_repositories(self, open_repo: OpenRepo):
        for number, case in enumerate(vectors.APPENDS[::9]):
            play(open_repo(), f"agent {number}", {**case, "steps": case["steps"][:1]})
            for step in range(1, len(case["steps"])):
                play(open_repo(), f"agent {number}", {**case, "steps": case["steps"][step : step + 1]}, step)

    @pytest.mark.parametrize("path", vectors.SESSIONS, ids=lambda path: path.stem)
    def test_session_logs(self, open_repo: OpenRepo, path):
        expected = EXPECTED_SESSIONS[path.stem]
        log = read_session_log(path)
        if not expected["revisions"]:
            with pytest.raises(InvalidRequestError):
                open_repo().import_session_log("a", log)
            return
        done = open_repo().import_session_log("a", log)
        assert (done.commits, done.failures) == (len(expected["revisions"]), expected["failures"])
        repo = open_repo()
        assert repo.load("a").state.to_dict() == expected["state"]
        for number, revision in enumerate(expected["revisions"], start=1):
            state = repo.load("a", revision=number).state
            assert state.frontier == revision["frontier"]
            assert sum(len(entry.nodes) for entry in log.revisions[:number]) == len(state.nodes)


def play(repo: Repository, agent: str, case, first: int = 0) -> None:
    """Play the steps of a case, each a commit."""
    revision = 0 if not first else repo.head(agent).revision
    for step in case["steps"]:
        asked = step["append"]
        append = Append(
            kind=asked["kind"],
            payload=asked["payload"],
            parents=asked.get("parents"),
            resource_key=asked.get("resourceKey"),
            advance=asked.get("advance", True),
        )
        if "error" in step:
            with pytest.raises(UnknownParentError):
                repo.append(agent, [append], expected_revision=revision)
            continue
        commit = repo.append(agent, [append], expected_revision=revision)
        revision = commit.revision
        assert commit.ids == [step["id"]]
        assert commit.added == ([step["id"]] if step["new"] else [])
        assert commit.frontier == step["frontier"]
        node = repo.node(agent, step["id"])
        assert (node.parents, node.sequence) == (step["parents"], step["sequence"])
