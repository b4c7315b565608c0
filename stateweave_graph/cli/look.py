"""Commands that look at what is stored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stateweave_graph.cli.options import AgentId, Database, Json, opened

if TYPE_CHECKING:
    from stateweave_graph.model import CausalNode
    from stateweave_graph.repository.repository import Repository

Limit = Annotated[int, typer.Option(help="The most to show.", min=1)]


def agents(
    after: Annotated[str | None, typer.Option(metavar="AGENT", help="Only agents behind this one.")] = None,
    limit: Limit = 100,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """List agents, in the byte order of their ids.

    Example: stateweave-graph agents --limit 20
    """
    from stateweave_graph.cli.output import print_json, print_table, when

    with opened(db) as repository:
        found = repository.agents(after=after, limit=limit)
    if as_json:
        print_json([agent.model_dump() for agent in found])
        return
    rows = [(agent.agent_id, agent.revision, agent.node_count, when(agent.updated_at)) for agent in found]
    print_table(["agent", "revision", "nodes", "updated"], rows, fold=["agent", "updated"])


def log(
    agent: AgentId,
    before: Annotated[int | None, typer.Option(help="Only revisions below this one.", min=1)] = None,
    limit: Limit = 100,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Show an agent's commits, newest first, with the failed runs where they happened.

    Example: stateweave-graph log support-bot
    """
    from stateweave_graph.cli.output import print_json
    from stateweave_graph.results import LogEntry

    with opened(db) as repository:
        entries = repository.log(agent, before=before, limit=limit)
    if as_json:
        kinds = [("commit" if isinstance(entry, LogEntry) else "failed_run", entry) for entry in entries]
        print_json([{"type": kind, **entry.model_dump()} for kind, entry in kinds])
    else:
        print_log(entries)


def show(
    agent: AgentId,
    node: Annotated[
        str | None, typer.Argument(metavar="[NODE]", help="A node's id; the head if not given.")
    ] = None,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Show where an agent stands, or one of its nodes with its payload.

    Example: stateweave-graph show support-bot
    """
    from stateweave_graph.cli.output import print_json, say, visible

    with opened(db) as repository:
        found = (
            repository.head(agent).model_dump() if node is None else repository.node(agent, node).to_dict()
        )
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        lines = [visible(part) for part in text.split("\n")]
        say(f"{visible(name)}: {lines[0]}")
        for part in lines[1:]:
            say(f"  {part}")


def lineage(
    agent: AgentId,
    node: Annotated[str, typer.Argument(metavar="NODE", help="A node's id.", show_default=False)],
    impact: Annotated[bool, typer.Option("--impact", help="What rests on the node, instead.")] = False,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Show all nodes that a node rests on, directly or not.

    Example: stateweave-graph lineage support-bot cw_0313f0c61dcec62a0d6d5c72
    """
    from stateweave_graph.cli.output import print_json

    with opened(db) as repository:
        found = repository.impact(agent, node) if impact else repository.lineage(agent, node)
        if not as_json:
            print_nodes(found.nodes())
            return
    print_json([ref._asdict() for ref in found])


def memory(
    agent: AgentId,
    type: Annotated[str | None, typer.Option(metavar="TYPE", help="Only memories of this type.")] = None,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Show what an agent remembers.

    Example: stateweave-graph memory support-bot --type preference
    """
    from stateweave_graph.cli.output import print_json

    with opened(db) as repository:
        if as_json:
            print_json(
                [
                    {**found.model_dump(exclude={"node"}), "node": found.node.to_dict()}
                    for found in repository.memory(agent, type=type)
                ]
            )
        else:
            print_memory(repository, agent, type)


def print_log(entries: list[Any]) -> None:
    """Commits and failed runs as a table."""
    from stateweave_graph.cli.output import line, print_table, when
    from stateweave_graph.results import FailedRun

    rows = []
    for entry in entries:
        if isinstance(entry, FailedRun):
            rows.append(("failed", when(entry.at), "", line(f"{entry.input}: {entry.error}")))
        else:
            said = (entry.metadata or {}).get("input") or entry.metadata or entry.commit_id
            rows.append((str(entry.revision), when(entry.committed_at), f"+{entry.node_count}", line(said)))
    print_table(["revision", "when", "nodes", "what"], rows, fold=["when", "what"])


def print_nodes(nodes: list[CausalNode]) -> None:
    """Nodes as a table, oldest first."""
    from stateweave_graph.cli.output import line, print_table

    rows = [(node.sequence, node.kind, node.id, line(node.payload)) for node in nodes]
    print_table(["sequence", "kind", "node", "payload"], rows, fold=["node", "payload"])


def print_memory(repository: Repository, agent: str, type: str | None = None) -> None:
    """What an agent remembers as a table."""
    from stateweave_graph.cli.output import line, print_table

    rows = [
        (found.type, found.key, found.versions, line(found.content))
        for found in repository.memory(agent, type=type)
    ]
    print_table(["type", "key", "versions", "content"], rows, fold=["key", "content"])
