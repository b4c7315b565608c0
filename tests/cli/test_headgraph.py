"""The graph of heads: each commit stands on a lane, and lanes lead to the commits that were gone on from."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from stateweave_graph.cli.headgraph import BOXES, PLAIN, Drawn, head_graph
from stateweave_graph.results import LogEntry


def entries(*frontiers: list[str]) -> list[LogEntry]:
    """Commits of these frontiers, oldest first; given back newest first."""
    made = [
        LogEntry(
            revision=revision,
            commit_id=str(revision),
            committed_at="",
            first_sequence=1,
            last_sequence=1,
            frontier=frontier,
            digest="",
            hash="",
            kinds={},
        )
        for revision, frontier in enumerate(frontiers, start=1)
    ]
    return made[::-1]


def picture(commits: list[LogEntry], before: list[str] | None = None, marks=BOXES) -> list[str]:
    lines: list[str] = []
    for entry in commits:
        found = head_graph(commits, before or [], marks)[entry.revision]
        lines += [*found.above, f"{found.own} {entry.revision}", *found.below]
    return lines


def test_one_head_is_one_line():
    assert picture(entries(["a"], ["b"], ["c"])) == ["● 3", "● 2", "● 1"]


def test_branches_that_are_gone_on_from_together():
    commits = entries(["a"], ["b"], ["b", "c"], ["b", "d"], ["e"])
    assert picture(commits) == ["● 5", "├─╮", "● │ 4", "● │ 3", "  ● 2", "  ● 1"]
    assert picture(commits, marks=PLAIN) == ["* 5", "|-.", "* | 4", "* | 3", "  * 2", "  * 1"]


def test_heads_of_one_commit_that_part():
    """Revision 2 makes two heads; 3 goes on from one of them, and 4 from the other."""
    assert picture(entries(["r"], ["a", "b"], ["b", "c"], ["c", "d"])) == [
        "● │ 4",
        "│ ● 3",
        "├─╯",
        "● 2",
        "● 1",
    ]


def test_three_at_once():
    merged = entries(["a"], ["a", "b"], ["a", "b", "c"], ["m"])
    assert picture(merged) == ["● 4", "├─┬─╮", "● │ │ 3", "  ● │ 2", "    ● 1"]
    parted = entries(["a", "b", "c"], ["b", "c", "d"], ["c", "d", "e"], ["d", "e", "f"])
    assert picture(parted) == ["● │ │ 4", "│ ● │ 3", "│ │ ● 2", "├─┴─╯", "● 1"]


def test_a_commit_without_heads_of_its_own():
    """One that only takes a head away, and one whose head nobody kept."""
    assert picture(entries(["a"], ["a", "b"], ["b"])) == ["│ ● 3", "● │ 2", "  ● 1"]


def test_what_is_older_than_what_is_shown_is_one_lane():
    assert picture(entries(["x", "y"], ["z"])[:1], ["x", "y"]) == ["● 2"]
    assert picture(entries(["a"], ["a", "b"], ["c"])[:2], ["a"]) == ["● 3", "├─╮", "● │ 2"]


@settings(max_examples=200)
@given(st.data())
def test_every_commit_is_drawn_once_and_on_the_lanes_that_lead_to_it(data):
    """Random histories: the frontier changes anyhow."""
    frontiers: list[list[str]] = []
    alive: list[str] = []
    for number in range(data.draw(st.integers(1, 12))):
        kept = [head for head in alive if data.draw(st.booleans())]
        alive = [*kept, *(f"{number}-{new}" for new in range(data.draw(st.integers(0, 2))))]
        frontiers.append(list(alive))
    commits = entries(*frontiers)
    drawn = head_graph(commits, [], BOXES)
    assert list(drawn) == [entry.revision for entry in commits]
    above: Drawn | None = None
    for found in drawn.values():
        assert found.own.count("●") == 1
        column = found.own.index("●")
        assert column % 2 == 0
        if above is not None:
            assert found.before == above.after
        assert len(found.above) <= 1
        assert len(found.below) <= 1
        for line in found.below:
            assert line[column] == "├"
            assert "╮" in line[column:]
        for line in found.above:
            assert line[column] == "├"
            assert "╯" in line[column:]
        others = [place for place, mark in enumerate(found.own) if mark == "│"]
        assert all(found.after[place] == "│" for place in others)
        above = found
    assert above is not None
    assert above.after == "", "before the first commit there is nothing"
