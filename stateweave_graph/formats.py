"""What a history can be given out as."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path

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

    @classmethod
    def for_file(cls, given: str | None, target: str | os.PathLike[str]) -> ExportFormat:
        """The format that was given, else the one that the target's ending names, else JSON.

        Raises:
            InvalidRequestError: there is no such format, or the ending names another one.
        """
        chosen = None if given is None else cls.of(given).value
        return cls(format_for_file(chosen, target, EXPORT_ENDINGS, default=cls.JSON.value))


EXPORT_ENDINGS = {
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson"),
    "session-log": (".jsonl", ".ndjson"),
    "graphml": (".graphml", ".xml"),
    "parquet": (".parquet",),
}
"""The endings of files of each format of an export; of two formats with one ending the first is meant."""

_NAMES_A_FORMAT = re.compile(
    r"\.(json|jsonl|ndjson|graphml|xml|parquet|csv|tsv|xlsx?|ods|html?|md|mmd|ya?ml|toml|arrow|feather|orc|avro"
    r"|pickle|pkl|gexf|gml|dot|gv|svg|png|jpe?g|pdf|cypher|cql|sql|db|sqlite3?|duckdb|zip|gz|bz2|xz|zst|tar|tgz)"
)
"""Endings by which people and programs expect a format; any other, like ``.bak``, says nothing."""


def format_for_file(
    chosen: str | None,
    target: str | os.PathLike[str],
    endings: Mapping[str, tuple[str, ...]],
    *,
    default: str | None = None,
) -> str:
    """The format of an output file: as chosen, else as the ending of its name says, else the default.

    Args:
        chosen: the format asked for, one of the keys of ``endings``; None where none was.
        target: the file.
        endings: the formats that can be written, each with the endings of its files.
        default: the format where neither says one; the first of ``endings`` if not given.

    Raises:
        InvalidRequestError: the ending names a format that is not the chosen one, or can't be written here.
    """
    ending = "" if Path(target).is_dir() else Path(target).suffix.lower()
    matching = [form for form, own in endings.items() if ending in own]
    if chosen is None and matching:
        return matching[0]
    form = chosen or default or next(iter(endings))
    if _NAMES_A_FORMAT.fullmatch(ending) and form not in matching:
        listed = "; ".join(f"{name}: {', '.join(own) or 'no ending'}" for name, own in endings.items())
        what = f"is not a file of format {form}" if chosen else "names a format that can't be written here"
        raise InvalidRequestError(
            f"the ending of {os.fspath(target)!r} {what}; nothing was written. "
            f"The formats and their endings: {listed}"
        )
    return form
