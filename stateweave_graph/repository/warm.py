"""Grounds kept between commits, so that a repository that stays open reads less."""

from __future__ import annotations

from stateweave_graph.repository.ground import Ground

_MAX_AGENTS = 64
_MAX_NODES = 5_000


class WarmGrounds:
    """The grounds of the agents used last, each lent to one user at a time.

    A ground is only a guess at the head: whoever borrows one compares it with the store before use. There is
    no lock, which a fork or a signal handler could leave locked: each step is one operation of a dict.
    """

    def __init__(self) -> None:
        self._grounds: dict[str, Ground] = {}

    def take(self, agent_id: str) -> Ground | None:
        """The ground of an agent, which nobody else gets until it is put back."""
        return self._grounds.pop(agent_id, None)

    def put(self, agent_id: str, ground: Ground) -> None:
        """Keep a ground; one that has grown large is let go of."""
        if ground.head is None or len(ground.mirror) > _MAX_NODES:
            return
        self._grounds[agent_id] = ground
        if len(self._grounds) > _MAX_AGENTS:
            for oldest in list(self._grounds)[:-_MAX_AGENTS]:
                self._grounds.pop(oldest, None)

    def clear(self) -> None:
        """Let go of all."""
        self._grounds.clear()
