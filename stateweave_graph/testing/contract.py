"""The contract of a store: inherit from ``StoreContract`` in a test module, and supply the factory.

class TestMyStore(StoreContract):
    @pytest.fixture
    def open_store(self):
        return lambda: MyStore(...)      # each call: a store on the same, empty database
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import networkx as nx
import pytest

from stateweave_graph.errors import StoreError
from stateweave_graph.hashing import CHAIN_START
from stateweave_graph.mapper import key_hash, node_from_record
from stateweave_graph.records import Batch, FailedRunRecord, HeadRecord, Wanted
from stateweave_graph.stores.base import GraphStore, StoreReader, StoreWriter
from stateweave_graph.testing.samples import (
    batches_of,
    dense_state,
    hostile_state,
    story,
)


class _BreakOffError(Exception):
    """What a test's unit of work raises to be rolled back."""


class StoreContract:
    """What every store must do. Nothing of it may be skipped."""

    @pytest.fixture
    def open_store(self) -> Callable[[], GraphStore]:
        """A factory of stores on the same database, which is empty when a test begins."""
        raise NotImplementedError("supply the fixture open_store")

    @pytest.fixture
    def store(self, open_store: Callable[[], GraphStore]) -> GraphStore:
        return open_store()

    def test_an_empty_store_has_nothing(self, store: GraphStore) -> None:
        def look(tx: StoreReader) -> None:
            assert tx.agents(None, 10) == []
            assert tx.agent("a") is None
            assert tx.head("a") is None
            assert tx.commit("h", 1) is None
            assert tx.commits("h", None, 10) == []
            assert list(tx.nodes("h", 1, 10)) == []
            assert tx.node("h", "cw_x") is None
            assert tx.failures("h") == []
            assert tx.resources("h", False) == []
            assert tx.versions("h", "x") == []
            assert tx.ancestors("h", 1) == []
            assert tx.descendants("h", 1) == []

        store.read(look)

    def test_the_schema_is_made_once_and_its_version_recorded(self, open_store: Any) -> None:
        store = open_store()
        store.apply_schema()
        version = store.schema_version()
        assert version >= 1
        store.apply_schema()
        assert open_store().schema_version() == version
        assert store.schema_text().strip()
        assert store.name

    def test_records_come_back_exactly(self, open_store: Any) -> None:
        batches = batches_of("a", hostile_state(), parts=4)
        write_all(open_store(), batches)
        history = batches[0].agent.history
        nodes = [node for batch in batches for node in batch.nodes]
        last = batches[-1]

        def look(tx: StoreReader) -> None:
            assert tx.agent("a") == last.agent
            assert list(tx.nodes(history, 1, len(nodes))) == nodes
            assert list(tx.nodes(history, 2, 4)) == nodes[1:4]
            assert list(tx.nodes_at(history, [5, 1, 2])) == [nodes[0], nodes[1], nodes[4]]
            assert list(tx.nodes_at(history, [])) == []
            for node in nodes:
                assert tx.node(history, node.id) == node
            assert tx.node(history, "cw_nowhere") is None
            refs = list(tx.refs(history, 1, len(nodes)))
            assert [(ref.id, ref.sequence, ref.kind, ref.turn) for ref in refs] == [
                (node.id, node.sequence, node.kind, node.turn) for node in nodes
            ]
            assert [(ref.created_at, ref.resource_key, ref.extra) for ref in refs] == [
                (node.created_at, node.resource_key, node.extra) for node in nodes
            ]
            assert tx.refs_at(history, [3, 1]) == [refs[0], refs[2]]
            assert tx.refs_at(history, []) == []
            for batch in batches:
                assert tx.commit(history, batch.commit.revision) == batch.commit
            assert tx.commits(history, None, 10) == [batch.commit for batch in batches[::-1]]
            assert tx.commits(history, 3, 1) == [batches[1].commit]
            assert tx.commit(history, len(batches) + 1) is None

        open_store().read(look)

    def test_a_head_says_what_the_next_commit_must_know(self, store: GraphStore) -> None:
        batches = batches_of("a", story(4), parts=3)
        for count in (1, 2, 3):
            write_all(store, batches[count - 1 : count])
            head = store.read(lambda tx: tx.head("a"))
            assert isinstance(head, HeadRecord)
            last = batches[count - 1]
            assert (head.agent, head.commit) == (last.agent, last.commit)
            assert tuple(ref.sequence for ref in head.frontier) == last.commit.frontier
            assert head.system is not None
            assert head.system.id == last.agent.system_id
            assert head.turn == last.nodes[-1].turn
            assert store.write(lambda tx: tx.lock("a")) is not None

    def test_lock_head_is_lock_and_head_and_lookup(self, store: GraphStore) -> None:
        batches = batches_of("a", story(2), parts=2)
        write_all(store, batches)
        some = batches[0].nodes[1].id
        resource = next(record for batch in batches for record in batch.resources)
        wanted = Wanted(
            ids=frozenset({some, "cw_nowhere"}),
            key_hashes=frozenset({resource.key_hash, key_hash("no such")}),
            commit_id=batches[0].commit.commit_id,
        )

        def work(tx: StoreWriter) -> Any:
            locked = tx.lock_head("a", wanted)
            assert locked is not None
            head, known = locked
            assert head.commit == batches[-1].commit
            assert known == tx.lookup(head.agent.history, wanted)
            assert tx.lock_head("b", wanted) is None
            assert tx.lock("b") is None
            return known

        known = store.write(work)
        assert known.commit == batches[0].commit
        assert list(known.resources) == [resource.key]
        assert set(known.refs) == {some, known.resources[resource.key].head_id}

    def test_frontiers_keep_their_order(self, store: GraphStore) -> None:
        state = story(3)
        ids = [node.id for node in state.nodes][::-1]
        batches = batches_of("a", state.model_copy(update={"frontier": ids}))
        write_all(store, batches)
        head = store.read(lambda tx: tx.head("a"))
        assert head is not None
        assert [ref.id for ref in head.frontier] == ids
        assert head.commit.frontier == tuple(range(len(ids), 0, -1))

    def test_an_empty_frontier_and_an_empty_commit(self, store: GraphStore) -> None:
        empty = batches_of("a", story(0).model_copy(update={"nodes": [], "frontier": []}))
        write_all(store, empty)
        head = store.read(lambda tx: tx.head("a"))
        assert head is not None
        assert (head.frontier, head.system, head.turn, head.agent.node_count) == ((), None, 0, 0)
        assert head.commit == empty[0].commit

    def test_resources_and_their_versions(self, store: GraphStore) -> None:
        batches = batches_of("a", story(5), parts=3)
        write_all(store, batches)
        history = batches[0].agent.history
        newest = {record.key: record for batch in batches for record in batch.resources}
        versions = [version for batch in batches for version in batch.versions]

        def look(tx: StoreReader) -> None:
            assert tx.resources(history, False) == [newest[key] for key in sorted(newest)]
            assert tx.resources(history, True) == [
                newest[key] for key in sorted(newest) if newest[key].semantic_type is not None
            ]
            for record in newest.values():
                chain = [version.sequence for version in versions if version.key_hash == record.key_hash]
                assert tx.versions(history, record.key_hash) == chain
                assert record.versions == len(chain)

        store.read(look)

    def test_ancestors_and_descendants_of_dense_histories(self, store: GraphStore) -> None:
        state = dense_state(nodes=120, parents=14)
        write_all(store, batches_of("a", state))
        graph = nx.DiGraph((node.id, parent) for node in state.nodes for parent in node.parents)
        sequence = {node.id: node.sequence for node in state.nodes}

        def look(tx: StoreReader) -> None:
            agent = tx.agent("a")
            assert agent is not None
            for node in state.nodes[::17]:
                above = sorted(sequence[found] for found in nx.descendants(graph, node.id))
                below = sorted(sequence[found] for found in nx.ancestors(graph, node.id))
                assert tx.ancestors(agent.history, node.sequence) == above
                assert tx.descendants(agent.history, node.sequence) == below

        store.read(look)

    def test_agents_come_in_pages_in_byte_order(self, store: GraphStore) -> None:
        names = ["a", "B", "b", "é", "z", "\uffee", "😀", "a b", "Z", "ab", "名"]
        for name in names:
            write_all(store, batches_of(name, story(1)))
        ordered = sorted(names, key=lambda name: name.encode("utf-8"))
        found: list[str] = []
        while page := store.read(partial(_page, found[-1] if found else None)):
            assert len(page) <= 4
            found += page
        assert found == ordered

    def test_histories_never_mix(self, store: GraphStore) -> None:
        state = story(3)
        first, second = batches_of("first", state, parts=2), batches_of("second", state, parts=2)
        write_all(store, first)
        write_all(store, second)
        failure = FailedRunRecord("2026-09-01", None, "asked", "failed", None, 1)
        store.write(lambda tx: tx.add_failures(first[0].agent.history, [failure]))
        before = store.read(lambda tx: everything(tx, second[0].agent.history))
        store.write(lambda tx: tx.delete("first"))
        assert store.read(lambda tx: everything(tx, second[0].agent.history)) == before
        assert store.read(lambda tx: tx.agent("first")) is None
        assert not any(store.read(lambda tx: everything(tx, first[0].agent.history)).values())

    def test_deleting_what_is_not_there_changes_nothing(self, store: GraphStore) -> None:
        write_all(store, batches_of("a", story(1)))
        store.write(lambda tx: tx.delete("b"))
        assert [agent.agent_id for agent in store.read(lambda tx: tx.agents(None, 9))] == ["a"]

    def test_an_agent_can_be_made_again(self, store: GraphStore) -> None:
        first, second = batches_of("a", story(2)), batches_of("a", story(1))
        write_all(store, first)
        store.write(lambda tx: tx.delete("a"))
        write_all(store, second)
        assert store.read(lambda tx: tx.agent("a")) == second[-1].agent

    def test_all_of_a_unit_of_work_or_nothing(self, store: GraphStore) -> None:
        batches = batches_of("a", story(3), parts=2)

        def begin_and_break_off(tx: StoreWriter) -> None:
            tx.write(batches[0])
            raise _BreakOffError

        with pytest.raises(_BreakOffError):
            store.write(begin_and_break_off)
        assert store.read(lambda tx: tx.agents(None, 9)) == []
        write_all(store, batches[:1])
        before = store.read(lambda tx: everything(tx, batches[0].agent.history))

        def go_on_and_break_off(tx: StoreWriter) -> None:
            tx.lock("a")
            tx.write(batches[1])
            tx.add_failures(batches[0].agent.history, [FailedRunRecord("t", None, "i", "e", None, 1)])
            tx.delete("a")
            raise _BreakOffError

        with pytest.raises(_BreakOffError):
            store.write(go_on_and_break_off)
        assert store.read(lambda tx: everything(tx, batches[0].agent.history)) == before
        write_all(store, batches[1:])
        assert store.read(lambda tx: tx.agent("a")) == batches[1].agent

    def test_a_unit_of_work_sees_what_it_wrote(self, store: GraphStore) -> None:
        batches = batches_of("a", story(3), parts=3)
        failure = FailedRunRecord("2026-09-01", "r", "asked", "failed", '{"a":1}', 3)

        def work(tx: StoreWriter) -> None:
            for batch in batches:
                tx.write(batch)
                head = tx.head("a")
                assert head is not None
                assert head.agent == batch.agent
            tx.add_failures(batches[0].agent.history, [failure])
            assert tx.failures(batches[0].agent.history) == [failure]

        store.write(work)
        assert store.read(lambda tx: tx.failures(batches[0].agent.history)) == [failure]

    def test_what_is_unique_stays_so(self, store: GraphStore) -> None:
        batches = batches_of("a", story(3), parts=3)
        write_all(store, batches[:2])
        before = store.read(lambda tx: everything(tx, batches[0].agent.history))
        third = batches[2]
        same_id = third._replace(
            commit=third.commit._replace(commit_id=batches[0].commit.commit_id),
        )
        same_revision = third._replace(commit=third.commit._replace(revision=2))
        same_node = third._replace(
            nodes=(third.nodes[0]._replace(id=batches[0].nodes[0].id), *third.nodes[1:])
        )
        other = batches_of("a", story(1))[0]
        for refused in (same_id, same_revision, same_node, other):

            def work(tx: StoreWriter, batch: Batch = refused) -> None:
                tx.lock("a")
                tx.write(batch)

            with pytest.raises(StoreError):
                store.write(work)
            assert store.read(lambda tx: everything(tx, batches[0].agent.history)) == before
        write_all(store, batches[2:])

    def test_failed_runs_stay_in_order(self, store: GraphStore) -> None:
        batches = batches_of("a", story(1))
        write_all(store, batches)
        history = batches[0].agent.history
        runs = [
            FailedRunRecord(f"2026-09-0{day}", run_id, f"asked {day}", "failed: \x00 😀", usage, 1)
            for day, run_id, usage in (
                (3, None, None),
                (1, "r", '{"n":1}'),
                (2, "r", None),
                (1, "r", '{"n":1}'),
            )
        ]
        store.write(lambda tx: tx.add_failures(history, runs[:1]))
        store.write(lambda tx: tx.add_failures(history, runs[1:]))
        store.write(lambda tx: tx.add_failures(history, []))
        assert store.read(lambda tx: tx.failures(history)) == runs

    def test_readers_see_one_moment(self, open_store: Any) -> None:
        store, writer = open_store(), open_store()
        batches = batches_of("a", story(40), parts=40)
        write_all(writer, batches[:1])
        history = batches[0].agent.history
        done = threading.Event()
        torn: list[str] = []

        def watch() -> None:
            while not done.is_set():
                head = store.read(lambda tx: tx.head("a"))
                assert head is not None
                if head.commit.last_sequence != head.agent.node_count:
                    torn.append("the head and its commit differ")
                if head.commit.frontier != batches[head.agent.revision - 1].commit.frontier:
                    torn.append("the frontier is another commit's")

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            for batch in batches[1:]:
                write_all(writer, [batch])
        finally:
            done.set()
            watcher.join()
        assert torn == []
        nodes = [node for batch in batches for node in batch.nodes]
        assert list(store.read(lambda tx: list(tx.nodes(history, 1, len(nodes))))) == nodes

    def test_records_make_the_state_again(self, store: GraphStore) -> None:
        state = hostile_state()
        batches = batches_of("a", state, parts=2)
        write_all(store, batches)
        records = store.read(lambda tx: list(tx.nodes(batches[0].agent.history, 1, len(state.nodes))))
        ids = {record.sequence: record.id for record in records}
        assert [node_from_record(record, ids.__getitem__) for record in records] == state.nodes
        assert batches[0].commit.hash != CHAIN_START


def _page(after: str | None, tx: StoreReader) -> list[str]:
    return [agent.agent_id for agent in tx.agents(after, 4)]


def write_all(store: GraphStore, batches: list[Batch]) -> None:
    """Write commits in one unit of work."""

    def work(tx: StoreWriter) -> None:
        tx.lock(batches[0].agent.agent_id)
        for batch in batches:
            tx.write(batch)

    store.write(work)


def everything(tx: StoreReader, history: str) -> dict[str, Any]:
    """All that is below a history."""
    resources = tx.resources(history, False)
    return {
        "agent": [agent for agent in tx.agents(None, 1_000) if agent.history == history],
        "commits": tx.commits(history, None, 1_000),
        "nodes": list(tx.nodes(history, 1, 1_000_000)),
        "resources": resources,
        "versions": [tx.versions(history, record.key_hash) for record in resources],
        "failures": tx.failures(history),
    }
