"""Processes that race on one agent, and processes that are killed, on any store."""

from __future__ import annotations

import json
import random
import signal
import time

import pytest

from stateweave_graph import Append, Repository, validate
from tests.support.processes import run_together, start

STORM_SECONDS = 30


class ConcurrencyContract:
    """Exactly one worker wins each revision; nothing that was acknowledged is ever lost."""

    @pytest.fixture
    def where(self) -> str:
        """What a worker opens the repository with; the store is empty when a test begins."""
        raise NotImplementedError("supply the fixture where")

    @pytest.fixture
    def repo(self, where: str) -> Repository:
        """A repository on the same store."""
        raise NotImplementedError("supply the fixture repo")

    def test_one_process_makes_an_agent(self, where, repo):
        said = run_together([start("begin", where, str(worker)) for worker in range(4)])
        assert sorted(word for lines in said for line in lines for word in line) == ["lost"] * 3 + ["won"]
        assert repo.head("a").revision == 1

    def test_of_sixteen_writers_in_four_processes_one_wins_each_revision(self, where, repo):
        with repo.turn("a") as turn:
            turn.goal("the first")
        said = run_together([start("race", where, str(worker), "6", "4") for worker in range(4)])
        won = sorted(
            (line for lines in said for line in lines if "won" in line), key=lambda line: line["won"]
        )
        lost = [line for lines in said for line in lines if "lost" in line]
        assert [line["won"] for line in won] == list(range(2, len(won) + 2))
        assert len(won) + len(lost) == 96
        assert len(won) >= 6
        assert all(line["lost"] > line["expected"] for line in lost)
        assert repo.head("a").revision == len(won) + 1
        before = repo.load("a", revision=1).state.frontier
        for line in won:
            assert line["on"] == before, "each success extends the one before"
            node = repo.node("a", line["id"])
            assert node.parents == before
            before = repo.load("a", revision=line["won"]).state.frontier
        assert validate(repo.load("a").state.to_json()) == []

    def test_a_killed_process_loses_nothing_acknowledged(self, where, repo):
        source = random.Random(11)
        acknowledged = {}
        for number in range(6):
            workers = {name: start("stream", where, name) for name in ("a", "b")}
            for worker in workers.values():
                assert worker.stdout is not None
                worker.stdout.readline()  # at least one commit
            time.sleep(source.uniform(0.0, 0.25))
            for name, worker in workers.items():
                worker.send_signal(signal.SIGKILL)
                rest, _ = worker.communicate()
                whole = [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
                if whole:
                    acknowledged[name] = json.loads(whole[-1])
            for name, said in acknowledged.items():
                head = repo.head(name)
                assert head.revision >= said["revision"], (number, name)
                assert repo.node(name, said["answer"]).kind == "answer"
        for name in acknowledged:
            state = repo.load(name).state
            assert validate(state.to_json()) == []
            assert len(repo.log(name, limit=1_000_000)) == repo.head(name).revision
            repo.mirror(name).check_order()

    def test_everything_at_once_while_agents_are_deleted_and_made_again(self, where, repo):
        repo.append("first", [Append(kind="goal", payload="first")], expected_revision=0)  # makes the schema
        repo.delete("first")
        said = run_together(
            [start(where, str(STORM_SECONDS), str(seed), program="storm") for seed in range(2)]
        )
        for lines in said:
            assert not lines[0]["wrong"], "\n".join(lines[0]["wrong"][:3])
            done = lines[0]["counts"]
            for operation in ("begin", "append", "turn", "load", "look", "delete", "fork", "copy", "export"):
                assert done[operation] > 0, operation
