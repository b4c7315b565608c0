"""The contract of a repository, on SQLite: a file, and memory."""

from __future__ import annotations

import pytest

from stateweave_graph import open_repository
from stateweave_graph.testing.repository_contract import RepositoryContract
from tests.support.vector_contract import VectorContract


class TestSqliteFile(RepositoryContract, VectorContract):
    @pytest.fixture
    def open_repo(self, tmp_path):
        opened = []

        def open_one():
            opened.append(open_repository(tmp_path / "history.db"))
            return opened[-1]

        yield open_one
        for repository in opened:
            repository.close()


class TestSqliteMemory(RepositoryContract, VectorContract):
    @pytest.fixture
    def open_repo(self):
        with open_repository(":memory:") as repository:
            yield lambda: repository
