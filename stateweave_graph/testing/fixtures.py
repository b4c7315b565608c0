"""The fixtures that the contracts of a repository need."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stateweave_graph.repository.repository import Repository

OpenRepo = Callable[[], Repository]


class RepositoryFixtures:
    """Where the repositories of a test come from."""

    @pytest.fixture
    def open_repo(self) -> OpenRepo:
        """A factory of repositories on the same database, which is empty when a test begins."""
        raise NotImplementedError("supply the fixture open_repo")

    @pytest.fixture
    def repo(self, open_repo: OpenRepo) -> Repository:
        return open_repo()
