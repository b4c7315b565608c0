"""The README's questions, on a SQLite file; tests/neo4j asks them on a server too."""

from __future__ import annotations

import pytest

from stateweave_graph import open_repository
from tests.support.cypher_texts import README_TEXTS, fill, parameters_of


@pytest.fixture(scope="module")
def filled():
    with open_repository(":memory:") as repository:
        yield repository, fill(repository)


def test_the_readme_has_ten_texts():
    assert len(README_TEXTS) == 10


@pytest.mark.parametrize("text", README_TEXTS, ids=lambda text: text.splitlines()[0].removeprefix("// "))
def test_a_text_of_the_readme_gives_rows(filled, text):
    repository, given = filled
    found = repository.cypher(text, parameters=parameters_of(text, "coding-agent", given))
    assert len(found) > 0
    assert all(
        isinstance(value, (str, int, float, bool, type(None))) for row in found for value in row.values()
    )
