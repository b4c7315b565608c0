"""Commands that bring histories in, give them out, and judge files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any

import typer

from stateweave_graph.cli import files
from stateweave_graph.cli.exits import WRONG_DATA
from stateweave_graph.cli.options import AgentId, Database, Json, opened

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE…", help="Snapshots or session logs; - for standard input.", show_default=False
    ),
]


def import_files(
    names: Files,
    agent: Annotated[
        str | None,
        typer.Option(
            help="The agent to import into, with one file; else each file's name without its ending."
        ),
    ] = None,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Import snapshots and session logs, told apart by their content.

    Onto an agent that is there already, what is new is added. Each file is imported whole or not at all.

    Example: stateweave-graph import support-bot.jsonl
    """
    from stateweave_graph.cli.output import print_json, say, visible

    if agent is not None and len(names) > 1:
        raise typer.BadParameter("names one agent, so give one file with it", param_hint="--agent")
    targets = [(name, agent or files.agent_id_of(name)) for name in names]
    if any(target is None for _, target in targets):
        raise typer.BadParameter("say which agent standard input is", param_hint="--agent")
    done = []
    with opened(db, make=True) as repository:
        for name, target in targets:
            imported = import_one(repository, name, str(target))
            done.append({"file": name, **imported.model_dump()})
            if not as_json:
                say(f"{visible(imported.agent_id)}: {added(imported)}; now at revision {imported.revision}")
    if as_json:
        print_json(done)


def export(
    agent: AgentId,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to; - for standard output.")
    ] = (files.STANDARD),
    revision: Annotated[int | None, typer.Option(help="A revision; the newest if not given.", min=1)] = None,
    db: Database = None,
) -> None:
    """Give a history out as a snapshot, which every StateWeave SDK accepts.

    Example: stateweave-graph export support-bot -o support-bot.json
    """
    from stateweave_graph.cli.progress import Working

    with opened(db) as repository, Working(f"export {agent}"):
        text = repository.load(agent, revision=revision).state.to_json()
    files.write(output, f"{text}\n".encode())


def copy(
    agents: Annotated[
        list[str] | None, typer.Argument(metavar="[AGENT…]", help="The agents; all if none is given.")
    ] = None,
    source: Annotated[str, typer.Option("--from", metavar="URI", help="The store to copy from.")] = "",
    target: Annotated[str, typer.Option("--to", metavar="URI", help="The store to copy to.")] = "",
    as_json: Json = False,
) -> None:
    """Copy whole histories with all their revisions from one store to another.

    What is there already is not written again, so a copy that was interrupted is taken up by saying it
    again. Each agent is read back and compared. User, password and database of a server come from
    NEO4J_FROM_USERNAME, NEO4J_FROM_PASSWORD, NEO4J_FROM_DATABASE and NEO4J_TO_…, else from NEO4J_USERNAME
    and so on.

    Example: stateweave-graph copy --from stateweave.db --to neo4j://localhost:7687 support-bot
    """
    from stateweave_graph.cli.output import print_json, say, visible
    from stateweave_graph.cli.progress import Working
    from stateweave_graph.repository.transfer import copy_agent

    if not source or not target:
        raise typer.BadParameter("say both --from and --to", param_hint="copy")
    done = []
    with opened(source, side="FROM") as one, opened(target, make=True, side="TO") as other:
        for agent in agents or _all_agents(one):
            total = one.head(agent).node_count
            with Working(f"copy {agent}") as working:
                copied = copy_agent(one.store, other.store, agent, partial(_report, working.report, total))
            done.append(copied.model_dump())
            if not as_json:
                what = f"{added(copied)}; at revision {copied.revision}, read back and compared"
                say(f"{visible(agent)}: {what}")
    if as_json:
        print_json(done)


def validate(
    names: Files,
    max_bytes: Annotated[int | None, typer.Option(help="The most bytes.", min=1)] = None,
    max_nodes: Annotated[int | None, typer.Option(help="The most nodes.", min=0)] = None,
    max_depth: Annotated[int | None, typer.Option(help="The deepest nesting.", min=1, max=512)] = None,
    as_json: Json = False,
) -> None:
    """Judge files by the rules of the format, and print a table of violations.

    Example: stateweave-graph validate support-bot.json
    """
    from stateweave_graph.cli.output import line, print_json, print_table, say, visible

    limits = {"max_bytes": max_bytes, "max_nodes": max_nodes, "max_depth": max_depth}
    given = {name: value for name, value in limits.items() if value is not None}
    judged = {name: _violations(name, given) for name in names}
    if as_json:
        print_json(
            [{"file": name, "valid": not found, "violations": found} for name, found in judged.items()]
        )
    else:
        for name, found in judged.items():
            count = len(found)
            say(f"{visible(name)}: " + ("valid" if not found else f"{count} violation{'s' * (count > 1)}"))
            if found:
                rows = [
                    (item["rule"], item["path"], line(item["value"], 30), item["message"]) for item in found
                ]
                print_table(["rule", "path", "value", "message"], rows, fold=["path", "value", "message"])
    if any(judged.values()):
        raise typer.Exit(WRONG_DATA)


def _report(report: Callable[[int, int], None], total: int, done: int) -> None:
    report(done, total)


def _all_agents(repository: Any) -> Iterator[str]:
    after = None
    while page := repository.agents(after=after):
        yield from (agent.agent_id for agent in page)
        after = page[-1].agent_id


def import_one(repository: Any, name: str, target: str) -> Any:
    """Import one file, whichever of the two kinds it is."""
    from stateweave_graph.cli.progress import Working
    from stateweave_graph.model import AgentState
    from stateweave_graph.sessionlog import is_session_log, read_session_log

    with Working(f"import {name}") as working:
        data = files.read(name)
        if is_session_log(data):
            log = read_session_log(data)
            return repository.import_session_log(target, log, progress=working.report)
        state = AgentState.from_json(data)
        return repository.import_state(target, state, progress=working.report)


def added(imported: Any) -> str:
    """What an import added, in words."""
    counts = {
        "commit": imported.commits,
        "node": imported.nodes,
        "failed run": imported.failures,
    }
    said = [f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts.items() if count]
    return f"{', '.join(said)} added" if said else "nothing new"


def _violations(name: str, limits: dict[str, int]) -> list[dict[str, Any]]:
    """The violations of a snapshot; those of a session log have its line as their path."""
    from stateweave_graph.errors import LimitExceededError, SessionLogError
    from stateweave_graph.sessionlog import is_session_log, read_session_log
    from stateweave_graph.validation import validate as violations_of

    data = files.read(name)
    if not is_session_log(data):
        return [violation._asdict() for violation in violations_of(data, **limits)]
    try:
        read_session_log(data, **limits)
    except SessionLogError as error:
        if error.violations:
            return [
                {**violation._asdict(), "path": f"line {error.line}, {violation.path}"}
                for violation in error.violations
            ]
        return [{"rule": error.rule, "path": f"line {error.line}", "message": error.reason, "value": ""}]
    except LimitExceededError as error:
        return [violation._asdict() for violation in error.violations]
    return []
