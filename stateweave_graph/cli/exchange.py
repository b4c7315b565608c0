"""Commands that bring histories in, give them out, and judge files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stateweave_graph.cli import files
from stateweave_graph.cli.arguments import AgentId
from stateweave_graph.cli.exits import WRONG_DATA
from stateweave_graph.cli.options import Database, Json, opened
from stateweave_graph.formats import ExportFormat

if TYPE_CHECKING:
    from stateweave_graph.model import AgentState
    from stateweave_graph.repository.repository import Repository
    from stateweave_graph.results import Imported

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE…",
        help="Snapshots, exported histories or session logs; - for standard input.",
        show_default=False,
    ),
]


def import_files(
    names: Files,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT",
            help="The agent to import into, with one file; else each file's name without its ending.",
        ),
    ] = None,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Import snapshots, exported histories and session logs.

    The three are told apart by their content. Onto an agent that is there already, what is new is added.
    Each file is imported whole or not at all; at the first one that is refused, the command ends, and
    those before it stay.

    Example: stateweave-graph import support-bot.jsonl
    """
    from stateweave_graph.cli.output import print_json, say, visible

    if agent is not None and len(names) > 1:
        raise typer.BadParameter("names one agent, so give one file with it", param_hint="--agent")
    targets = [(name, files.agent_id_of(name) if agent is None else agent) for name in names]
    if any(target is None for _, target in targets):
        raise typer.BadParameter("say which agent standard input is", param_hint="--agent")
    done = []
    with opened(db, make=True) as repository:
        try:
            for name, target in targets:
                imported = import_one(repository, name, str(target))
                done.append({"file": name, **imported.model_dump()})
                if not as_json:
                    at = f"now at revision {imported.revision}"
                    say(f"{visible(imported.agent_id)}: {added(imported)}; {at}")
        finally:
            if as_json:
                print_json(done)


def export(
    agent: AgentId,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to; - for standard output.")
    ] = files.STANDARD,
    form: Annotated[
        ExportFormat | None,
        typer.Option("--format", help="What to write; without it, what the file's ending says, else json."),
    ] = None,
    revision: Annotated[
        int | None, typer.Option(metavar="N", help="The last revision; the newest if not given.", min=1)
    ] = None,
    db: Database = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="With -o, print what was written as JSON; errors as JSON.")
    ] = False,
) -> None:
    """Give a history out.

    json is a snapshot, which every StateWeave SDK accepts; jsonl has all revisions, a commit a line, and is
    what import makes them again of; session-log is the log of the SDK's own file store, named as the SDK
    wants it where FILE is a folder; graphml is for graph tools; parquet makes FILE a folder with a table of
    nodes and one of edges. A file is written whole or not at all.

    Example: stateweave-graph export support-bot -o support-bot.json
    """
    from stateweave_graph.cli.output import print_json
    from stateweave_graph.cli.progress import Working

    to_standard = output == files.STANDARD
    asked = None if form is None else form.value
    chosen = (form or ExportFormat.JSON) if to_standard else ExportFormat.for_file(asked, output)
    if to_standard and chosen is ExportFormat.PARQUET:
        raise typer.BadParameter("parquet is two files; say the folder for them", param_hint="-o")
    with opened(db) as repository, Working(f"export {agent}"), tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "export") if to_standard else Path(output)
        exported = repository.export(agent, target, format=chosen.value, revision=revision)
        if to_standard:
            files.copy_out(target)
    if as_json and not to_standard:
        size = sum(Path(name).stat().st_size for name in exported.files)
        print_json({"file": output, **exported.model_dump(exclude={"history"}), "bytes": size})


def copy(
    agents: Annotated[
        list[str] | None, typer.Argument(metavar="[AGENT…]", help="The agents; all if none is given.")
    ] = None,
    source: Annotated[str, typer.Option("--from", metavar="URI", help="The store to copy from.")] = "",
    target: Annotated[str, typer.Option("--to", metavar="URI", help="The store to copy to.")] = "",
    as_json: Json = False,
) -> None:
    """Copy whole histories from one store to another.

    All their revisions and failed runs come along. What is there already is not written again, so a copy
    that was interrupted is taken up by saying it again. Each agent is read back and compared. User,
    password and database of a server come from NEO4J_FROM_USERNAME, NEO4J_FROM_PASSWORD,
    NEO4J_FROM_DATABASE and NEO4J_TO_…, else from NEO4J_USERNAME and so on.

    Example: stateweave-graph copy --from stateweave.db --to neo4j://localhost:7687 support-bot
    """
    from stateweave_graph.cli.output import print_json, say, visible
    from stateweave_graph.cli.progress import Working
    from stateweave_graph.repository.transfer import copy_agent

    if not source or not target:
        raise typer.BadParameter("say both --from and --to", param_hint="copy")
    done = []
    with opened(source, side="FROM") as one, opened(target, make=True, side="TO") as other:
        try:
            for agent in agents or _all_agents(one):
                total = one.head(agent).node_count
                with Working(f"copy {agent}") as working:
                    report = partial(_report, working.report, total)
                    copied = copy_agent(one.store, other.store, agent, report)
                done.append(copied.model_dump())
                if not as_json:
                    what = f"{added(copied)}; at revision {copied.revision}, read back and compared"
                    say(f"{visible(agent)}: {what}")
        finally:
            if as_json:
                print_json(done)


