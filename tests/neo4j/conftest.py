"""All tests here need a Neo4j."""

from __future__ import annotations

import pytest

from tests.support.neo4j_fixtures import neo4j_newest, neo4j_server, server

__all__ = ["neo4j_newest", "neo4j_server", "server"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/neo4j/" in item.nodeid:
            item.add_marker("neo4j")
