"""Arguments that commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from stateweave_graph.cli.complete import complete_agent

AgentId = Annotated[
    str,
    typer.Argument(
        metavar="AGENT", help="The agent's id.", show_default=False, autocompletion=complete_agent
    ),
]
NodeId = Annotated[
    str,
    typer.Argument(
        metavar="NODE",
        help="A node's id, or its beginning: cw_ and at least four digits.",
        show_default=False,
    ),
]
NoPager = Annotated[bool, typer.Option("--no-pager", help="Don't show it a screen at a time.")]
