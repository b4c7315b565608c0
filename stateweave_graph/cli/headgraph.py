"""A graph of heads, as git draws one of branches: which commits each commit went on from.

A commit goes on from those that made the heads which it took off the frontier. Each lane leads down to the
commit that made the heads it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stateweave_graph.results import LogEntry

_OLDER = 0
"""Stands for all commits before those that are shown."""


class Marks(NamedTuple):
    """The characters of a graph."""

    commit: str
    lane: str
    across: str
    split: str
    merge: str
    turn: str
    fork: str
    bend: str


BOXES = Marks(commit="●", lane="│", across="─", split="├", merge="╯", turn="╮", fork="┬", bend="┴")
PLAIN = Marks(commit="*", lane="|", across="-", split="|", merge="'", turn=".", fork=".", bend="'")


class Drawn(NamedTuple):
    """What stands to the left of a commit.

    Attributes:
        before: beside lines between the commit above and this one.
        above: lines of their own, where lanes come together in it.
        own: beside the first line of the commit.
        below: beside lines after that one, where lanes lead away from it.
        after: beside further lines.
    """

    before: str
    above: list[str]
    own: str
    below: list[str]
    after: str


def head_graph(entries: Sequence[LogEntry], before: Sequence[str], marks: Marks = BOXES) -> dict[int, Drawn]:
    """The graph of commits that follow each other, by revision.

    Args:
        entries: the commits, newest first.
        before: the frontier before the oldest of them.
        marks: the characters to draw with.
    """
    lanes = _Lanes(entries, before, marks)
    return {entry.revision: lanes.draw(entry.revision) for entry in entries}


class _Lanes:
    """The lanes between two commits; taken newest first."""

    def __init__(self, entries: Sequence[LogEntry], before: Sequence[str], marks: Marks) -> None:
        self._marks = marks
        self._makers: dict[str, int] = dict.fromkeys(before, _OLDER)
        self._parents: dict[int, list[int]] = {}
        frontier = list(before)
        for entry in reversed(entries):
            left = [head for head in frontier if head not in entry.frontier]
            self._parents[entry.revision] = self._makers_of(left)
            for head in entry.frontier:
                if head not in frontier:
                    self._makers[head] = entry.revision
            frontier = list(entry.frontier)
        self._lanes: list[int | None] = list(self._makers_of(frontier))

    def draw(self, revision: int) -> Drawn:
        """The next commit."""
        before = self._drawn({})
        own = [place for place, lane in enumerate(self._lanes) if lane == revision]
        if not own:  # nothing that it made is a head of a later commit
            own = [self._free_lane(behind=-1)]
        first, *others = own
        above = [self._joined(first, others, self._marks.bend, self._marks.merge)] if others else []
        for place in others:
            self._lanes[place] = None
        line = self._drawn({first: self._marks.commit})
        parents = self._parents[revision]
        self._lanes[first] = parents[0] if parents else None
        new = []
        for parent in parents[1:]:
            new.append(self._free_lane(behind=first))
            self._lanes[new[-1]] = parent
        below = [self._joined(first, new, self._marks.fork, self._marks.turn)] if new else []
        while self._lanes and self._lanes[-1] is None:
            self._lanes.pop()
        return Drawn(before, above, line, below, self._drawn({}))

    def _makers_of(self, heads: Sequence[str]) -> list[int]:
        """The commits that made these heads, newest first."""
        return sorted({self._makers[head] for head in heads}, reverse=True)

    def _free_lane(self, behind: int) -> int:
        for place, lane in enumerate(self._lanes):
            if place > behind and lane is None:
                return place
        self._lanes.append(None)
        return len(self._lanes) - 1

    def _drawn(self, marks: dict[int, str]) -> str:
        return " ".join(
            marks.get(place, " " if lane is None else self._marks.lane)
            for place, lane in enumerate(self._lanes)
        ).rstrip()

    def _joined(self, first: int, others: Sequence[int], middle: str, end: str) -> str:
        """The line that leads from one lane to others, which stand to its right."""
        cells = []
        for place, lane in enumerate(self._lanes):
            inside = first < place < others[-1]
            if place == first:
                mark = self._marks.split
            elif place in others:
                mark = end if place == others[-1] else middle
            elif lane is None:
                mark = self._marks.across if inside else " "
            else:
                mark = self._marks.lane
            cells.append(mark + (self._marks.across if first <= place < others[-1] else " "))
        return "".join(cells).rstrip()
