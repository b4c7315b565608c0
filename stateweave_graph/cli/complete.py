"""What a shell completes: agents, kinds and queries. Nothing is ever made, and an error completes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from stateweave_graph.repository.repository import Repository

_PATIENCE = 2.0
_MOST = 100


def complete_agent(context: typer.Context, incomplete: str) -> list[str]:
    """The ids of agents that begin so."""
    from stateweave_graph.cli.options import opened
    from stateweave_graph.errors import StateWeaveGraphError

    try:
        with opened(context.params.get("db"), timeout=_PATIENCE) as repository:
            # Ids come in the order of bytes: those that begin so stand behind what is typed, or are it.
            found = [agent.agent_id for agent in repository.agents(after=incomplete or None, limit=_MOST)]
            if incomplete:
                found += [incomplete] if _is_there(repository, incomplete) else []
    except StateWeaveGraphError:
        return []
    return sorted(name for name in found if name.startswith(incomplete))


def complete_kind(incomplete: str) -> list[str]:
    """The kinds that begin so."""
    from stateweave_graph.validation import KINDS

    return [kind for kind in KINDS if kind.startswith(incomplete)]


def complete_query(incomplete: str) -> list[str]:
    """The named queries that begin so."""
    from stateweave_graph.queries import named_queries

    return [name for name in named_queries(None) if name.startswith(incomplete)]


def _is_there(repository: Repository, agent_id: str) -> bool:
    from stateweave_graph.errors import NotFoundError

    try:
        repository.head(agent_id)
    except NotFoundError:
        return False
    return True
