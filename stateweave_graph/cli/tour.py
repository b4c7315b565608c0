"""The command ``demo``: the main job, shown on the histories that come with the package."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stateweave_graph.cli.options import Json

if TYPE_CHECKING:
    from stateweave_graph.repository.repository import Repository
    from stateweave_graph.repository.turn import Turn

DEMO_DATABASE = "./stateweave-demo.db"
_AGENT = "support-bot"


def demo(
    db: Annotated[
        str,
        typer.Option("--db", metavar="FILE", help="The file to keep it in; its demo agents are made anew."),
    ] = DEMO_DATABASE,
    as_json: Json = False,
) -> None:
    """Store, commit to, query and draw the histories that come with the package.

    Example: stateweave-graph demo
    """
    from stateweave_graph.cli.output import print_json
    from stateweave_graph.repository.opening import open_repository

    with open_repository(db) as repository:
        imported = _import_examples(repository, quiet=as_json)
        turn = _commit(repository)
        if as_json:
            answer = turn.commit.ids[-1] if turn.commit else None
            print_json({"db": db, "imported": imported, "agent": _AGENT, "answer": answer})
            return
        _show(repository, turn)
    _what_next(db)


def _import_examples(repository: Repository, *, quiet: bool) -> list[dict[str, Any]]:
    from stateweave_graph.cli.exchange import added, import_one
    from stateweave_graph.cli.output import say
    from stateweave_graph.errors import NotFoundError
    from stateweave_graph.shipped import example_files

    done = []
    for path in example_files():
        with suppress(NotFoundError):
            repository.delete(path.stem)
        imported = import_one(repository, str(path), path.stem)
        done.append(imported.model_dump())
        if not quiet:
            say(f"imported {path.name}: {added(imported)}")
    return done


def _commit(repository: Repository) -> Turn:
    with repository.turn(_AGENT, metadata={"input": "demo"}) as turn:
        turn.goal("My parcel is late. Can you tell me where it is?")
        call = turn.tool_call("track_parcel", {"parcel": "PX-20817"})
        turn.tool_result(call, {"status": "in transit", "expected": "2026-12-03"})
        turn.answer("It is on its way and should be with you on 3 December.")
        turn.remember("memory", "open-parcel", "PX-20817, expected 2026-12-03")
    return turn


def _show(repository: Repository, turn: Turn) -> None:
    from stateweave_graph.cli.look import print_log, print_memory, print_nodes
    from stateweave_graph.cli.output import say
    from stateweave_graph.mermaid import mermaid
    from stateweave_graph.model import AgentState
    from stateweave_graph.validation import validate

    commit = turn.commit
    if commit is None:
        raise AssertionError("the turn appended nodes, so it made a commit")
    say(f"\ncommitted a turn to {_AGENT}: revision {commit.revision}, {len(commit.added)} nodes")
    text = repository.load(_AGENT).state.to_json()
    if validate(text) or AgentState.from_json(text).to_json() != text:
        raise AssertionError("what comes out must be valid, and the same to the letter")
    say(f"loaded it back: {len(text.encode())} bytes of JSON, every rule of the format holds")
    say(f"\nThe log of {_AGENT}:")
    print_log(repository.log(_AGENT, limit=5))
    answer = next(node for node in repository.load(_AGENT).state.nodes[::-1] if node.kind == "answer")
    causes = repository.lineage(_AGENT, answer.id)
    say(f"\nWhat the answer rested on ({len(causes)} nodes, the newest of them):")
    print_nodes(causes.nodes()[-6:])
    say(f"\nWhat {_AGENT} remembers:")
    print_memory(repository, _AGENT)
    say("\nThe turn as a Mermaid flowchart:\n")
    added = [repository.node(_AGENT, node_id) for node_id in commit.added]
    typer.echo(mermaid(added, commit.frontier))


def _what_next(db: str) -> None:
    from stateweave_graph.cli.output import say, visible

    command, option = _this_command(), f"--db {shlex.quote(db)}"
    say(f"It is all in {visible(str(Path(db).resolve()))}. Next, type:\n")
    say(f"  {command} agents {option}")
    say(f"  {command} log coding-agent {option}")
    say(f"  {command} memory research-agent {option}")
    say(f"  {command} export {_AGENT} -o {_AGENT}.json {option}")


def _this_command() -> str:
    """What to type to run this command here."""
    if shutil.which("stateweave-graph"):
        return "stateweave-graph"
    program = Path(sys.argv[0])
    return shlex.quote(os.path.relpath(program)) if program.name == "stateweave-graph" else "stateweave-graph"
