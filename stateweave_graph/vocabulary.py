"""Names and keys of semantic memory, as the format normalises them.

The rule is format.md, *Resources and semantic memory*: without it one memory becomes two.
"""

from __future__ import annotations

import re

from stateweave_graph.errors import VocabularyError
from stateweave_graph.validation import shorten

BUILT_IN_TYPES = {
    "memory": "A durable fact or context.",
    "preference": "A stable user choice or working style.",
    "wisdom": "A reusable, evidence-supported lesson.",
    "artifact": "A durable output or reference.",
}
CONTENT_MAX_CHARACTERS = 100_000

_OTHER_IN_TYPE = re.compile(r"[^a-z0-9_-]+")
_OTHER_IN_KEY = re.compile(r"[^a-z0-9_./:-]+")
_TYPE = re.compile(r"[a-z][a-z0-9_-]{0,47}")
_KEY_MAX = 120


def normalise_type(name: str) -> str:
    """The name of a semantic type, normalised.

    Raises:
        VocabularyError: nothing of the form ``[a-z][a-z0-9_-]{0,47}`` is left.

    >>> normalise_type(" Working Style ")
    'working-style'
    """
    _refuse_other_types(name)
    normalised = _OTHER_IN_TYPE.sub("-", name.strip().lower()).strip("-")
    if not _TYPE.fullmatch(normalised):
        raise VocabularyError(
            f"semantic type {shorten(name)} becomes {normalised!r}, which is not 1 to 48 of a-z, 0-9, _ "
            "and - beginning with a letter; choose another name"
        )
    return normalised


def normalise_key(key: str) -> str:
    """The key of a semantic memory, normalised.

    Raises:
        VocabularyError: no character of ``[a-z0-9_./:-]`` is left.

    >>> normalise_key("Hotel style!")
    'hotel-style'
    """
    _refuse_other_types(key)
    normalised = _OTHER_IN_KEY.sub("-", key.strip().lower()).strip("-")[:_KEY_MAX]
    if not normalised:
        raise VocabularyError(
            f"semantic key {shorten(key)} has no character of a-z, 0-9 and _ . / : - left; choose another key"
        )
    return normalised


def _refuse_other_types(value: object) -> None:
    if not isinstance(value, str):
        raise VocabularyError(f"{shorten(value)} is no text; semantic types and keys are")
