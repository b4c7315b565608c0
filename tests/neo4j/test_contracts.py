"""The contracts of a store and of a repository, on Neo4j 5.26 and on the newest."""

from __future__ import annotations

import json

import pytest

from stateweave_graph import open_repository
from stateweave_graph.testing.contract import StoreContract
from stateweave_graph.testing.repository_contract import RepositoryContract
from tests.support.concurrency_contract import ConcurrencyContract
from tests.support.vector_contract import VectorContract


class OnNeo4j:
    @pytest.fixture
    def open_repo(self, server):
        opened = []

        def open_one():
            opened.append(open_repository(**server.arguments()))
            return opened[-1]

        yield open_one
        for repository in opened:
            repository.close()

    @pytest.fixture
    def open_store(self, open_repo):
        return lambda: open_repo().store


class OnNewestNeo4j(OnNeo4j):
    @pytest.fixture
    def server(self, neo4j_newest):
        neo4j_newest.empty()
        return neo4j_newest


class TestStore(OnNeo4j, StoreContract):
    pass


class TestRepository(OnNeo4j, RepositoryContract, VectorContract):
    pass


class TestStoreOnNewest(OnNewestNeo4j, StoreContract):
    pass


class TestRepositoryOnNewest(OnNewestNeo4j, RepositoryContract):
    pass


class TestProcesses(OnNeo4j, ConcurrencyContract):
    @pytest.fixture
    def where(self, server):
        return json.dumps(server.arguments())

    @pytest.fixture
    def repo(self, open_repo):
        return open_repo()
