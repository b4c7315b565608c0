"""An exported history made a history again: every revision, hash and failed run of it, or what is missing."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stateweave_graph.errors import DivergedError, InvalidRequestError, NotFoundError
from stateweave_graph.mapper import node_from_record
from stateweave_graph.model import NodeKind
from stateweave_graph.records import AgentRecord, CommitRecord
from stateweave_graph.repository.historyfile import HistoryFile
from stateweave_graph.repository.requests import check_path
from stateweave_graph.repository.transfer import Piece, batches
from stateweave_graph.results import Imported
from stateweave_graph.stores.base import StoreWriter
from stateweave_graph.vocabulary import Vocabulary
from stateweave_graph.wholefile import reason


def restore(tx: StoreWriter, agent_id: str, file: HistoryFile) -> Imported:
    """Bring an exported history in; onto an agent that is there, the revisions that it does not have yet.

    Raises:
        HistoryFileError: the file is not as it was exported.
        DivergedError: an agent of that name is there, with another history.
        VocabularyError: the agent that is there has a vocabulary that a new node does not fit.
    """
    stored = tx.lock(agent_id)
    history = tx.new_history(agent_id) if stored is None else stored.history
    pieces = file.pieces() if stored is None else _beyond(tx, stored, file)
    commits = nodes = 0
    revision = file.agent.revision if stored is None else max(stored.revision, file.agent.revision)
    for batch in batches(file.agent, pieces, agent_id, history, stored):
        tx.write(batch)
        commits += 1
        nodes += len(batch.nodes)
    kept = 0 if stored is None else len(tx.failures(history))
    tx.add_failures(history, file.failures[kept:])
    return Imported(
        agent_id=agent_id,
        history=history,
        revision=revision,
        commits=commits,
        nodes=nodes,
        failures=len(file.failures[kept:]),
    )


@contextmanager
def opened_lines(source: str | os.PathLike[str] | bytes) -> Iterator[Iterable[bytes]]:
    """The lines of a file, or of bytes.

    Raises:
        NotFoundError: there is no such file.
        InvalidRequestError: it can't be read.
    """
    if isinstance(source, bytes):
        yield io.BytesIO(source)
        return
    name = check_path(source, "source")
    try:
        file = Path(name).open("rb")  # noqa: SIM115  (closed below; what fails inside is not an error of this)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {name!r}") from None
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"the file {name!r} can't be read: {reason(error)}") from None
    with file:
        yield file


def _beyond(tx: StoreWriter, stored: AgentRecord, file: HistoryFile) -> Iterator[Piece]:
    """The pieces of a file, whose history is the stored one as far as both reach.

    New nodes must fit the vocabulary of the agent that is there.
    """
    both = min(stored.revision, file.agent.revision)
    common = tx.commit(stored.history, both)
    vocabulary = None if stored.vocabulary is None else Vocabulary.from_text(stored.vocabulary)
    for piece in file.pieces():
        if piece.commit.revision == both:
            _refuse_other(stored, common, piece.commit)
        if piece.commit.revision > stored.revision and vocabulary is not None:
            for record in piece.nodes:
                if record.kind == NodeKind.SEMANTIC.value:
                    vocabulary.check(node_from_record(record, lambda _: ""))
        yield piece


def _refuse_other(stored: AgentRecord, there: CommitRecord | None, here: CommitRecord) -> None:
    if there is None or there.hash != here.hash:
        raise DivergedError(
            stored.agent_id,
            f"the agent is there at revision {stored.revision}, with another history; nothing was written. "
            "Import it under another name, or delete the agent first",
            sequence=None,
            stored=None if there is None else there.hash,
            given=here.hash,
        )
