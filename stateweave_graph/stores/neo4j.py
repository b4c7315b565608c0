"""The store for teams: a Neo4j server, 5.26 or newer, Community, Enterprise or Aura.

Every commit is one managed transaction of two statements; reads use ``execute_read``, so that clusters use
followers, and bookmarks, so that a worker reads its own writes.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    Auth,
    Bookmarks,
    Driver,
    GraphDatabase,
    ManagedTransaction,
    Session,
    basic_auth,
    bearer_auth,
    unit_of_work,
)
from neo4j.exceptions import ConfigurationError, ConstraintError, DriverError, Neo4jError, ServiceUnavailable

from stateweave_graph.cyphertext import schema_text, statement
from stateweave_graph.errors import (
    InvalidRequestError,
    NotFoundError,
    StateWeaveGraphError,
    StoreError,
    StoreUnavailableError,
)
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
from stateweave_graph.stores.neo4j_tasks import Task, Tasks, TookTooLongError
from stateweave_graph.stores.neo4j_writer import Most, Neo4jWriter, NewHistory
from stateweave_graph.version import __version__

Result = TypeVar("Result")
Reader = TypeVar("Reader", bound=Neo4jReader)
QueryRows = tuple[list[str], list[dict[str, Any]]]

# Without a handler of the application's, the driver's warnings would go to standard error, where errors are
# printed, as JSON perhaps.
logging.getLogger("neo4j").addHandler(logging.NullHandler())

MAX_COMMIT_NODES = 20_000
"""The most nodes that one transaction adds."""

MAX_COMMIT_EDGES = 300_000
"""The most PARENT edges that one transaction adds: a heap of 1 GB held 324,000, and not 392,000."""

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0

_CREATIONS = 3
"""How often a unit of work is run again because another process made the same agent meanwhile."""

_DELETIONS = 5
"""How often a unit of work is run because an agent was deleted, and perhaps made again, meanwhile."""


class Neo4jStore:
    """Histories in a database of a Neo4j server.

    The driver connects when it is first needed, and the schema is made by the first write.

    Args:
        uri: ``bolt://``, ``neo4j://``, or one of these with ``+s`` or ``+ssc``.
        user: the user; None for a server without authentication.
        password: the password.
        token: a bearer token of single sign-on, in place of user and password.
        database: the database; None for the user's home database.
        timeout: the most seconds of one transaction, with all waiting for the server and other writers.
        bookmarks: what another worker's ``bookmarks()`` gave, to read what it wrote.
        max_connection_pool_size: the most connections to each server.
        max_commit_nodes: the most nodes that one transaction adds to a history.
        max_commit_edges: the most PARENT edges that one transaction adds to a history.
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
        token: str | None = None,
        database: str | None = None,
        timeout: float = 30.0,
        bookmarks: Iterable[str] = (),
        max_connection_pool_size: int = 100,
        max_commit_nodes: int = MAX_COMMIT_NODES,
        max_commit_edges: int = MAX_COMMIT_EDGES,
        max_whole_nodes: int | None = None,
        sizes: Sizes | None = None,
    ) -> None:
        self._uri = uri
        self._auth = _credentials(user, password, token)
        self._database = database
        self._timeout = timeout
        self._pool_size = max_connection_pool_size
        self._most = Most(max_commit_nodes, max_commit_edges)
        self._most_whole = self._most if max_whole_nodes is None else Most(max_whole_nodes, max_commit_edges)
        self._sizes = sizes or Sizes()
        self._bookmarks = GraphDatabase.bookmark_manager(
            initial_bookmarks=Bookmarks.from_raw_values(bookmarks)
        )
        self._tasks = Tasks(self._driver, self.name, timeout)
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
            return self._on_one_history(lambda: self._read(work))
        except StoreUnavailableError as error:
            if not error.outcome_unknown:
                raise
            # cut at the end of a transaction that only read
            return self._on_one_history(lambda: self._read(work))

    def write(
        self, work: Callable[[StoreWriter], Result], report: Callable[[int], None] | None = None
    ) -> Result:
        """Run a unit of work of which all is written, or nothing (see ``GraphStore``)."""
        self.apply_schema()
        for attempt in range(_CREATIONS):
            try:
                return self._on_one_history(lambda: self._write(work, report))
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

        def use(session: Session, task: Task[QueryRows]) -> QueryRows:
            explain(session, text, parameters)
            task.renew(bounds.timeout + self._timeout)  # the server ends the query; this, its silence
            rows: QueryRows = session.execute_read(_described(task, work, "cypher", bounds.timeout))
            return rows

        return self._attempts(READ_ACCESS, use)

    def schema_version(self) -> int:
        """The version of the schema that is there; 0 where there is none yet."""
        return self._attempts(READ_ACCESS, lambda session, _: schema_version(session)[0], look=False)

    def schema_text(self) -> str:
        """The Cypher that makes the schema, for an administrator."""
        return schema_text()

    def apply_schema(self) -> None:
        """Make the schema where it is not there yet; sends no schema statement where it is."""
        if self._has_schema:
            return

        def use(session: Session, task: Task[None]) -> None:
            if not self._has_schema:
                make_schema(session, self.name, lambda: task.renew(self._timeout))
                self._has_schema = True

        self._attempts(WRITE_ACCESS, use)

    def sweep(self) -> None:
        """Delete what interrupted deletes and imports left behind."""
        sweep_abandoned(self, self._sizes)

    def run_in_one(self, statements: Sequence[tuple[str, dict[str, Any]]]) -> list[list[dict[str, Any]]]:
        """The rows of statements of ``cypher/store``, run in one transaction that may write."""

        def work(tx: ManagedTransaction) -> list[list[dict[str, Any]]]:
            return [tx.run(statement(name), parameters).data() for name, parameters in statements]

        return self._attempts(
            WRITE_ACCESS,
            lambda session, task: session.execute_write(_described(task, work, "stage", self._timeout)),
        )

    def close(self) -> None:
        """Wait for calls of other threads, and let go of connections; every later call is refused."""
        self._tasks.close()

    def _on_one_history(self, call: Callable[[], Result]) -> Result:
        """Run a unit of work again where an agent was deleted while it was read.

        Raises:
            NotFoundError: that happened each time.
        """
        for _ in range(_DELETIONS):
            try:
                return call()
            except _DeletedMeanwhileError as deleted:
                agent_id = deleted.agent_id
        raise NotFoundError(f"agent {agent_id!r} was deleted while it was read; try again")

    def _read(self, work: Callable[[StoreReader], Result]) -> Result:
        def attempt(tx: ManagedTransaction) -> Result:
            return _checked(Neo4jReader(tx), work)

        return self._attempts(
            READ_ACCESS,
            lambda session, task: session.execute_read(_described(task, attempt, "read", self._timeout)),
        )

    def _write(
        self,
        work: Callable[[StoreWriter], Result],
        report: Callable[[int], None] | None,
        taken_up: Mapping[str, str] | None = None,
    ) -> Result:
        writers: list[Neo4jWriter] = []

        def attempt(tx: ManagedTransaction) -> Result:
            writer = Neo4jWriter(tx, self._most, taken_up)
            writers.append(writer)
            result = _checked(writer, work)
            begun = list(writer.begun.values())
            nodes = sum(new.batches.node_count for new in begun)
            edges = sum(new.batches.edge_count for new in begun)
            if not self._most_whole.holds(nodes, edges):
                raise _TooLargeError(result, begun)
            writer.flush()
            return result

        try:
            result = self._attempts(
                WRITE_ACCESS,
                lambda session, task: session.execute_write(
                    _described(task, attempt, "commit", self._timeout)
                ),
            )
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
        version, agent = schema_version(session)
        refuse_old_server(agent, self.name)
        refuse_newer_schema(version, self.name)
        self._has_schema = version > 0
        self._looked = True

    def _attempts(
        self, access: str, use: Callable[[Session, Task[Result]], Result], *, look: bool = True
    ) -> Result:
        """What the use of a session gives; tried again where that may help, for as long as ``timeout``.

        The waiting between attempts is done here, where an interrupt ends it, and not by the driver.
        """
        end = time.monotonic() + self._timeout

        def work(driver: Driver, task: Task[Result]) -> Result:
            with driver.session(
                database=self._database, default_access_mode=access, bookmark_manager=self._bookmarks
            ) as session:
                task.session = session
                task.check()
                if look:
                    with _names_resolved():
                        self._look(session)
                return use(session, task)

        with translated(self.name, anonymous=self._auth is None):
            for attempt in count():
                pause = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE) * random.uniform(0.8, 1.2)  # noqa: S311
                left = end - time.monotonic()
                try:
                    return self._tasks.run(work, left)
                except TookTooLongError as error:
                    if error.answered or error.committing or end - time.monotonic() < self._timeout / 4:
                        raise
                except ConstraintError as error:
                    raise _RefusedError(error) from error
                except (DriverError, Neo4jError) as error:
                    if not error.is_retryable() or time.monotonic() + pause >= end:
                        raise
                    time.sleep(pause)
            raise AssertionError("attempts end or are refused")

    def _driver(self) -> Driver:
        try:
            return GraphDatabase.driver(
                self._uri,
                auth=self._auth,
                user_agent=f"stateweave-graph/{__version__}",
                connection_acquisition_timeout=self._timeout * 0.9,  # so that its own error is seen
                connection_timeout=min(self._timeout, 10.0),
                max_transaction_retry_time=0,  # we try again ourselves
                notifications_min_severity="OFF",
                max_connection_pool_size=self._pool_size,
            )
        except (ConfigurationError, ValueError) as error:
            raise InvalidRequestError(f"{self.name}: {error}") from None


