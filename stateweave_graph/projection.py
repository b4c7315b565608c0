"""Cypher without a server: an in-memory graph of chosen agents, made from a store's records.

It is a picture (LadybugDB, in-process) with the labels, edges and properties of the graph on Neo4j, but for
the labels of kinds. It holds no truth: it is made anew when an agent that it shows has moved, and thrown
away at will.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import count
from typing import Any, NamedTuple

from stateweave_graph.errors import MissingExtraError, NotFoundError, QueryError
from stateweave_graph.records import AgentRecord, CommitRecord, NodeRecord
from stateweave_graph.stores.base import CypherBounds, StoreReader

MAX_NODES = 200_000
"""The most causal nodes of one projection."""

_POOL_BYTES = 512 * 1024 * 1024
_MAX_HOPS = 1_000_000
_PAGE = 1_000

_TEXT, _NUMBER, _TRUTH, _NUMBERS = "STRING", "INT64", "BOOL", "INT64[]"
_NODE_TABLES: dict[str, dict[str, str]] = {
    "AgentState": {
        "agentId": _TEXT, "history": _TEXT, "version": _NUMBER, "revision": _NUMBER, "generation": _NUMBER,
        "nodeCount": _NUMBER, "systemId": _TEXT, "vocabulary": _TEXT, "metadata": _TEXT, "createdAt": _TEXT,
        "updatedAt": _TEXT,
    },
    "Commit": {
        "history": _TEXT, "revision": _NUMBER, "commitId": _TEXT, "committedAt": _TEXT,
        "committedAtMs": _NUMBER, "firstSequence": _NUMBER, "lastSequence": _NUMBER, "digest": _TEXT,
        "hash": _TEXT, "requestHash": _TEXT, "metadata": _TEXT, "appended": _NUMBERS,
    },
    "CausalNode": {
        "history": _TEXT, "id": _TEXT, "kind": _TEXT, "payload": _TEXT, "payloadHash": _TEXT,
        "createdAt": _TEXT, "createdAtMs": _NUMBER, "sequence": _NUMBER, "turn": _NUMBER,
        "resourceKey": _TEXT, "extra": _TEXT, "semanticType": _TEXT, "semanticKey": _TEXT, "tool": _TEXT,
        "operation": _TEXT, "succeeded": _TRUTH,
    },
    "ResourceKey": {
        "history": _TEXT, "key": _TEXT, "keyHash": _TEXT, "headId": _TEXT, "versions": _NUMBER,
        "semanticType": _TEXT, "semanticKey": _TEXT,
    },
    "FailedRun": {
        "history": _TEXT, "position": _NUMBER, "at": _TEXT, "runId": _TEXT, "input": _TEXT, "error": _TEXT,
        "usage": _TEXT, "revision": _NUMBER,
    },
}  # fmt: skip
_EDGE_TABLES: dict[str, tuple[str, str, dict[str, str]]] = {
    "COMMITTED": ("AgentState", "Commit", {"revision": _NUMBER}),
    "FAILED": ("AgentState", "FailedRun", {}),
    "TRACKS": ("AgentState", "ResourceKey", {}),
    "ADDED": ("Commit", "CausalNode", {"sequence": _NUMBER}),
    "FRONTIER": ("Commit", "CausalNode", {"position": _NUMBER}),
    "PARENT": ("CausalNode", "CausalNode", {"sequence": _NUMBER, "resourceKey": _TEXT}),
    "VERSION_OF": ("CausalNode", "ResourceKey", {"version": _NUMBER}),
}

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


class _Standing(NamedTuple):
    """Where an agent stood when it was pictured."""

    history: str
    revision: int
    generation: int
    updated_at: str
    failures: int


class Projection:
    """Pictures of agents of one store; the last one made is kept. May be shared by threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._standing: tuple[_Standing, ...] = ()
        self._database: Any = None

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
        with self._guard:
            chosen = list(_chosen(reader, agents))
            standing = tuple(_standing(reader, agent) for agent in chosen)
            if self._database is None or standing != self._standing:
                self._database = None  # the old picture is let go of before the new one is made
                self._database = _picture(ladybug, reader, chosen)
                self._standing = standing
            database = self._database
        return _run(ladybug, database, text, parameters, bounds)

    def close(self) -> None:
        """Let go of the picture."""
        with self._guard:
            self._database, self._standing = None, ()


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


def _standing(reader: StoreReader, agent: AgentRecord) -> _Standing:
    failures = len(reader.failures(agent.history))
    return _Standing(agent.history, agent.revision, agent.generation, agent.updated_at, failures)


