"""Fixtures of the tests that need a Neo4j: one server of each release for all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.support.neo4j_server import LTS, NEWEST, Release, Server, start, why_not


def need(release: Release) -> None:
    """Skip the test where no server of this release can be started; under CI that is a failure."""
    reason = why_not(release)
    if reason is not None:
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


def _server(release: Release, home) -> Iterator[Server]:
    need(release)
    server = start(release, home)
    try:
        server.empty()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory) -> Iterator[Server]:
    """Neo4j 5.26, the long-term release."""
    yield from _server(LTS, tmp_path_factory.mktemp("neo4j-lts"))


@pytest.fixture(scope="session")
def neo4j_newest(tmp_path_factory) -> Iterator[Server]:
    """The newest Neo4j."""
    yield from _server(NEWEST, tmp_path_factory.mktemp("neo4j-newest"))


@pytest.fixture
def server(neo4j_server: Server) -> Server:
    """Neo4j 5.26, empty."""
    neo4j_server.empty()
    return neo4j_server
