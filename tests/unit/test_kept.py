"""Batches kept back: the same ones in the same order, in memory that does not grow with them."""

from __future__ import annotations

import tracemalloc

from stateweave_graph.stores.kept import KeptBatches
from stateweave_graph.testing.samples import batches_of, dense_state, story


def test_what_was_kept_comes_back_as_often_as_it_is_asked_for():
    small = batches_of("a", story(3), parts=4)
    large = batches_of("a", dense_state(7_000, 3), parts=5)
    for batches in (small, large, small + large + small):
        kept = KeptBatches()
        for batch in batches:
            kept.append(batch)
        assert list(kept) == batches
        assert list(kept) == batches
        assert kept.node_count == sum(len(batch.nodes) for batch in batches)
        assert [outline.commit for outline in kept.outlines] == [batch.commit for batch in batches]


def test_memory_does_not_grow_with_what_is_kept():
    batches = batches_of("a", dense_state(3_000, 10), parts=10)
    tracemalloc.start()
    try:
        kept = KeptBatches()
        for _ in range(20):
            for batch in batches:
                kept.append(batch._replace(nodes=tuple(node._replace(turn=1) for node in batch.nodes)))
        grown, most = tracemalloc.get_traced_memory()
        one = sum(len(batch.nodes) for batch in batches)
        assert kept.node_count == 20 * one
        assert grown < 3 * one * 400, "about what is kept in memory, a few hundred bytes a node"
        assert sum(len(batch.nodes) for batch in kept) == 20 * one
        assert most < 8 * one * 400
    finally:
        tracemalloc.stop()
