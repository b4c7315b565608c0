"""The commands ``log`` and ``show``."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from stateweave_graph.cli.arguments import AgentId, NoPager
from stateweave_graph.cli.options import Database, Json, opened

if TYPE_CHECKING:
    from rich.text import Text

    from stateweave_graph.model import CausalNode
    from stateweave_graph.repository.repository import Repository
    from stateweave_graph.results import FailedRun, LogEntry

    Entry = LogEntry | FailedRun

_SHOWN = 100
_FOLLOWED = 10
_REVISION, _TIME, _DATE, _COUNT = 10, 21, 12, 7
"""The widths of columns, with the two spaces behind each."""
_NARROWEST = 20
_PIPED = 60
"""How much of a text is shown where no terminal says how wide it is."""


def log(
    agent: AgentId,
    graph: Annotated[
        bool, typer.Option("--graph", help="Draw which commits each went on from, by their heads.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="All that is known of each commit.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Show the last ones, and go on as more are made.")
    ] = False,
    before: Annotated[
        int | None, typer.Option(metavar="N", help="Only revisions below this one.", min=1)
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", "-n", metavar="N", help="The most commits; 100, or 10 with -f, if not given.", min=1
        ),
    ] = None,
    interval: Annotated[
        float, typer.Option(metavar="SECONDS", help="With -f: how often to look.", min=0.05)
    ] = 1.0,
    no_pager: NoPager = False,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Show an agent's commits, newest first.

    Failed runs stand where they happened. On a terminal, what is longer than the screen goes through
    $STATEWEAVE_GRAPH_PAGER, $PAGER or less. With -f and --json, each commit is one line of JSON.

    Example: stateweave-graph log support-bot --graph -n 20
    """
    from stateweave_graph.cli.output import hint, print_json
    from stateweave_graph.cli.pager import paged
    from stateweave_graph.results import LogEntry

    if follow and (graph or before):
        raise typer.BadParameter("follows the newest commits, without --graph and --before", param_hint="-f")
    with opened(db) as repository:
        if follow:
            _follow(repository, agent, limit or _FOLLOWED, interval, _shower(full=full, as_json=as_json))
            return
        entries = repository.log(agent, before=before, limit=limit or _SHOWN)
        if as_json:
            print_json([_described(entry) for entry in entries])
            return
        commits = [entry for entry in entries if isinstance(entry, LogEntry)]
        older = commits[-1].revision - 1 if commits else 0
        with paged(wanted=not no_pager):
            if graph:
                _print_graph(entries, _frontier(repository, agent, older), full=full)
            else:
                print_log(entries, full=full)
    if older and len(commits) == (limit or _SHOWN):
        hint(f"there are older ones: --before {commits[-1].revision}")


