"""Cypher without a server: an in-memory graph of chosen agents, made from a store's records.

It is a picture (LadybugDB, in-process) with the labels, edges and properties of the graph on Neo4j, but for
the labels of kinds. It holds no truth: it is brought up to date by what was appended since, made anew when
anything is off, and thrown away at will. One query runs at a time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from stateweave_graph.errors import MissingExtraError, NotFoundError, QueryError
from stateweave_graph.projection_picture import Picture, Standing
from stateweave_graph.records import AgentRecord
from stateweave_graph.stores.base import CypherBounds, StoreReader

MAX_NODES = 200_000
"""The most causal nodes of one projection."""

_MAX_HOPS = 1_000_000
_PAGE = 1_000

_QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"(?<![.:$\w([])[A-Za-z_]+\b(?!\s*[.:),\]])")  # not where it is plainly a name
_BEGINS = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN"})
_FORBIDDEN = frozenset(
    [
        "ALTER",
        "ATTACH",
        "BEGIN",
        "CALL",
        "CHECKPOINT",
        "COMMENT",
        "COMMIT",
        "COPY",
        "CREATE",
        "DELETE",
        "DETACH",
        "DROP",
        "EXPLAIN",
        "EXPORT",
        "EXTENSION",
        "FORCE",
        "IMPORT",
        "INSTALL",
        "LOAD",
        "MACRO",
        "MERGE",
        "PROFILE",
        "PROJECT",
        "REMOVE",
        "ROLLBACK",
        "SET",
        "TRANSACTION",
        "UNINSTALL",
        "USE",
    ]
)
_RECURSION = re.compile(r"(:\s*PARENT\s*)\*\s*(\d*)\s*(?:\.\.\s*(\d*))?(\s*\])")


class Projection:
    """Pictures of agents of one store; the last one made is kept. May be shared by threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._picture: Picture | None = None

    def query(
        self,
        reader: StoreReader,
        text: str,
        parameters: Mapping[str, Any],
        agents: Sequence[str] | None,
        bounds: CypherBounds,
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """The columns and rows of a text over the agents asked for, as they stand now.

        Raises:
            QueryError: the text does more than read, fails, or takes more than it may; or the agents hold
                too many nodes.
            MissingExtraError: LadybugDB is not installed.
            NotFoundError: there is no such agent.
        """
        refuse_other_than_reading(text)
        ladybug = _ladybug()
        chosen = list(_chosen(reader, agents))
        _refuse_too_many(chosen)
        with self._guard:
            return _run(ladybug, self._shown(ladybug, reader, chosen), text, parameters, bounds)

    def close(self) -> None:
        """Let go of the picture."""
        with self._guard:
            self._picture = None

    def _shown(self, ladybug: Any, reader: StoreReader, agents: Sequence[AgentRecord]) -> Any:
        """The database that shows agents as they stand now, and no others."""
        standings = [Standing.of(reader, agent) for agent in agents]
        picture, self._picture = self._picture, None  # one that breaks is not kept
        if picture is None or not picture.follows(standings):
            picture = Picture(ladybug)
        picture.show(reader, agents, standings)
        self._picture = picture
        return picture.database


def refuse_other_than_reading(text: str) -> None:
    """Refuse a text that is not one statement that reads: files can be reached even read-only.

    Raises:
        QueryError: it is not.
    """
    bare = _QUOTED.sub(" ", text).strip().rstrip(";")
    words = [word.upper() for word in _WORD.findall(bare)]
    first = re.match(r"[A-Za-z]*", bare)
    if ";" in bare:
        raise QueryError("one statement at a time, please: the text has a ';' between two")
    if first is None or first[0].upper() not in _BEGINS:
        raise QueryError("only reading is allowed here: a text begins with MATCH, UNWIND, WITH or RETURN")
    wrong = next((word for word in words if word in _FORBIDDEN), None)
    if wrong is not None:
        raise QueryError(
            f"only reading is allowed here, and this text says {wrong}; quote it with ` if it is a name"
        )


def in_dialect(text: str) -> str:
    """A text as LadybugDB takes it: recursion over PARENT as a breadth-first search, never over paths.

    >>> in_dialect("MATCH (a)-[:PARENT*1..]->(b) RETURN count(DISTINCT b.id) AS n")
    'MATCH (a)-[:PARENT* SHORTEST 1..1000000]->(b) RETURN count(DISTINCT b.id) AS n'
    """

    def bounded(match: re.Match[str]) -> str:
        least, most = match[2] or "1", match[3] or str(_MAX_HOPS)
        return f"{match[1]}* SHORTEST {least}..{most}{match[4]}"

    return _RECURSION.sub(bounded, text)


def _ladybug() -> Any:
    try:
        import ladybug
        import pyarrow  # noqa: F401  (loading needs it)
    except ImportError:
        raise MissingExtraError(
            "Cypher on a SQLite file", "ladybug", 'pip install "stateweave-graph[cypher]"'
        ) from None
    return ladybug


def _chosen(reader: StoreReader, agents: Sequence[str] | None) -> Iterator[AgentRecord]:
    if agents is not None:
        for agent_id in dict.fromkeys(agents):
            agent = reader.agent(agent_id)
            if agent is None:
                raise NotFoundError(f"there is no agent {agent_id!r} to ask about")
            yield agent
        return
    after = None
    while page := reader.agents(after, _PAGE):
        yield from page
        after = page[-1].agent_id


def _refuse_too_many(agents: Sequence[AgentRecord]) -> None:
    nodes = sum(agent.node_count for agent in agents)
    if nodes > MAX_NODES:
        raise QueryError(
            f"{len(agents)} agents hold {nodes} nodes, and a picture in memory may hold {MAX_NODES}; name "
            "the agents to ask about with agents=[…], or ask a Neo4j server"
        )


def _run(
    ladybug: Any, database: Any, text: str, parameters: Mapping[str, Any], bounds: CypherBounds
) -> tuple[list[str], list[dict[str, Any]]]:
    missing = set(re.findall(r"\$(\w+)", _QUOTED.sub(" ", text))) - parameters.keys()
    if missing:
        raise QueryError(f"the text has parameters that were not given: {', '.join(sorted(missing))}")
    connection = ladybug.Connection(database)
    try:
        connection.set_query_timeout(int(bounds.timeout * 1000))
        connection.execute(f"CALL var_length_extend_max_depth={_MAX_HOPS}")
        connection.execute("BEGIN TRANSACTION READ ONLY")
        result = connection.execute(in_dialect(text), dict(parameters))
        columns = list(result.get_column_names())
        rows: list[dict[str, Any]] = []
        while result.has_next():
            if len(rows) == bounds.max_rows:
                raise QueryError(
                    f"more than {bounds.max_rows} rows; say LIMIT in the text, or allow more with max_rows"
                )
            rows.append(dict(zip(columns, map(_plain, result.get_next()), strict=True)))
        return columns, rows
    except RuntimeError as error:
        if "Interrupted" in str(error):
            raise QueryError(
                "the query took longer than allowed; narrow it, or allow more with timeout"
            ) from error
        raise QueryError(f"the query can't be run: {error}") from error
    finally:
        connection.close()


def _plain(value: Any) -> Any:
    """A value as it comes from Neo4j; what is LadybugDB's own is left out."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items() if name not in ("_id", "uid")}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Decimal):  # its sums have 128 bits
        return int(value)
    return value