def validate(
    names: Files,
    max_bytes: Annotated[int | None, typer.Option(metavar="N", help="The most bytes.", min=1)] = None,
    max_nodes: Annotated[int | None, typer.Option(metavar="N", help="The most nodes.", min=0)] = None,
    max_depth: Annotated[
        int | None, typer.Option(metavar="N", help="The deepest nesting.", min=1, max=512)
    ] = None,
    as_json: Json = False,
) -> None:
    """Judge files by the rules of the format.

    A table shows each rule that is broken, with its place and the value there. Snapshots, exported
    histories and session logs are told apart by their content.

    Example: stateweave-graph validate support-bot.json
    """
    from stateweave_graph.cli.output import counted, line, print_json, print_table, say, visible
    from stateweave_graph.cli.progress import Working

    limits = {"max_bytes": max_bytes, "max_nodes": max_nodes, "max_depth": max_depth}
    given = {name: value for name, value in limits.items() if value is not None}
    judged = []
    for name in names:
        with Working(f"validate {name}"):
            found = _violations(name, given)
        judged.append({"file": name, "valid": not found, "violations": found})
        if as_json:
            continue
        say(f"{visible(name)}: {counted(len(found), 'violation') if found else 'valid'}")
        if found:
            rows = [(item["rule"], item["path"], line(item["value"], 30), item["message"]) for item in found]
            print_table(["rule", "path", "value", "message"], rows, fold=["path", "value", "message"])
    if as_json:
        print_json(judged)
    if not all(verdict["valid"] for verdict in judged):
        raise typer.Exit(WRONG_DATA)


def import_one(repository: Repository, name: str, target: str) -> Imported:
    """Import one file, whichever of the three kinds it is."""
    from stateweave_graph.cli.progress import Working
    from stateweave_graph.repository.historyfile import is_history_file
    from stateweave_graph.sessionlog import is_session_log, read_session_log

    with Working(f"import {name}") as working:
        if name != files.STANDARD and is_history_file(files.read_head(name)):
            return repository.import_history(target, name, progress=working.report)
        data = files.read_history(name)
        if is_history_file(data):
            return repository.import_history(target, data, progress=working.report)
        if is_session_log(data):
            log = read_session_log(data)
            return repository.import_session_log(target, log, progress=working.report)
        state = _state(name, data)
        return repository.import_state(target, state, progress=working.report)


def _state(name: str, data: bytes) -> AgentState:
    from stateweave_graph.errors import InvalidStateError
    from stateweave_graph.model import AgentState

    try:
        return AgentState.from_json(data)
    except InvalidStateError as error:
        shown = "standard input" if name == files.STANDARD else f"the file {name!r}"
        not_json = any(violation.rule == "json" for violation in error.violations)
        hint = f" To import, {files.ACCEPTED}." if not_json else ""
        raise type(error)(error.violations, shown, hint) from None


def added(imported: Imported) -> str:
    """What an import added, in words."""
    from stateweave_graph.cli.output import counted

    counts = {"commit": imported.commits, "node": imported.nodes, "failed run": imported.failures}
    said = [counted(count, name) for name, count in counts.items() if count]
    return f"{', '.join(said)} added" if said else "nothing new"


def _violations(name: str, limits: dict[str, int]) -> list[dict[str, Any]]:
    """The violations of a snapshot; those of files of lines have their line in their path."""
    from stateweave_graph.errors import HistoryFileError, LimitExceededError, SessionLogError
    from stateweave_graph.repository.historyfile import is_history_file, judge_history_file
    from stateweave_graph.sessionlog import is_session_log, read_session_log
    from stateweave_graph.validation import validate as violations_of

    data = files.read_history(name)
    if not is_session_log(data) and not is_history_file(data):
        return [violation._asdict() for violation in violations_of(data, **limits)]
    try:
        if is_history_file(data):
            judge_history_file(data, **limits)
        else:
            read_session_log(data, **limits)
    except (HistoryFileError, SessionLogError) as error:
        where = f"line {error.line}" if error.line else "the file"
        if error.violations:
            return [
                {**violation._asdict(), "path": f"{where}, {violation.path}"}
                for violation in error.violations
            ]
        rule = error.rule if isinstance(error, SessionLogError) else "history"
        return [{"rule": rule, "path": where, "message": error.reason, "value": ""}]
    except LimitExceededError as error:
        return [violation._asdict() for violation in error.violations]
    return []


def _report(report: Callable[[int, int], None], total: int, done: int) -> None:
    report(done, total)


def _all_agents(repository: Repository) -> Iterator[str]:
    after = None
    while page := repository.agents(after=after):
        yield from (agent.agent_id for agent in page)
        after = page[-1].agent_id
