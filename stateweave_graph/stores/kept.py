"""Batches that are kept back until it is known how they are to be written, in bounded memory."""

from __future__ import annotations

import pickle
import tempfile
import weakref
from collections.abc import Iterator
from typing import IO

from stateweave_graph.records import Batch

_NODES_IN_MEMORY = 5_000


class KeptBatches:
    """The commits of a new history, in order; what is beyond some thousand nodes is in a file of no name.

    Attributes:
        node_count: the number of nodes of all of them.
        outlines: the same without nodes, resources and versions.
    """

    def __init__(self) -> None:
        self.node_count = 0
        self.outlines: list[Batch] = []
        self._in_memory: list[Batch] = []
        self._file: IO[bytes] | None = None

    def append(self, batch: Batch) -> None:
        """Keep one more."""
        self.node_count += len(batch.nodes)
        self.outlines.append(batch._replace(nodes=(), resources=(), versions=()))
        if len(self._in_memory) == len(self.outlines) - 1 and self.node_count <= _NODES_IN_MEMORY:
            self._in_memory.append(batch)
        else:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115  (closed when this object goes)
                weakref.finalize(self, self._file.close)
            pickle.dump(batch, self._file, protocol=pickle.HIGHEST_PROTOCOL)

    def __iter__(self) -> Iterator[Batch]:
        yield from self._in_memory
        if self._file is None:
            return
        self._file.seek(0)
        for _ in self.outlines[len(self._in_memory) :]:
            batch: Batch = pickle.load(self._file)  # noqa: S301  (nobody else can write to this file)
            yield batch
