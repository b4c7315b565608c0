"""Commands that look at agents and what they hold."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stateweave_graph.cli import files
from stateweave_graph.cli.arguments import AgentId, NodeId
from stateweave_graph.cli.history import print_nodes
from stateweave_graph.cli.options import Database, Json, opened
from stateweave_graph.formats import format_for_file

if TYPE_CHECKING:
    from stateweave_graph.results import Memory

Limit = Annotated[int, typer.Option(metavar="N", help="The most to show.", min=1)]


def agents(
    after: Annotated[str | None, typer.Option(metavar="AGENT", help="Only agents behind this one.")] = None,
    limit: Limit = 100,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """List agents.

    They come in the byte order of their ids.

    Example: stateweave-graph agents --limit 20
    """
    from stateweave_graph.cli.output import hint, print_json, print_table, visible, when

    with opened(db) as repository:
        found = repository.agents(after=after, limit=limit)
    if as_json:
        print_json([agent.model_dump() for agent in found])
        return
    rows = [(agent.agent_id, agent.revision, agent.node_count, when(agent.updated_at)) for agent in found]
    print_table(["agent", "revision", "nodes", "updated"], rows, fold=["agent", "updated"])
    if len(found) == limit:
        hint(f"there may be more: --after {visible(shlex.quote(found[-1].agent_id))}")


def lineage(
    agent: AgentId,
    node: NodeId,
    impact: Annotated[bool, typer.Option("--impact", help="What rests on the node, instead.")] = False,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Show all nodes that a node rests on.

    Those that it rests on indirectly are shown, too; not the node itself.

    Example: stateweave-graph lineage support-bot cw_22a6356e22348f33774e5089
    """
    from stateweave_graph.cli.output import print_json

    with opened(db) as repository:
        node_id = repository.resolve(agent, node)
        found = repository.impact(agent, node_id) if impact else repository.lineage(agent, node_id)
        if as_json:
            print_json([ref._asdict() for ref in found])
        else:
            print_nodes(found.nodes())


def view(
    agent: AgentId,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to; - for standard output.", show_default=False
        ),
    ],
    revision: Annotated[
        int | None, typer.Option(metavar="N", help="A revision; the newest if not given.", min=1)
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    db: Database = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="With a FILE, print what was written; errors as JSON.")
    ] = False,
) -> None:
    """Make a page to explore a history with, in a browser.

    One file that needs nothing else and fetches nothing: turns, graph, search, payloads, lineage and
    versions. The page's own help (the key ?) lists its keys.

    Example: stateweave-graph view support-bot -o support-bot.html
    """
    import webbrowser

    from stateweave_graph.cli.output import hint, print_json, visible
    from stateweave_graph.cli.progress import Working

    if show and output == files.STANDARD:
        raise typer.BadParameter("needs a file to open; say -o FILE", param_hint="--open")
    if output != files.STANDARD:
        format_for_file("html", output, {"html": (".html", ".htm")})
    with opened(db) as repository, Working(f"view {agent}"):
        data = repository.view(agent, revision=revision).encode()
    files.write(output, data)
    if as_json and output != files.STANDARD:
        print_json({"file": output, "agent_id": agent, "bytes": len(data)})
    if show and not webbrowser.open(Path(output).resolve().as_uri()):
        hint(f"no browser could be started; open {visible(output)} in one")


def memory(
    agent: AgentId,
    type: Annotated[str | None, typer.Option(metavar="TYPE", help="Only memories of this type.")] = None,
    db: Database = None,
    as_json: Json = False,
) -> None:
    """Show what an agent remembers.

    Of each memory the newest version is shown, by type and key.

    Example: stateweave-graph memory support-bot --type preference
    """
    from stateweave_graph.cli.output import print_json

    with opened(db) as repository:
        memories = repository.memory(agent, type=type)
    if as_json:
        print_json(
            [{**found.model_dump(exclude={"node"}), "node": found.node.to_dict()} for found in memories]
        )
    else:
        print_memory(memories)


def print_memory(memories: list[Memory]) -> None:
    """What an agent remembers as a table."""
    from stateweave_graph.cli.output import line, print_table

    rows = [(found.type, found.key, found.versions, line(found.content)) for found in memories]
    print_table(["type", "key", "versions", "content"], rows, fold=["key", "content"])
