"""What a history can be given out as."""

from __future__ import annotations

from enum import Enum

from stateweave_graph.errors import InvalidRequestError


class ExportFormat(str, Enum):
    """What a history can be given out as."""

    JSON = "json"
    JSONL = "jsonl"
    SESSION_LOG = "session-log"
    GRAPHML = "graphml"
    PARQUET = "parquet"

    @classmethod
    def of(cls, given: str) -> ExportFormat:
        """A format by its name.

        Raises:
            InvalidRequestError: there is no such format.
        """
        try:
            return cls(given)
        except ValueError:
            names = ", ".join(form.value for form in cls)
            raise InvalidRequestError(f"format {given!r} must be one of {names}") from None
