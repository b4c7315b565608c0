"""The command ``demo``: the main job, shown on the histories that come with the package."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from stateweave_graph.cli.options import Json

if TYPE_CHECKING:
    from stateweave_graph.model import AgentState, CausalNode
    from stateweave_graph.repository.repository import Repository
    from stateweave_graph.results import Commit

DEMO_DATABASE = "./stateweave-demo.db"
_AGENT = "support-bot"
_SHOWN = 6


class _Turn(NamedTuple):
    """The turn that the demo commits.

    Attributes:
        commit: what the commit did.
        nodes: its nodes, in order.
        answer: the answer among them.
        state: the state as it was loaded back.
    """

    commit: Commit
    nodes: list[CausalNode]
    answer: CausalNode
    state: AgentState


def demo(
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            "--db",
            metavar="FILE",
            help="The file to keep it in. One that is there grows: a turn is added at each run.",
        ),
    ] = DEMO_DATABASE,
    as_json: Json = False,
) -> None:
    """Try it on the histories that come along.

    They are imported, a turn is committed to one of them, loaded back and compared, and log, lineage,
    memory and a picture are shown. Nothing is ever deleted.

    Example: stateweave-graph demo --keep demo.db
    """
    from stateweave_graph.cli.output import print_json
    from stateweave_graph.repository.opening import open_repository

    with open_repository(keep) as repository:
        imported = _import_examples(repository, quiet=as_json)
        turn = _commit(repository)
        if as_json:
            done = {"agent": _AGENT, "revision": turn.commit.revision, "answer": turn.answer.id}
            print_json({"db": keep, "imported": imported, **done})
            return
        _show(repository, turn)
        _what_next(repository.name, turn)


def _import_examples(repository: Repository, *, quiet: bool) -> list[dict[str, Any]]:
    from stateweave_graph.cli.exchange import added, import_one
    from stateweave_graph.cli.output import say
    from stateweave_graph.errors import DivergedError, InvalidRequestError
    from stateweave_graph.shipped import example_files

    done = []
    for path in example_files():
        try:
            imported = import_one(repository, str(path), path.stem)
        except DivergedError as error:
            raise InvalidRequestError(
                f"{repository.name} has an agent {path.stem!r} that is not the demo's, or that has gone on "
                "since; it was left as it is. Give the demo another file with --keep"
            ) from error
        done.append(imported.model_dump())
        if not quiet:
            say(f"imported {path.name}: {added(imported)}")
    return done


def _commit(repository: Repository) -> _Turn:
    """Commit a turn and load it back: it must be what was there and what the turn appended, to the letter."""
    from stateweave_graph.errors import StoreError
    from stateweave_graph.model import AgentState

    before = repository.load(_AGENT).state
    with repository.turn(_AGENT, metadata={"input": "My parcel is late. Where is it?"}) as turn:
        goal = turn.goal("My parcel is late. Where is it?")
        call = turn.tool_call("track_parcel", {"parcel": "PX-20817"})
        result = turn.tool_result(call, {"status": "in transit", "expected": "2026-12-03"})
        answer = turn.answer("It is on its way and should be with you on 3 December.")
        memory = turn.remember("memory", "open-parcel", "PX-20817, expected 2026-12-03")
    commit, nodes = turn.commit, [goal, call, result, answer, memory]
    assert commit is not None, "a turn that appends to a frontier makes a commit"
    after = repository.load(_AGENT).state
    expected = AgentState(version=1, nodes=[*before.nodes, *nodes], frontier=commit.frontier)
    if after.to_json() != expected.to_json():
        raise StoreError(f"{repository.name}: what was loaded back is not what was committed")
    return _Turn(commit, nodes, answer, after)


def _show(repository: Repository, turn: _Turn) -> None:
    from stateweave_graph.cli.files import print_out
    from stateweave_graph.cli.history import print_log, print_nodes
    from stateweave_graph.cli.look import print_memory
    from stateweave_graph.cli.output import say
    from stateweave_graph.mermaid import mermaid

    say(f"\ncommitted a turn to {_AGENT}: revision {turn.commit.revision}, {len(turn.nodes)} nodes")
    size = len(turn.state.to_json().encode())
    say(f"loaded it back: {len(turn.state.nodes)} nodes, {size} bytes of JSON, the same to the letter")
    say(f"\nThe log of {_AGENT}:\n")
    print_log(repository.log(_AGENT, limit=_SHOWN))
    causes = repository.lineage(_AGENT, turn.answer.id)
    say(f"\nWhat the answer rests on ({len(causes)} nodes, the newest of them):\n")
    print_nodes(causes.nodes()[-_SHOWN:])
    say(f"\nWhat {_AGENT} remembers:\n")
    print_memory(repository.memory(_AGENT))
    say("\nThe turn as a Mermaid flowchart:\n")
    print_out(mermaid(turn.nodes, turn.commit.frontier))


def _what_next(db: str, turn: _Turn) -> None:
    from stateweave_graph.cli.output import say, visible

    say(f"\nIt is all in {visible(str(Path(db).resolve()))}. Next, type:\n")
    for arguments in (
        ["agents"],
        ["log", "coding-agent"],
        ["memory", "research-agent"],
        ["lineage", _AGENT, turn.answer.id],
        ["view", _AGENT, "-o", f"{_AGENT}.html"],
        ["export", _AGENT, "-o", f"{_AGENT}.json"],
    ):
        say(f"  {_this_command()} {shlex.join([*arguments, '--db', db])}")


def _this_command() -> str:
    """What to type to run this command here."""
    if shutil.which("stateweave-graph"):
        return "stateweave-graph"
    program = Path(sys.argv[0])
    if program.name == "stateweave-graph":
        return shlex.quote(os.path.relpath(program))
    return f"{shlex.quote(sys.executable)} -m stateweave_graph"