def show(
    agent: AgentId,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[NODE|REVISION]",
            help="A node's id, or its beginning (cw_ and at least 4 digits), or a revision; else the head.",
        ),
    ] = None,
    no_pager: NoPager = False,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Show where an agent stands, a node, or a commit.

    Of an agent: its revision, counts and frontier. Of a node: all its fields, with the whole payload. Of a
    commit: what is known of it, and the nodes that it added.

    Example: stateweave-graph show support-bot 3
    """
    from stateweave_graph.cli.pager import paged

    with opened(db) as repository:
        if what is not None and what.isascii() and what.isdigit():
            _show_commit(repository, agent, int(what), as_json=as_json, pager=not no_pager)
            return
        found = (
            repository.head(agent).model_dump()
            if what is None
            else repository.node(agent, repository.resolve(agent, what)).to_dict()
        )
    with paged(wanted=not (no_pager or as_json)):
        _print_fields(found, as_json=as_json)


def print_log(entries: Sequence[Entry], *, full: bool = False) -> None:
    """Commits and failed runs, a line each or with all that is known."""
    from stateweave_graph.cli.output import print_text

    if not full:
        print_text(_heading(0))
    for entry in entries:
        for text in _lines(entry, 0, full=full):
            print_text(text)


def print_nodes(nodes: list[CausalNode]) -> None:
    """Nodes as a table, oldest first."""
    from rich.text import Text

    from stateweave_graph.cli.output import kind_style, line, print_table

    rows = [
        (node.sequence, Text(node.kind.value, kind_style(node.kind.value)), node.id, line(node.payload))
        for node in nodes
    ]
    print_table(["sequence", "kind", "node", "payload"], rows, fold=["node", "payload"])


def _print_graph(entries: Sequence[Entry], before: Sequence[str], *, full: bool) -> None:
    from rich.text import Text

    from stateweave_graph.cli.headgraph import BOXES, PLAIN, head_graph
    from stateweave_graph.cli.output import print_text
    from stateweave_graph.results import LogEntry

    boxes = (sys.stdout.encoding or "").lower().startswith("utf")
    commits = [entry for entry in entries if isinstance(entry, LogEntry)]
    drawn = head_graph(commits, before, BOXES if boxes else PLAIN)
    margin = 2 + max(
        (len(text) for found in drawn.values() for text in (found.own, *found.above, *found.below)), default=0
    )

    def beside(mark: str, text: Text | str = "") -> None:
        print_text(Text.assemble((mark.ljust(margin), "cyan"), text))

    if not full:
        beside("", _heading(margin))
    now = drawn[commits[0].revision].before if commits else ""
    for entry in entries:
        lines = list(_lines(entry, margin, full=full))
        if not isinstance(entry, LogEntry):
            for text in lines:
                beside(now, text)
            continue
        found = drawn[entry.revision]
        for mark in found.above:
            beside(mark)
        beside(found.own, lines[0])
        for mark, text in zip_longest(found.below, lines[1:]):
            beside(found.after if mark is None else mark, text or "")
        now = found.after


class _Columns(NamedTuple):
    """The widths of the columns of a line, as far as there is room; 0 for one that is left out."""

    when: int
    nodes: int
    what: int

    @classmethod
    def of(cls, margin: int) -> _Columns:
        """What fits beside a margin of so many characters."""
        from stateweave_graph.cli.output import console

        terminal = console()
        if not terminal.is_terminal:
            return cls(_TIME, _COUNT, _PIPED)
        room = terminal.width - margin - _REVISION
        if room >= _TIME + _COUNT + _NARROWEST:
            return cls(_TIME, _COUNT, room - _TIME - _COUNT)
        return cls(_DATE, 0, max(_DATE, room - _DATE))

    def line(self, number: str, at: str, nodes: str, what: str, styles: Sequence[str]) -> Text:
        """A line of these columns."""
        from rich.text import Text

        cells = [(number, _REVISION), (at, self.when), (nodes, self.nodes)]
        shown = [
            (text[: max(0, width - 2)].ljust(width), style)
            for (text, width), style in zip(cells, styles, strict=False)
        ]
        last = Text(what, styles[-1])
        last.truncate(self.what, overflow="ellipsis")
        return Text.assemble(*shown, last)


def _heading(margin: int) -> Text:
    return _Columns.of(margin).line("revision", "when", "nodes", "what", ["bold"] * 4)


def _lines(entry: Entry, margin: int, *, full: bool) -> Iterator[Text]:
    """The lines of an entry; ``margin`` characters stand before each."""
    from stateweave_graph.cli.output import line, when
    from stateweave_graph.results import LogEntry

    if full:
        yield from _block(entry)
        return
    columns = _Columns.of(margin)
    if isinstance(entry, LogEntry):
        said = (entry.metadata or {}).get("input") or entry.goal or entry.metadata or entry.commit_id
        cells = (str(entry.revision), when(entry.committed_at), f"+{entry.node_count}")
        yield columns.line(*cells, line(said, columns.what), ["yellow", "dim", "green", ""])
    else:
        said = line(f"{entry.input}: {entry.error}", columns.what)
        yield columns.line("failed", when(entry.at), "", said, ["red", "dim", "", ""])


def _block(entry: Entry) -> Iterator[Text]:
    """All that is known of a commit or a failed run."""
    from rich.text import Text

    from stateweave_graph.cli.output import visible
    from stateweave_graph.jsontext import dumps
    from stateweave_graph.results import LogEntry

    fields: dict[str, str] = {}
    if isinstance(entry, LogEntry):
        yield Text.assemble(
            ("commit ", "yellow"), (str(entry.revision), "bold yellow"), f"  {visible(entry.commit_id)}"
        )
        kinds = ", ".join(f"{kind} {count}" for kind, count in entry.kinds.items())
        fields = {
            "when": entry.committed_at,
            "nodes": f"+{entry.node_count}" + (f" ({kinds})" if kinds else ""),
            "heads": ", ".join(entry.frontier) or "none",
            "hash": entry.hash,
            "metadata": "" if entry.metadata is None else dumps(entry.metadata),
            "goal": entry.goal or "",
            "answer": entry.answer or "",
        }
    else:
        yield Text("failed run", "bold red")
        fields = {
            "when": entry.at,
            "run": entry.run_id or "",
            "input": entry.input,
            "error": entry.error,
            "usage": "" if entry.usage is None else dumps(entry.usage),
        }
    for name, value in fields.items():
        if value:
            yield Text.assemble((f"{name}:".ljust(10), "dim"), visible(" ".join(value.split())))
    yield Text()


def _described(entry: Entry) -> dict[str, Any]:
    from stateweave_graph.results import LogEntry

    kind = "commit" if isinstance(entry, LogEntry) else "failed_run"
    return {"type": kind, **entry.model_dump()}


def _frontier(repository: Repository, agent: str, revision: int) -> list[str]:
    """The frontier at a revision; 0 is before the first."""
    from stateweave_graph.results import LogEntry

    if revision == 0:
        return []
    found = repository.log(agent, before=revision + 1, limit=1)
    return next(entry.frontier for entry in found if isinstance(entry, LogEntry))


def _shower(*, full: bool, as_json: bool) -> Callable[[Entry], None]:
    """What shows one entry that was followed."""
    from stateweave_graph.cli.output import json_line, print_text

    def show_text(entry: Entry) -> None:
        for text in _lines(entry, 0, full=full):
            print_text(text)

    def show_json(entry: Entry) -> None:
        json_line(_described(entry))

    return show_json if as_json else show_text


def _follow(
    repository: Repository, agent: str, last: int, interval: float, shown: Callable[[Entry], None]
) -> None:
    """Show the last commits, oldest first, and go on as more are made, until Ctrl-C."""
    from stateweave_graph.errors import NotFoundError
    from stateweave_graph.results import LogEntry

    head = first = repository.head(agent)
    start = seen = max(0, head.revision - last)
    told: Counter[str] = Counter()  # failed runs have no number of their own
    while True:
        found: Counter[str] = Counter()
        for entry in reversed(repository.log(agent, limit=head.revision - seen + 1)):
            if isinstance(entry, LogEntry):
                if entry.revision > seen:
                    shown(entry)
                    seen = entry.revision
                continue
            key = entry.model_dump_json()
            found[key] += 1
            if entry.revision >= start and found[key] > told[key]:
                shown(entry)
                told[key] += 1
        time.sleep(interval)
        head = repository.head(agent)
        if head.history != first.history:
            raise NotFoundError(f"agent {agent!r} was deleted, and made again with another history")


def _show_commit(repository: Repository, agent: str, revision: int, *, as_json: bool, pager: bool) -> None:
    """A commit, and the nodes that it added."""
    from stateweave_graph.cli.output import print_json, print_text
    from stateweave_graph.cli.pager import paged
    from stateweave_graph.errors import NotFoundError
    from stateweave_graph.results import LogEntry

    entries = repository.log(agent, before=revision + 1, limit=1) if revision else []
    commit = next((entry for entry in entries if isinstance(entry, LogEntry)), None)
    if commit is None or commit.revision != revision:
        raise NotFoundError(f"agent {agent!r}: there is no revision {revision}")
    nodes = list(repository.iter_nodes(agent, revision=revision, first=commit.first_sequence))
    if as_json:
        print_json({**_described(commit), "nodes": [node.to_dict() for node in nodes]})
        return
    with paged(wanted=pager):
        for text in _block(commit):
            print_text(text)
        print_nodes(nodes)


def _print_fields(found: dict[str, Any], *, as_json: bool) -> None:
    from rich.text import Text

    from stateweave_graph.cli.output import kind_style, print_json, print_text, visible

    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        style = kind_style(text) if name == "kind" else ""
        first, *others = [visible(part) for part in text.split("\n")]
        print_text(Text.assemble((f"{visible(name)}: ", "dim"), (first, style)))
        for part in others:
            print_text(Text(f"  {part}"))
