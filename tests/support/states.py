"""Small histories for tests to break."""

from __future__ import annotations

from typing import Any

from stateweave_graph.testing.samples import WHEN, append, story

__all__ = ["WHEN", "append", "story", "wire"]


def wire(turns: int = 1) -> dict[str, Any]:
    """A few turns as a parsed JSON object."""
    return story(turns).to_dict()
