"""Appends tried again on a newer head."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stateweave_graph.errors import ConflictError, NotFoundError
from stateweave_graph.model import Append
from stateweave_graph.repository.repository import Repository
from stateweave_graph.repository.requests import check_positive
from stateweave_graph.results import Commit, Head


def retry_on_conflict(
    repository: Repository,
    agent_id: str,
    build: Callable[[Head | None], Iterable[Append]],
    *,
    attempts: int = 100,
    commit_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Commit:
    """Commit appends that hold whatever came between: build them again on each conflict.

    Every conflict means that another worker got on, so this waits for nothing between attempts.

    Args:
        repository: where to commit.
        agent_id: the agent.
        build: given the head (None where there is no such agent), the appends to commit on it.
        attempts: the most attempts.
        commit_id: an id for the commit.
        metadata: what to say of the commit.

    Raises:
        ConflictError: the last attempt lost too.
    """
    check_positive(attempts, "attempts")
    lost: ConflictError
    for _ in range(attempts):
        head = _head(repository, agent_id)
        try:
            return repository.append(
                agent_id,
                build(head),
                expected_revision=0 if head is None else head,
                commit_id=commit_id,
                metadata=metadata,
            )
        except ConflictError as error:
            lost = error
    raise lost


def _head(repository: Repository, agent_id: str) -> Head | None:
    try:
        return repository.head(agent_id)
    except NotFoundError:
        return None
