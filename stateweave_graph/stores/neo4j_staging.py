"""Histories brought in and swept away in many transactions, of which nobody sees the middle.

See design.md, *Large things are staged*: a ``(:StagedHistory)`` stands for a history until one small
transaction turns it into the ``(:AgentState)``; a delete turns that into a ``(:DeletedHistory)``, and what
is below it is swept behind it. What an interrupted import or sweep left is taken up again, or swept, later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

from stateweave_graph.errors import StoreError
from stateweave_graph.hashing import hash_fields
from stateweave_graph.records import Batch, NodeRecord
from stateweave_graph.stores.neo4j_records import agent_properties, failure_properties
from stateweave_graph.stores.neo4j_writer import NewHistory, write_parameters

_LEASE_MS = 15_000
_ABANDONED_MS = 60 * 60 * 1000


class Sizes(NamedTuple):
    """How much goes into one transaction.

    Attributes:
        nodes: nodes written.
        edges: PARENT edges written.
        commits: commits written.
        swept: nodes deleted.
    """

    nodes: int = 2_000
    edges: int = 20_000
    commits: int = 200
    swept: int = 1_000


class Transactions(Protocol):
    """What a store lends: transactions that run statements of ``cypher/store``."""

    def run_in_one(self, statements: Sequence[tuple[str, dict[str, Any]]]) -> list[list[dict[str, Any]]]:
        """The rows of each of some statements, run in one transaction."""


class Part(NamedTuple):
    """A part of a commit that one statement writes."""

    parameters: dict[str, Any]
    nodes: int
    edges: int


class Staged(NamedTuple):
    """A history that is written, and that nobody sees yet.

    Attributes:
        history: its id.
        owner: who writes it.
    """

    history: str
    owner: str


def left_behind(store: Transactions, new: NewHistory) -> str | None:
    """The id of the same history as an interrupted import left it; None where none did."""
    found = store.run_in_one([("stage_peek", {"key": _key(new)})])[0]
    return found[0]["history"] if found else None


def stage(store: Transactions, new: NewHistory, sizes: Sizes, report: Callable[[int], None] | None) -> Staged:
    """Write a new history part by part; parts that an interrupted import left are not written again.

    Raises:
        StoreError: another process has taken this import over.
    """
    staged, done = _begin(store, new)
    written = parts = 0
    for group in _groups(_parts(new.batches, staged.history, sizes), sizes):
        parts += len(group)
        written += sum(part.nodes for part in group)
        if parts <= done:
            continue
        said = {"owner": staged.owner, "done": parts, "lease_ms": _LEASE_MS}
        rows = store.run_in_one([("stage", {**part.parameters, **said}) for part in group])
        if not all(rows):
            raise _taken_over(new)
        if report is not None:
            report(written)
    return staged


def publish(store: Transactions, new: NewHistory, staged: Staged) -> None:
    """Let a staged history be seen, in one small transaction.

    Raises:
        StoreError: another process has taken this import over.
    """
    agent = new.batches.outlines[-1].agent._replace(history=staged.history)
    statements: list[tuple[str, dict[str, Any]]] = [
        ("stage_publish", {**staged._asdict(), "agent": agent_properties(agent)})
    ]
    if new.failures:
        failures = [failure_properties(failure) for failure in new.failures]
        statements.append(("add_failures", {"history": staged.history, "failures": failures}))
    if not store.run_in_one(statements)[0]:
        raise _taken_over(new)


def sweep(store: Transactions, history: str, sizes: Sizes) -> None:
    """Delete all that is below a deleted history, and its node at the end."""
    lease = ("sweep_lease", {"history": history, "lease_ms": _LEASE_MS})
    for name in ("sweep_nodes", "sweep_commits", "sweep_resources", "sweep_failures"):
        parameters = {"history": history, "limit": sizes.swept}
        while store.run_in_one([lease, (name, parameters)])[1][0]["deleted"]:
            pass
    store.run_in_one([("sweep_end", {"history": history})])


def sweep_abandoned(store: Transactions, sizes: Sizes) -> None:
    """Sweep what interrupted deletes and imports left."""
    for row in store.run_in_one([("sweep_find", {"abandoned_ms": _ABANDONED_MS})])[0]:
        discard(store, row["history"], sizes)


def discard(store: Transactions, history: str, sizes: Sizes) -> None:
    """Give up a staged history, and sweep it."""
    store.run_in_one([("stage_discard", {"history": history})])
    sweep(store, history, sizes)


def _begin(store: Transactions, new: NewHistory) -> tuple[Staged, int]:
    """The staged history to write to, and how many parts of it are written already."""
    owner, key = uuid4().hex, _key(new)
    found = store.run_in_one([("stage_find", {"key": key, "owner": owner, "lease_ms": _LEASE_MS})])[0]
    if found:
        return Staged(found[0]["history"], owner), found[0]["done"]
    agent = new.batches.outlines[0].agent
    node = {"history": agent.history, "key": key, "owner": owner, "done": 0, "stagedFor": agent.agent_id}
    store.run_in_one([("stage_begin", {"staged": node, "lease_ms": _LEASE_MS})])
    return Staged(agent.history, owner), 0


def _taken_over(new: NewHistory) -> StoreError:
    return StoreError(
        f"another process has taken over the import of agent {new.agent_id!r}; look whether "
        "it is there before you try again"
    )


def _key(new: NewHistory) -> str:
    """What two imports have in common that would write the same parts.

    Of the last commit only the content counts: its id and time are written with its last part.
    """
    *earlier, last = [batch.commit for batch in new.batches.outlines]
    commits = [hash_fields(commit.hash) for commit in earlier]
    return hash_fields(new.agent_id, commits, last.digest, last.request_hash)


def _parts(batches: Iterable[Batch], history: str, sizes: Sizes) -> Iterator[Part]:
    for batch in batches:
        whole = write_parameters(batch._replace(agent=batch.agent._replace(history=history)))
        bare = {"history": history, "revision": batch.commit.revision}
        spans = list(_spans(batch.nodes, sizes))
        for place, (first, last) in enumerate(spans):
            rows = whole["nodes"][first:last]
            sequences = {row["sequence"] for row in rows}
            ends = place == len(spans) - 1
            versions = [version for version in whole["versions"] if version[2] in sequences]
            begun = {key for key, version, _ in versions if version == 1}
            yield Part(
                {
                    "history": history,
                    "commit": whole["commit"] if ends else bare,
                    "nodes": rows,
                    "frontier": whole["frontier"] if ends else [],
                    "new_resources": [row for row in whole["new_resources"] if row["keyHash"] in begun],
                    "moved_resources": whole["moved_resources"] if ends else [],
                    "versions": versions,
                },
                nodes=len(rows),
                edges=sum(len(row["parents"]) for row in rows),
            )


def _spans(nodes: Sequence[NodeRecord], sizes: Sizes) -> Iterator[tuple[int, int]]:
    """Slices of nodes, each small enough for a transaction; one empty slice where there are none."""
    first = edges = 0
    for place, node in enumerate(nodes):
        if place > first and (place - first >= sizes.nodes or edges + len(node.parents) > sizes.edges):
            yield first, place
            first, edges = place, 0
        edges += len(node.parents)
    yield first, len(nodes)


def _groups(parts: Iterator[Part], sizes: Sizes) -> Iterator[list[Part]]:
    """Parts that go into one transaction together."""
    group: list[Part] = []
    for part in parts:
        nodes = sum(other.nodes for other in group) + part.nodes
        edges = sum(other.edges for other in group) + part.edges
        if group and (nodes > sizes.nodes or edges > sizes.edges or len(group) >= sizes.commits):
            yield group
            group = []
        group.append(part)
    if group:
        yield group