def _checked(reader: Reader, work: Callable[[Reader], Result]) -> Result:
    """The result of a unit of work, if every agent that it looked up is still there."""
    try:
        result = work(reader)
    except (StateWeaveGraphError, LookupError, ValueError) as error:
        gone = reader.agent_gone()
        if gone is not None:
            raise _DeletedMeanwhileError(gone) from error
        raise
    gone = reader.agent_gone()
    if gone is not None:
        raise _DeletedMeanwhileError(gone)
    return result


def _described(
    task: Task[Any], work: Callable[[ManagedTransaction], Result], what: str, timeout: float
) -> Callable[[ManagedTransaction], Result]:
    """Work whose transactions say who we are in SHOW TRANSACTIONS; it ends where nobody waits for it."""

    def watched(tx: ManagedTransaction) -> Result:
        task.answered = True
        task.check()
        try:
            result = work(tx)
        except Exception:
            raise
        except BaseException:
            task.cut()  # it may have come in the middle of a message
            raise
        task.committing = True
        task.check()
        return result

    said = {"app": "stateweave-graph", "version": __version__, "work": what}
    return unit_of_work(metadata=said, timeout=timeout)(watched)


@contextmanager
def _names_resolved() -> Iterator[None]:
    """Drivers before 6.0 raise a ValueError for a host that can't be found."""
    try:
        yield
    except ValueError as error:
        if "Cannot resolve" not in str(error):
            raise
        raise ServiceUnavailable(str(error)) from error


def _credentials(user: str | None, password: str | None, token: str | None) -> Auth | None:
    if token is not None:
        if user is not None or password is not None:
            raise InvalidRequestError("give either user and password, or a token")
        return bearer_auth(token)
    if (user is None) != (password is None):
        raise InvalidRequestError(
            f"a {'password without a user' if user is None else 'user without a password'} was given; give "
            "both with user= and password=, on the command line with $NEO4J_USERNAME and $NEO4J_PASSWORD"
        )
    return None if user is None or password is None else basic_auth(user, password)


class _DeletedMeanwhileError(Exception):
    """An agent was deleted between two statements of a unit of work."""

    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        super().__init__()


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


__all__ = ["MAX_COMMIT_EDGES", "MAX_COMMIT_NODES", "Neo4jStore", "Sizes", "StoreError"]
