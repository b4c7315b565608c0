"""The Cypher texts that come with the package, one statement a file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_INCLUDE = re.compile(r"^// include (\S+)$", re.MULTILINE)


def cypher_folder() -> Path:
    """The folder of Cypher texts: inside an installed package, or beside it in a checkout."""
    inside = Path(__file__).with_name("cypher")
    return inside if inside.is_dir() else Path(__file__).parents[1] / "cypher"


@cache
def statement(name: str) -> str:
    """A statement of the Neo4j store, by the name of its file in ``cypher/store``, with what it includes."""
    text = (cypher_folder() / "store" / f"{name}.cypher").read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda match: statement(match[1]), text)


def schema_text() -> str:
    """The schema of Neo4j, with what it is for."""
    return (cypher_folder() / "schema.cypher").read_text(encoding="utf-8")


def schema_statements() -> list[str]:
    """The statements of the schema, in order, to be run one at a time."""
    lines = [line for line in schema_text().splitlines() if not line.startswith("//")]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]
