"""Searching a history for words: what matches, and what is shown of it.

The meaning is the same on every store. Texts and terms are compared folded: without regard to case, and
composed, so that ``STRASSE`` finds ``Straße`` and the two spellings of ``é`` are one (Unicode's default
caseless matching, in form NFC). A term is found anywhere in a text, in any script, since not every script
sets its words apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from stateweave_graph.errors import InvalidRequestError
from stateweave_graph.jsontext import dumps, join_halves, member_path, parse
from stateweave_graph.model import NodeKind
from stateweave_graph.records import TextRecord
from stateweave_graph.repository.reads import agent_there
from stateweave_graph.results import Found
from stateweave_graph.stores.base import StoreReader

_SNIPPET_CHARACTERS = 120
_LEAD = 30
"""How much of a snippet stands before what was found."""

_PIECE = 4_096
"""Long texts are gone through in pieces of this many characters to find the place of a match."""

_SPACE = re.compile(r"\s+")


class _Text(NamedTuple):
    """One text of a node, and where it stands."""

    path: str
    text: str


def search(
    tx: StoreReader,
    agent_id: str,
    terms: Sequence[str],
    kinds: frozenset[str] | None,
    before: int | None,
    limit: int,
) -> list[Found]:
    """The newest nodes in whose texts every term occurs.

    Args:
        tx: the unit of work.
        agent_id: the agent.
        terms: folded.
        kinds: only nodes of these kinds; None for all.
        before: only nodes of sequences below this one; None for all.
        limit: the most nodes.
    """
    agent = agent_there(tx, agent_id)
    may_match = _narrowing(terms)
    found: list[Found] = []
    for record in tx.texts(agent.history, before, kinds):
        if may_match(record):
            texts = list(_texts(record))
            folded = [fold(text.text) for text in texts]
            if all(any(term in text for text in folded) for term in terms):
                found.append(_found(record, texts, folded, terms))
                if len(found) == limit:
                    break
    return found


def terms_of(text: str) -> list[str]:
    """The terms of what was asked, folded.

    Raises:
        InvalidRequestError: there is none.
    """
    terms = list(dict.fromkeys(fold(term) for term in join_halves(text).split()))
    if not terms:
        raise InvalidRequestError("a search needs at least one word")
    return terms


def fold(text: str) -> str:
    """A text without its case, composed: two texts that differ in nothing else are folded the same.

    >>> fold("Straße"), fold("STRASSE"), fold("É") == fold("e\u0301")
    ('strasse', 'strasse', True)
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def marks_in(text: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Where the terms stand in a short text, as pairs of a first character and the one behind the last."""
    folded, places = _folded_with_places(text)
    marks = [
        (places[match.start()], places[match.end()])
        for term in terms
        for match in re.finditer(re.escape(term), folded)
    ]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(marks):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _narrowing(terms: Sequence[str]) -> Callable[[TextRecord], bool]:
    """A quick look at a node's JSON text that may let through what does not match, and loses nothing.

    A payload's text holds its strings as they are but for escapes, and escapes fold as themselves. A term
    that begins with a mark can't be looked for there: the mark may have joined the letter of an escape.
    """
    looked_for = [(term, fold(dumps(term)[1:-1])) for term in terms if not unicodedata.combining(term[0])]

    def may_match(record: TextRecord) -> bool:
        payload, key = fold(record.payload), fold(record.resource_key or "")
        return all(escaped in payload or term in key for term, escaped in looked_for)

    return may_match


def _texts(record: TextRecord) -> Iterator[_Text]:
    yield from _strings(parse(record.payload), "$.payload")
    if record.resource_key is not None:
        yield _Text("$.resourceKey", record.resource_key)


def _strings(value: Any, path: str) -> Iterator[_Text]:
    """The strings of a JSON value; names of members are no texts."""
    if isinstance(value, str):
        yield _Text(path, value)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _strings(item, member_path(path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, f"{path}[{index}]")


def _found(record: TextRecord, texts: Sequence[_Text], folded: Sequence[str], terms: Sequence[str]) -> Found:
    held = [sum(term in text for term in terms) for text in folded]
    best = held.index(max(held))
    first = next(term for term in terms if term in folded[best])
    snippet = _snippet(texts[best].text, first)
    return Found(
        id=record.id,
        sequence=record.sequence,
        kind=NodeKind(record.kind),
        turn=record.turn,
        created_at=record.created_at,
        resource_key=record.resource_key,
        path=texts[best].path,
        snippet=snippet,
        marks=marks_in(snippet, terms),
    )


def _snippet(text: str, term: str) -> str:
    """The part of a text around a term, on one line."""
    start = max(0, _place(text, term) - _LEAD)
    cut = text[start : start + _SNIPPET_CHARACTERS]
    before, after = ("…" if start else ""), ("…" if start + len(cut) < len(text) else "")
    return before + _SPACE.sub(" ", cut).strip() + after


def _place(text: str, term: str) -> int:
    """Where a term stands in a text; the beginning where marks of two pieces hide it."""
    overlap = 4 * len(term)  # folding makes a text at most three times as long, and composing shorter again
    for start in range(0, len(text), _PIECE):
        piece = text[start : start + _PIECE + overlap]
        if term in fold(piece):
            folded, places = _folded_with_places(piece)
            found = folded.find(term)
            return start + (places[found] if found >= 0 else 0)
    return 0


def _folded_with_places(text: str) -> tuple[str, list[int]]:
    """A text folded, and for each of its characters, and the end, where it comes from."""
    if text.isascii():
        return text.lower(), list(range(len(text) + 1))
    folded: list[str] = []
    places: list[int] = []
    start = 0
    while start < len(text):
        end = start + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        piece = fold(text[start:end])
        folded.append(piece)
        places += [start] * len(piece)
        start = end
    return "".join(folded), [*places, len(text)]
