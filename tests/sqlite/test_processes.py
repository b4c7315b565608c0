"""Many processes on one SQLite file, and processes killed in the middle of commits."""

from __future__ import annotations

import sqlite3

import pytest

from stateweave_graph import open_repository
from tests.support.concurrency_contract import ConcurrencyContract


class TestSqlite(ConcurrencyContract):
    @pytest.fixture
    def where(self, tmp_path):
        return str(tmp_path / "history.db")

    @pytest.fixture
    def repo(self, where):
        with open_repository(where) as repository:
            yield repository

    @pytest.fixture(autouse=True)
    def _the_file_is_sound(self, where):
        yield
        with sqlite3.connect(where) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
