"""The repository: what applications load from and commit to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, TypedDict, TypeVar
from uuid import uuid4

from typing_extensions import Self

from stateweave_graph.errors import InvalidAppendError, InvalidRequestError, StoreUnavailableError
from stateweave_graph.model import AgentState, Append
from stateweave_graph.records import Wanted
from stateweave_graph.repository import reads
from stateweave_graph.repository.commits import (
    AppendRequest,
    Request,
    SaveRequest,
    Settled,
    settle_append,
    settle_save,
)
from stateweave_graph.repository.ground import Draft, Ground, Need
from stateweave_graph.repository.imports import failure_record
from stateweave_graph.repository.moving import Progress, RepositoryMoves, reporter
from stateweave_graph.repository.requests import (
    ANY_REVISION,
    Asked,
    Expectation,
    ExpectedRevision,
    Said,
    check_list,
    check_name,
    check_text,
    instant_of,
    object_text,
    said_of,
)
from stateweave_graph.repository.snapshots import Snapshot
from stateweave_graph.repository.turn import NodeOrId, Turn
from stateweave_graph.repository.warm import WarmGrounds
from stateweave_graph.results import (
    Commit,
    FailedRun,
    Head,
    Imported,
)
from stateweave_graph.stores.base import GraphStore, StoreReader, StoreWriter
from stateweave_graph.timestamps import iso_text, now_ms
from stateweave_graph.vocabulary import Vocabulary

Guess = TypeVar("Guess")


class Repository(RepositoryMoves):
    """The histories in one store; may be shared by threads, and is a context manager.

    Every method raises ``StoreError`` where the database does not answer as it should, and
    ``InvalidRequestError`` for arguments that are no good. The meanings are design.md, *What the words
    mean*: ``expected_revision`` is a number, 0 for "must not exist yet", ``ANY_REVISION``, or what
    ``load``, ``head`` or a commit gave back, which pins the history as well. ``commit_id`` makes a request
    said twice be done once. ``metadata`` is a JSON object, at most 1 MiB and 32 deep.

    """

    def __init__(self, store: GraphStore) -> None:
        super().__init__(store)
        self._warm = WarmGrounds()

    def save(
        self,
        agent_id: str,
        state: AgentState,
        *,
        expected_revision: ExpectedRevision,
        commit_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Commit:
        """Commit a whole snapshot; only what it adds is written, and nothing where it adds nothing.

        Raises:
            ConflictError: the expected revision is not there.
            DivergedError: the snapshot does not extend what is stored.
            CommitIdReusedError: the commit id was another request's.
            InvalidStateError: what it adds breaks import rules.
        """
        request = SaveRequest(
            agent_id=check_name(agent_id),
            expected=Expectation.of(agent_id, expected_revision),
            **_identified(commit_id),
            metadata=object_text(metadata),
            snapshot=_snapshot(state),
        )
        warm = self._warm.take(agent_id)
        return self._settle(request, warm, lambda tx, guess: settle_save(tx, request, guess)).commit

    def append(
        self,
        agent_id: str,
        appends: Iterable[Append],
        *,
        expected_revision: ExpectedRevision,
        commit_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Commit:
        """Commit appends: all of them, or none.

        Raises:
            ConflictError: the expected revision is not there.
            CommitIdReusedError: the commit id was another request's.
            NotFoundError: there is no such agent, and no append to begin it with.
            UnknownParentError: a parent is not in the history.
        """
        listed = check_list(appends, "appends")
        for append in listed:
            if not isinstance(append, Append):
                raise InvalidAppendError(
                    f"append takes Append(kind=…, payload=…), not {type(append).__name__}"
                )
        request = AppendRequest(
            agent_id=check_name(agent_id),
            expected=Expectation.of(agent_id, expected_revision),
            **_identified(commit_id),
            metadata=object_text(metadata),
            appends=listed,
            said=said_of(listed),
        )
        warm = self._warm.take(agent_id)
        draft = None if warm is None else Draft(warm, listed)
        return self._settle(request, draft, lambda tx, guess: settle_append(tx, request, guess)).commit

    def turn(
        self,
        agent_id: str,
        *,
        expected_revision: ExpectedRevision | None = None,
        parents: Sequence[NodeOrId] | None = None,
        commit_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Turn:
        """A unit of work: what is appended in its block is committed when it is left, or not at all.

        Args:
            agent_id: the agent; made by the commit where it is not there.
            expected_revision: the head to start from; None for whatever is there when the block is entered.
            parents: heads of a branch to start from, instead of the whole frontier.
            commit_id: an id for the commit.
            metadata: what to say of the commit.

        Raises:
            ConflictError: on entering, the expected revision is not there; on leaving, another commit came
                between, and ``.appends`` has what the turn appended.
        """
        return Turn(
            self,
            check_name(agent_id),
            ANY_REVISION if expected_revision is None else expected_revision,
            parents,
            None if commit_id is None else check_name(commit_id, "commit id"),
            object_text(metadata),
        )

    def set_vocabulary(self, agent_id: str, vocabulary: Vocabulary | None) -> None:
        """Say which types of semantic nodes an agent may have from now on; None for any.

        It is stored with the agent, so every worker enforces it. What is stored already is not judged again.

        Raises:
            NotFoundError: there is no such agent.
        """
        check_name(agent_id)
        if vocabulary is not None and not isinstance(vocabulary, Vocabulary):
            raise InvalidRequestError(f"a Vocabulary is needed, not {type(vocabulary).__name__}")
        text = None if vocabulary is None else vocabulary.to_text()

        def work(tx: StoreWriter) -> None:
            if tx.lock(agent_id) is None:
                raise reads.no_agent(agent_id)
            tx.set_vocabulary(agent_id, text)

        self.store.write(work)

    def delete(self, agent_id: str) -> None:
        """Delete an agent and its whole history.

        Raises:
            NotFoundError: there is no such agent.
        """
        check_name(agent_id)
        self._warm.take(agent_id)

        def work(tx: StoreWriter) -> None:
            if tx.lock(agent_id) is None:
                raise reads.no_agent(agent_id)
            tx.delete(agent_id)

        self.store.write(work)

    def record_failure(
        self,
        agent_id: str,
        *,
        input: str,
        error: str,
        run_id: str | None = None,
        usage: Mapping[str, Any] | None = None,
        at: datetime | None = None,
    ) -> FailedRun:
        """Keep a failed run beside the history, at the present head; the history stays as it is.

        Args:
            agent_id: the agent.
            input: what the run was asked.
            error: why it failed.
            run_id: the run's own id.
            usage: what it used, a JSON object.
            at: when, with a zone; None for now.

        Raises:
            NotFoundError: there is no such agent.
        """
        check_name(agent_id)
        check_text(input, "input")
        check_text(error, "error")
        if run_id is not None:
            check_text(run_id, "run_id")
        usage_text = object_text(usage, "usage")
        time = iso_text(now_ms() if at is None else instant_of(at, "at"))

        def work(tx: StoreWriter) -> FailedRun:
            agent = tx.lock(agent_id)
            if agent is None:
                raise reads.no_agent(agent_id)
            record = failure_record(time, run_id, input, error, usage_text, agent.revision)
            tx.add_failures(agent.history, [record])
            return reads.failed_run(record)

        return self.store.write(work)

    def import_state(
        self,
        agent_id: str,
        state: AgentState,
        *,
        metadata: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        """Bring a snapshot in as one revision; onto an existing agent, what it adds.

        Args:
            agent_id: the agent.
            state: the snapshot.
            metadata: what to say of the commit.
            progress: called now and then with the number of nodes written and of all.

        Raises:
            DivergedError: it does not extend what is stored.
            InvalidStateError: what it adds breaks import rules.
        """
        request = SaveRequest(
            agent_id=check_name(agent_id),
            expected=Expectation.of(agent_id, ANY_REVISION),
            **_identified(None),
            metadata=object_text(metadata),
            snapshot=_snapshot(state),
        )
        commit, _, made = self._settle(
            request,
            None,
            lambda tx, _: settle_save(tx, request, None),
            reporter(progress, len(state.nodes)),
        )
        return Imported(
            agent_id=agent_id,
            history=commit.history,
            revision=commit.revision,
            commits=int(made),
            nodes=len(commit.added),
            failures=0,
        )

    def bookmarks(self) -> list[str]:
        """What another worker gives to ``open_repository(…, bookmarks=…)`` to read what was written here.

        Needed on clusters only, where another server may answer it.
        """
        return self.store.bookmarks()

    def close(self) -> None:
        """Let go of connections and of what is kept in memory."""
        self._warm.clear()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Repository({self.name!r})"

    def _settle(
        self,
        request: Request,
        guess: Guess | None,
        work: Callable[[StoreWriter, Guess | None], Settled],
        report: Callable[[int], None] | None = None,
    ) -> Settled:
        """Run a commit on what is held to be the head; if it is run again, on what the store says."""
        guesses = [guess]

        def attempt(tx: StoreWriter) -> Settled:
            return work(tx, guesses.pop() if guesses else None)

        try:
            settled = self.store.write(attempt, report)
        except StoreUnavailableError as error:
            if not error.outcome_unknown:
                raise
            settled = self._settle_again(request, attempt)
        if settled.ground is not None:
            self._warm.put(request.agent_id, settled.ground)
        return settled

    def _settle_again(self, request: Request, attempt: Callable[[StoreWriter], Settled]) -> Settled:
        """Run a commit that may have been made; its id tells, and it is made once."""
        try:
            return self.store.write(attempt)
        except StoreUnavailableError as error:
            raise StoreUnavailableError(
                f"{error}. It is not known whether the commit was made: say the same again with "
                f"commit_id={request.commit_id!r}, and it is made once",
                outcome_unknown=True,
            ) from error

    def _begin_turn(self, agent_id: str, expected: Any, commit_id: str | None) -> tuple[Head | None, Ground]:
        """The head that a turn starts from, and the ground to try its appends out on."""
        expectation = Expectation.of(agent_id, expected)
        warm = self._warm.take(agent_id)

        def work(tx: StoreReader) -> Ground:
            agent = tx.agent(agent_id)
            replayed = agent and commit_id and tx.lookup(agent.history, Wanted(commit_id=commit_id)).commit
            if not replayed:
                expectation.check(agent_id, agent)
            if warm is not None and warm.stands_at(agent):
                return warm
            return Ground(None if agent is None else tx.head(agent_id))

        ground = self.store.read(work)
        return (None if ground.head is None else reads.head_result(ground.head)), ground

    def _learn(self, agent_id: str, ground: Ground, need: Need) -> None:
        """Look up what a turn names, as long as its head is still the head."""

        def work(tx: StoreReader) -> None:
            agent = tx.agent(agent_id)
            ground.expectation().check(agent_id, agent)
            ground.learn(need, tx.lookup(ground.history, need.wanted()))

        self.store.read(work)

    def _commit_turn(
        self,
        agent_id: str,
        draft: Draft,
        said: Sequence[Said],
        base: Asked,
        commit_id: str | None,
        metadata: str | None,
    ) -> Commit:
        """Commit what a turn appended, if its head is still the head."""
        request = AppendRequest(
            agent_id=agent_id,
            expected=draft.ground.expectation(),
            **_identified(commit_id),
            metadata=metadata,
            appends=draft.appends,
            said=said,
            base=base,
        )
        return self._settle(request, draft, lambda tx, guess: settle_append(tx, request, guess)).commit


def _snapshot(state: AgentState) -> Snapshot:
    if not isinstance(state, AgentState):
        raise InvalidRequestError(
            f"an AgentState is needed, not {type(state).__name__}; make one with AgentState.from_json"
        )
    return Snapshot.of(state)


class _Identified(TypedDict):
    commit_id: str
    repeatable: bool


def _identified(commit_id: str | None) -> _Identified:
    """A commit id as given, or a new one that only we can repeat."""
    if commit_id is None:
        return {"commit_id": uuid4().hex, "repeatable": False}
    return {"commit_id": check_name(commit_id, "commit id"), "repeatable": True}
