"""The part of a repository that moves whole histories: in, out, and to another name."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from stateweave_graph.errors import InvalidRequestError
from stateweave_graph.formats import ExportFormat
from stateweave_graph.repository import reads
from stateweave_graph.repository.exports import Source, session_id, source_at, write
from stateweave_graph.repository.historyfile import HistoryFile
from stateweave_graph.repository.imports import log_requests, settle_log
from stateweave_graph.repository.reading import RepositoryReads
from stateweave_graph.repository.requests import check_name, check_path, check_positive
from stateweave_graph.repository.restore import opened_lines, restore
from stateweave_graph.repository.tables import need_parquet, write_tables
from stateweave_graph.repository.transfer import fork
from stateweave_graph.results import Exported, Head, Imported
from stateweave_graph.sessionlog import SessionLog
from stateweave_graph.stores.base import StoreReader, StoreWriter
from stateweave_graph.wholefile import whole_file

Progress = Callable[[int, int], None]
"""Called with what is done, and with all there is to do."""


class RepositoryMoves(RepositoryReads):
    """Forks, exports, and imports of whole histories."""

    def fork(self, agent_id: str, new: str, *, revision: int | None = None) -> Head:
        """Make an independent agent of an agent's history, or of its first revisions.

        Its revisions keep their numbers and hashes; later commits to one don't show in the other.

        Raises:
            NotFoundError: there is no such agent or revision.
            ConflictError: there is an agent of the new name already.
        """
        check_name(agent_id)
        check_name(new)
        if revision is not None:
            check_positive(revision, "revision")

        def work(tx: StoreWriter) -> None:
            agent = reads.agent_there(tx, agent_id)
            reads.refuse_later(agent, revision)
            fork(tx, agent, new, revision)

        self.store.write(work)
        return self.head(new)

    def export(
        self,
        agent_id: str,
        target: str | os.PathLike[str],
        *,
        format: str | None = None,
        revision: int | None = None,
    ) -> Exported:
        """Write a history to a file, whole or not at all, a page of nodes at a time.

        The formats: ``json``, a snapshot that every StateWeave SDK takes; ``jsonl``, all revisions, a commit
        a line, for ``import_history``; ``session-log``, the log of the SDK's own file store;
        ``graphml``, for networkx and other graph tools; ``parquet``, two tables.

        Args:
            agent_id: the agent.
            target: the file; for ``parquet`` a folder, made if need be, which gets ``nodes.parquet`` and
                ``edges.parquet``. A ``session-log`` given a folder gets the name that the SDK looks for.
            format: one of these formats; None for what the ending of the target's name says, else ``json``.
            revision: the last revision to give out; None for the newest.

        Raises:
            NotFoundError: there is no such agent or revision.
            InvalidRequestError: there is no such format or the target's ending names another one, the target
                can't be written or is a SQLite database, or a text can't be written in this format.
            LimitExceededError: the session log is longer than what the SDK loads.
            MissingExtraError: pyarrow is not installed, for ``parquet``.
        """
        check_name(agent_id)
        if revision is not None:
            check_positive(revision, "revision")
        check_path(target, "target")
        form = ExportFormat.for_file(format, target)
        if form is ExportFormat.PARQUET:
            need_parquet()

        def work(tx: StoreReader) -> Exported:
            source = source_at(tx, agent_id, revision)
            names = _names(source, form, Path(target))
            with ExitStack() as stack:
                files = [stack.enter_context(whole_file(name)) for name in names]
                _write(source, form, files)
            return Exported(
                agent_id=agent_id,
                history=source.agent.history,
                revision=source.head.revision,
                nodes=source.head.last_sequence,
                files=[str(name) for name in names],
            )

        return self.store.read(work)

    def import_history(
        self,
        agent_id: str,
        source: str | os.PathLike[str] | bytes,
        *,
        progress: Progress | None = None,
    ) -> Imported:
        """Bring a history in that was exported as ``jsonl``: every revision and hash, all of it or nothing.

        Onto an agent whose revisions the file has too, those are added that it does not have.

        Args:
            agent_id: the agent; it need not be the one that was exported.
            source: the file, or its bytes.
            progress: called now and then with the number of nodes written and of all.

        Raises:
            HistoryFileError: the file is not as it was exported.
            DivergedError: an agent of that name is there, with another history.
            VocabularyError: the agent that is there has a vocabulary that a new node does not fit.
            NotFoundError: there is no such file.
        """
        check_name(agent_id)
        total = 0

        def report(done: int) -> None:
            if progress is not None:
                progress(done, total)

        def work(tx: StoreWriter) -> Imported:
            nonlocal total
            with opened_lines(source) as lines:
                file = HistoryFile(lines)
                total = file.agent.node_count
                return restore(tx, agent_id, file)

        return self.store.write(work, report)

    def import_session_log(
        self, agent_id: str, log: SessionLog, *, progress: Progress | None = None
    ) -> Imported:
        """Bring an SDK's session log in, a revision a turn, with its failed runs; all of it or nothing.

        Revisions and failed runs that are there already are not added again.

        Args:
            agent_id: the agent.
            log: what ``read_session_log`` gave.
            progress: called now and then with the number of nodes written and of all.

        Raises:
            DivergedError: the log does not extend what is stored.
            CommitIdReusedError: one of its entries' ids is another commit's.
            InvalidRequestError: it holds no state, and there is no such agent.
        """
        if not isinstance(log, SessionLog):
            raise InvalidRequestError(
                f"a SessionLog is needed, not {type(log).__name__}; make one with read_session_log"
            )
        requests = log_requests(check_name(agent_id), log)
        total = requests[-1].snapshot.count if requests else 0
        return self.store.write(
            lambda tx: settle_log(tx, agent_id, requests, log.failures), reporter(progress, total)
        )


def reporter(progress: Progress | None, total: int) -> Callable[[int], None] | None:
    """What a store reports to, of a progress that is told the total as well."""
    return None if progress is None else lambda done: progress(done, total)


def _names(source: Source, form: ExportFormat, target: Path) -> list[Path]:
    if form is ExportFormat.PARQUET:
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidRequestError(
                f"{os.fspath(target)!r} can't be made a folder for two Parquet files: {error.strerror}"
            ) from None
        return [target / "nodes.parquet", target / "edges.parquet"]
    if form is ExportFormat.SESSION_LOG and target.is_dir():
        return [target / f"{session_id(source.agent)}.jsonl"]
    return [target]


def _write(source: Source, form: ExportFormat, files: list[BinaryIO]) -> None:
    if form is ExportFormat.PARQUET:
        write_tables(source, *files)
    else:
        write(source, form, *files)
