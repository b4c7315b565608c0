"""The contract of a store, on SQLite: a file, and memory."""

from __future__ import annotations

import pytest

from stateweave_graph.stores.sqlite import SqliteStore
from stateweave_graph.testing.contract import StoreContract


class TestSqliteFile(StoreContract):
    @pytest.fixture
    def open_store(self, tmp_path):
        stores = []

        def opened():
            stores.append(SqliteStore(tmp_path / "history.db"))
            return stores[-1]

        yield opened
        for store in stores:
            store.close()


class TestSqliteMemory(StoreContract):
    @pytest.fixture
    def open_store(self):
        store = SqliteStore(":memory:")
        yield lambda: store
        store.close()