def _picture(ladybug: Any, reader: StoreReader, agents: Sequence[AgentRecord]) -> Any:
    nodes = sum(agent.node_count for agent in agents)
    if nodes > MAX_NODES:
        raise QueryError(
            f"{len(agents)} agents hold {nodes} nodes, and a picture in memory may hold {MAX_NODES}; name "
            "the agents to ask about with agents=[…], or ask a Neo4j server"
        )
    rows = _Rows()
    for agent in agents:
        rows.add(reader, agent)
    database = ladybug.Database(":memory:", buffer_pool_size=_POOL_BYTES)
    connection = ladybug.Connection(database)
    for table, columns in _NODE_TABLES.items():
        named = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
        connection.execute(f"CREATE NODE TABLE `{table}`(uid INT64 PRIMARY KEY, {named})")
    for table, (source, target, columns) in _EDGE_TABLES.items():
        named = "".join(f", `{name}` {kind}" for name, kind in columns.items())
        connection.execute(f"CREATE REL TABLE `{table}`(FROM `{source}` TO `{target}`{named})")
    connection.close()
    for table, columns in _NODE_TABLES.items():
        _load(ladybug, database, table, {"uid": _NUMBER, **columns}, rows.nodes[table])
    for table, (_, _, columns) in _EDGE_TABLES.items():
        _load(ladybug, database, table, {"from": _NUMBER, "to": _NUMBER, **columns}, rows.edges[table])
    return database


def _load(
    ladybug: Any, database: Any, table: str, columns: Mapping[str, str], rows: list[tuple[Any, ...]]
) -> None:
    """Load rows with a connection of their own: one that loads twice from one object crashes."""
    if not rows:
        return
    import pyarrow as pa

    types = {_TEXT: pa.string(), _NUMBER: pa.int64(), _TRUTH: pa.bool_(), _NUMBERS: pa.list_(pa.int64())}
    arrays = [
        pa.array(values, types[kind])
        for values, kind in zip(zip(*rows, strict=True), columns.values(), strict=True)
    ]
    connection = ladybug.Connection(database)
    connection.execute(f"COPY `{table}` FROM $rows", {"rows": pa.table(arrays, names=list(columns))})
    connection.close()


class _Rows:
    """The rows of all tables."""

    def __init__(self) -> None:
        self.nodes: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _NODE_TABLES}
        self.edges: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _EDGE_TABLES}
        self._uids = count(1)

    def add(self, reader: StoreReader, agent: AgentRecord) -> None:
        """Add all that is below an agent."""
        own = self._node(
            "AgentState", agent.agent_id, agent.history, 1, agent.revision, agent.generation,
            agent.node_count, agent.system_id, agent.vocabulary, agent.metadata, agent.created_at,
            agent.updated_at,
        )  # fmt: skip
        uids = self._causal_nodes(reader, agent)
        before: int | None = None
        while page := reader.commits(agent.history, before, _PAGE):
            for commit in page:
                self._commit(agent.history, own, commit, uids)
            before = page[-1].revision
        for record in reader.resources(agent.history, semantic_only=False):
            uid = self._node(
                "ResourceKey", agent.history, record.key, record.key_hash, record.head_id, record.versions,
                record.semantic_type, record.semantic_key,
            )  # fmt: skip
            self.edges["TRACKS"].append((own, uid))
            for version, sequence in enumerate(reader.versions(agent.history, record.key_hash), start=1):
                self.edges["VERSION_OF"].append((uids[sequence], uid, version))
        for position, run in enumerate(reader.failures(agent.history), start=1):
            uid = self._node(
                "FailedRun", agent.history, position, run.at, run.run_id, run.input, run.error, run.usage,
                run.revision,
            )  # fmt: skip
            self.edges["FAILED"].append((own, uid))

    def _causal_nodes(self, reader: StoreReader, agent: AgentRecord) -> dict[int, int]:
        uids: dict[int, int] = {}
        for record in reader.nodes(agent.history, 1, agent.node_count):
            uids[record.sequence] = self._causal_node(agent.history, record)
            joined = set(record.resource_parents)
            for parent in record.parents:
                key = record.resource_key if parent in joined else None
                self.edges["PARENT"].append((uids[record.sequence], uids[parent], record.sequence, key))
        return uids

    def _causal_node(self, history: str, record: NodeRecord) -> int:
        return self._node("CausalNode", history, *record[:15])

    def _commit(self, history: str, agent: int, commit: CommitRecord, uids: Mapping[int, int]) -> None:
        appended = None if commit.appended is None else list(commit.appended)
        uid = self._node("Commit", history, *commit[:10], appended)
        self.edges["COMMITTED"].append((agent, uid, commit.revision))
        for sequence in range(commit.first_sequence, commit.last_sequence + 1):
            self.edges["ADDED"].append((uid, uids[sequence], sequence))
        for position, sequence in enumerate(commit.frontier):
            self.edges["FRONTIER"].append((uid, uids[sequence], position))

    def _node(self, table: str, *values: Any) -> int:
        uid = next(self._uids)
        self.nodes[table].append((uid, *values))
        return uid


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
