"""The picture that Cypher runs on without a server: its tables, and rows made from records.

It is brought up to date by what was appended since; where that can't be done it is made anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from stateweave_graph.mapper import key_hash
from stateweave_graph.records import AgentRecord, CommitRecord, FailedRunRecord, NodeRecord, Wanted
from stateweave_graph.stores.base import StoreReader

_POOL_BYTES = 512 * 1024 * 1024
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


class Standing(NamedTuple):
    """Where an agent stood when it was pictured."""

    history: str
    revision: int
    generation: int
    updated_at: str
    failures: int
    vocabulary: str | None

    @classmethod
    def of(cls, reader: StoreReader, agent: AgentRecord) -> Standing:
        """Where an agent stands."""
        failures = len(reader.failures(agent.history))
        return cls(
            agent.history,
            agent.revision,
            agent.generation,
            agent.updated_at,
            failures,
            agent.vocabulary,
        )


class _Pictured:
    """An agent in a picture: where it stood, and the uids of what is below it."""

    def __init__(self, standing: Standing, uid: int) -> None:
        self.standing = standing
        self.uid = uid
        self.node_count = 0
        self.nodes: dict[int, int] = {}
        self.resources: dict[str, int] = {}


class Picture:
    """An in-memory database of agents.

    Args:
        ladybug: the package.
    """

    def __init__(self, ladybug: Any) -> None:
        self._ladybug = ladybug
        self._uids = count(1)
        self._agents: dict[str, _Pictured] = {}
        self.database = ladybug.Database(":memory:", buffer_pool_size=_POOL_BYTES)
        connection = ladybug.Connection(self.database)
        for table, columns in _NODE_TABLES.items():
            named = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
            connection.execute(f"CREATE NODE TABLE `{table}`(uid INT64 PRIMARY KEY, {named})")
        for table, (source, target, columns) in _EDGE_TABLES.items():
            named = "".join(f", `{name}` {kind}" for name, kind in columns.items())
            connection.execute(f"CREATE REL TABLE `{table}`(FROM `{source}` TO `{target}`{named})")
        connection.close()

    def follows(self, standings: Sequence[Standing]) -> bool:
        """Whether appending is all that it takes to show agents as they stand, and no others."""
        wanted = {standing.history: standing for standing in standings}
        return all(
            history in wanted
            and wanted[history].generation == pictured.standing.generation
            and wanted[history].revision >= pictured.standing.revision
            and wanted[history].failures >= pictured.standing.failures
            and (wanted[history].vocabulary is not None or pictured.standing.vocabulary is None)
            for history, pictured in self._agents.items()
        )

    def show(self, reader: StoreReader, agents: Sequence[AgentRecord], standings: Sequence[Standing]) -> None:
        """Append what agents have got since they were shown last; all of those that were not."""
        rows = _Rows(self._uids)
        moved = []
        for agent, standing in zip(agents, standings, strict=True):
            pictured = self._agents.get(agent.history)
            if pictured is None:
                pictured = self._agents[agent.history] = _Pictured(
                    standing._replace(revision=0, failures=0), rows.agent(agent)
                )
            elif pictured.standing == standing:
                continue
            else:
                moved += [("AgentState", pictured.uid, _moving(agent))]
            moved += rows.below(reader, agent, pictured)
            pictured.standing = standing
        rows.load(self._ladybug, self.database)
        self._set(moved)

    def _set(self, moved: Sequence[tuple[str, int, dict[str, Any]]]) -> None:
        connection = self._ladybug.Connection(self.database)
        for table, uid, values in moved:
            setting = ", ".join(f"n.`{name}` = ${name}" for name in values)
            connection.execute(f"MATCH (n:`{table}` {{uid: $uid}}) SET {setting}", {"uid": uid, **values})
        connection.close()


def _moving(agent: AgentRecord) -> dict[str, Any]:
    """What of an agent a commit changes, where it is there."""
    values = {
        "revision": agent.revision,
        "nodeCount": agent.node_count,
        "systemId": agent.system_id,
        "vocabulary": agent.vocabulary,
        "updatedAt": agent.updated_at,
    }
    return {name: value for name, value in values.items() if value is not None}


class _Rows:
    """Rows to append to the tables."""

    def __init__(self, uids: count[int]) -> None:
        self._uids = uids
        self._nodes: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _NODE_TABLES}
        self._edges: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _EDGE_TABLES}

    def agent(self, agent: AgentRecord) -> int:
        """An agent that was not shown yet; its uid."""
        return self._node(
            "AgentState", agent.agent_id, agent.history, 1, agent.revision, agent.generation,
            agent.node_count, agent.system_id, agent.vocabulary, agent.metadata, agent.created_at,
            agent.updated_at,
        )  # fmt: skip

    def below(
        self, reader: StoreReader, agent: AgentRecord, shown: _Pictured
    ) -> list[tuple[str, int, dict[str, Any]]]:
        """What is new below an agent; the properties of resources that moved, as table, uid and values."""
        versions: dict[str, list[int]] = defaultdict(list)
        for record in reader.nodes(agent.history, shown.node_count + 1, agent.node_count):
            self._causal_node(agent.history, record, shown.nodes)
            if record.resource_key:
                versions[record.resource_key].append(record.sequence)
        for commit in _commits_since(reader, agent, shown.standing.revision):
            self._commit(agent.history, commit, shown)
        moved = self._resources(reader, agent.history, versions, shown)
        for position, run in enumerate(reader.failures(agent.history), start=1):
            if position > shown.standing.failures:
                self._failure(agent.history, position, run, shown.uid)
        shown.node_count = agent.node_count
        return moved

    def load(self, ladybug: Any, database: Any) -> None:
        """Append all rows, nodes before edges."""
        for table, columns in _NODE_TABLES.items():
            _load(ladybug, database, table, {"uid": _NUMBER, **columns}, self._nodes[table])
        for table, (_, _, columns) in _EDGE_TABLES.items():
            ends = {"from": _NUMBER, "to": _NUMBER}
            _load(ladybug, database, table, {**ends, **columns}, self._edges[table])

    def _causal_node(self, history: str, record: NodeRecord, uids: dict[int, int]) -> None:
        own = uids[record.sequence] = self._node("CausalNode", history, *record[:15])
        joined = set(record.resource_parents)
        for parent in record.parents:
            key = record.resource_key if parent in joined else None
            self._edges["PARENT"].append((own, uids[parent], record.sequence, key))

    def _commit(self, history: str, commit: CommitRecord, shown: _Pictured) -> None:
        appended = None if commit.appended is None else list(commit.appended)
        own = self._node("Commit", history, *commit[:10], appended)
        self._edges["COMMITTED"].append((shown.uid, own, commit.revision))
        for sequence in range(commit.first_sequence, commit.last_sequence + 1):
            self._edges["ADDED"].append((own, shown.nodes[sequence], sequence))
        for position, sequence in enumerate(commit.frontier):
            self._edges["FRONTIER"].append((own, shown.nodes[sequence], position))

    def _resources(
        self, reader: StoreReader, history: str, versions: Mapping[str, Sequence[int]], shown: _Pictured
    ) -> list[tuple[str, int, dict[str, Any]]]:
        known = reader.lookup(history, Wanted(key_hashes=frozenset(map(key_hash, versions)))).resources
        moved = []
        for key, sequences in versions.items():
            record = known[key]
            if record.key_hash in shown.resources:
                moving = {"headId": record.head_id, "versions": record.versions}
                moved.append(("ResourceKey", shown.resources[record.key_hash], moving))
            else:
                shown.resources[record.key_hash] = self._node(
                    "ResourceKey", history, record.key, record.key_hash, record.head_id, record.versions,
                    record.semantic_type, record.semantic_key,
                )  # fmt: skip
                self._edges["TRACKS"].append((shown.uid, shown.resources[record.key_hash]))
            first = record.versions - len(sequences) + 1
            for version, sequence in enumerate(sequences, start=first):
                own = shown.resources[record.key_hash]
                self._edges["VERSION_OF"].append((shown.nodes[sequence], own, version))
        return moved

    def _failure(self, history: str, position: int, run: FailedRunRecord, agent: int) -> None:
        own = self._node(
            "FailedRun", history, position, run.at, run.run_id, run.input, run.error, run.usage, run.revision
        )
        self._edges["FAILED"].append((agent, own))

    def _node(self, table: str, *values: Any) -> int:
        uid = next(self._uids)
        self._nodes[table].append((uid, *values))
        return uid


def _commits_since(reader: StoreReader, agent: AgentRecord, revision: int) -> list[CommitRecord]:
    """The commits of later revisions, newest first."""
    found: list[CommitRecord] = []
    before: int | None = None
    while page := reader.commits(agent.history, before, _PAGE):
        found += [commit for commit in page if commit.revision > revision]
        before = page[-1].revision
        if before <= revision + 1:
            break
    return found


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
