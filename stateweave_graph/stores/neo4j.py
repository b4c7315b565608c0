"""The store for teams: a Neo4j server, 5.26 or newer, Community, Enterprise or Aura.

Every commit is one managed transaction of two statements; reads use ``execute_read``, so that clusters use
followers, and bookmarks, so that a worker reads its own writes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    Bookmarks,
    Driver,
    GraphDatabase,
    ManagedTransaction,
    Session,
    unit_of_work,
)
from neo4j.exceptions import ConfigurationError, ConstraintError

from stateweave_graph.cyphertext import schema_text, statement
from stateweave_graph.errors import InvalidRequestError, StoreError, StoreUnavailableError
from stateweave_graph.stores.base import CypherBounds, StoreReader, StoreWriter
from stateweave_graph.stores.neo4j_connection import (
    make_schema,
    refuse_newer_schema,
    refuse_old_server,
    schema_version,
    without_credentials,
)
from stateweave_graph.stores.neo4j_cypher import explain, run
from stateweave_graph.stores.neo4j_errors import meaning_of, translated
from stateweave_graph.stores.neo4j_records import Neo4jReader
from stateweave_graph.stores.neo4j_staging import (
    Sizes,
    discard,
    left_behind,
    publish,
    stage,
    sweep,
    sweep_abandoned,
)
from stateweave_graph.stores.neo4j_writer import Neo4jWriter, NewHistory
from stateweave_graph.version import __version__

Result = TypeVar("Result")

MAX_COMMIT_NODES = 20_000
"""The most nodes that one transaction adds."""

_CREATIONS = 3
"""How often a unit of work is run again because another process made the same agent meanwhile."""


class Neo4jStore:
    """Histories in a database of a Neo4j server.

    The driver connects when it is first needed, and the schema is made by the first write.

    Args:
        uri: ``bolt://``, ``neo4j://``, or one of these with ``+s`` or ``+ssc``.
        user: the user; None for a server without authentication.
        password: the password.
        database: the database; None for the user's home database.
        timeout: how long a unit of work is tried again while the server is busy or away, in seconds.
        bookmarks: what another worker's ``bookmarks()`` gave, to read what it wrote.
        max_commit_nodes: the most nodes that one transaction adds to a history.
        max_whole_nodes: the most nodes of a new history that is written in one transaction; the same if not
            given.
        sizes: how much goes into one transaction where a history is brought in or swept.
    """

    def __init__(
        self,
        uri: str,
        *,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        timeout: float = 30.0,
        bookmarks: Iterable[str] = (),
        max_commit_nodes: int = MAX_COMMIT_NODES,
        max_whole_nodes: int | None = None,
        sizes: Sizes | None = None,
    ) -> None:
        self._uri = uri
        self._auth = None if user is None else (user, password or "")
        self._database = database
        self._timeout = timeout
        self._max_commit_nodes = max_commit_nodes
        self._max_whole_nodes = max_commit_nodes if max_whole_nodes is None else max_whole_nodes
        self._sizes = sizes or Sizes()
        self._bookmarks = GraphDatabase.bookmark_manager(
            initial_bookmarks=Bookmarks.from_raw_values(bookmarks)
        )
        self._guard = threading.Lock()
        self._driver: Driver | None = None
        self._owner = 0
        self._looked = False
        self._has_schema = False

    @property
    def name(self) -> str:
        """The server and the database, for messages; without user and password."""
        shown = without_credentials(self._uri)
        return shown if self._database is None else f"{shown} database {self._database}"

    def __repr__(self) -> str:
        return f"Neo4jStore({self.name!r})"

    def bookmarks(self) -> list[str]:
        """What another worker needs to read what was written here."""
        return sorted(self._bookmarks.get_bookmarks())

    def read(self, work: Callable[[StoreReader], Result]) -> Result:
        """Run a unit of work that only reads (see ``GraphStore``)."""
        try:
            return self._read(work)
        except StoreUnavailableError as error:
            if not error.outcome_unknown:
                raise
            return self._read(work)  # cut at the end of a transaction that only read

    def write(
        self, work: Callable[[StoreWriter], Result], report: Callable[[int], None] | None = None
    ) -> Result:
        """Run a unit of work of which all is written, or nothing (see ``GraphStore``)."""
        self.apply_schema()
        for attempt in range(_CREATIONS):
            try:
                return self._write(work, report)
            except _AgentMeanwhileError as meanwhile:
                if attempt == _CREATIONS - 1:
                    raise meaning_of(meanwhile.error, self.name) from meanwhile.error
        raise AssertionError("a unit of work ends or is refused")

    def cypher(
        self, text: str, parameters: Mapping[str, Any], agents: Sequence[str] | None, bounds: CypherBounds
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """The columns and rows of a Cypher text that only reads (see ``GraphStore``)."""

        def work(tx: ManagedTransaction) -> tuple[list[str], list[dict[str, Any]]]:
            return run(tx, text, parameters, bounds.max_rows)

        with self._session(READ_ACCESS) as session:
            self._look(session)
            explain(session, text, parameters)
            return session.execute_read(self._described(work, "cypher", bounds.timeout))

    def schema_version(self) -> int:
        """The version of the schema that is there; 0 where there is none yet."""
        with self._session(READ_ACCESS) as session:
            return schema_version(session)

    def schema_text(self) -> str:
        """The Cypher that makes the schema, for an administrator."""
        return schema_text()

    def apply_schema(self) -> None:
        """Make the schema where it is not there yet; sends no schema statement where it is."""
        if self._has_schema:
            return
        with self._session(WRITE_ACCESS) as session:
            self._look(session)
            if not self._has_schema:
                make_schema(session, self.name)
                self._has_schema = True

    def sweep(self) -> None:
        """Delete what interrupted deletes and imports left behind."""
        sweep_abandoned(self, self._sizes)

    def run_in_one(self, statements: Sequence[tuple[str, dict[str, Any]]]) -> list[list[dict[str, Any]]]:
        """The rows of statements of ``cypher/store``, run in one transaction that may write."""

        def work(tx: ManagedTransaction) -> list[list[dict[str, Any]]]:
            return [tx.run(statement(name), parameters).data() for name, parameters in statements]

        with self._session(WRITE_ACCESS) as session:
            return session.execute_write(self._described(work, "stage"))

    def close(self) -> None:
        """Let go of connections; a closed store opens again when it is used."""
        with self._guard:
            driver, self._driver = self._driver, None
        if driver is not None and self._owner == os.getpid():
            driver.close()

    def _read(self, work: Callable[[StoreReader], Result]) -> Result:
        with self._session(READ_ACCESS) as session:
            self._look(session)
            return session.execute_read(self._described(lambda tx: work(Neo4jReader(tx)), "read"))

    def _write(
        self,
        work: Callable[[StoreWriter], Result],
        report: Callable[[int], None] | None,
        taken_up: Mapping[str, str] | None = None,
    ) -> Result:
        writers: list[Neo4jWriter] = []

        def attempt(tx: ManagedTransaction) -> Result:
            writer = Neo4jWriter(tx, self._max_commit_nodes, taken_up)
            writers.append(writer)
            result = work(writer)
            if sum(new.batches.node_count for new in writer.begun.values()) > self._max_whole_nodes:
                raise _TooLargeError(result, list(writer.begun.values()))
            writer.flush()
            return result

        try:
            with self._session(WRITE_ACCESS) as session:
                result = session.execute_write(self._described(attempt, "commit"))
        except _TooLargeError as large:
            left = {new.agent_id: left_behind(self, new) for new in large.histories}
            known = {agent_id: history for agent_id, history in left.items() if history is not None}
            if taken_up is None and known:
                return self._write(work, report, known)  # so that its result names the history taken up
            for new in large.histories:
                self._bring_in(new, report)
            return large.result  # type: ignore[no-any-return]
        except _RefusedError as refused:
            if writers and writers[-1].began:
                raise _AgentMeanwhileError(refused.error) from refused.error
            raise meaning_of(refused.error, self.name) from refused.error
        for history in writers[-1].deleted:
            sweep(self, history, self._sizes)
        return result

    def _bring_in(self, new: NewHistory, report: Callable[[int], None] | None) -> None:
        staged = stage(self, new, self._sizes, report)
        try:
            publish(self, new, staged)
        except _RefusedError as refused:
            discard(self, staged.history, self._sizes)
            raise _AgentMeanwhileError(refused.error) from refused.error
        sweep_abandoned(self, self._sizes)

    def _look(self, session: Session) -> None:
        """See once what server and what schema is there."""
        if self._looked:
            return
        with self._guard:
            driver = self._driver
        if driver is not None:
            refuse_old_server(driver.get_server_info().agent, self.name)
        version = schema_version(session)
        refuse_newer_schema(version, self.name)
        self._has_schema = version > 0
        self._looked = True

    @contextmanager
    def _session(self, access: str) -> Iterator[Session]:
        with (
            translated(self.name),
            self._opened().session(
                database=self._database, default_access_mode=access, bookmark_manager=self._bookmarks
            ) as session,
        ):
            try:
                yield session
            except ConstraintError as error:
                raise _RefusedError(error) from error

    def _opened(self) -> Driver:
        with self._guard:
            if self._driver is None or self._owner != os.getpid():
                try:
                    self._driver = GraphDatabase.driver(
                        self._uri,
                        auth=self._auth,
                        user_agent=f"stateweave-graph/{__version__}",
                        connection_acquisition_timeout=self._timeout,
                        connection_timeout=min(self._timeout, 10.0),
                        max_transaction_retry_time=self._timeout,
                        notifications_min_severity="OFF",
                    )
                except (ConfigurationError, ValueError) as error:
                    raise InvalidRequestError(f"{self.name}: {error}") from None
                self._owner = os.getpid()
            return self._driver

    def _described(
        self, work: Callable[[ManagedTransaction], Result], what: str, timeout: float | None = None
    ) -> Callable[[ManagedTransaction], Result]:
        """Work whose transactions say who we are in SHOW TRANSACTIONS."""
        said = {"app": "stateweave-graph", "version": __version__, "work": what}
        described = unit_of_work(metadata=said, timeout=timeout)
        return described(work)


class _TooLargeError(Exception):
    """A unit of work begins a history that is too large for one transaction."""

    def __init__(self, result: Any, histories: list[NewHistory]) -> None:
        self.result = result
        self.histories = histories
        super().__init__()


class _RefusedError(Exception):
    """A constraint was violated."""

    def __init__(self, error: ConstraintError) -> None:
        self.error = error
        super().__init__()


class _AgentMeanwhileError(Exception):
    """Another process made the agent that this unit of work was to begin."""

    def __init__(self, error: ConstraintError) -> None:
        self.error = error
        super().__init__()


__all__ = ["MAX_COMMIT_NODES", "Neo4jStore", "Sizes", "StoreError"]
