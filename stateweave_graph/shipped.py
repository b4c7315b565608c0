"""Histories that come with the package, to try things on."""

from __future__ import annotations

from pathlib import Path


def examples_folder() -> Path:
    """The folder of examples: inside an installed package, or beside it in a checkout."""
    inside = Path(__file__).with_name("examples")
    return inside if inside.is_dir() else Path(__file__).parents[1] / "examples"


def example_files() -> list[Path]:
    """The snapshots (``.json``) and session logs (``.jsonl``) shipped, by name."""
    folder = examples_folder()
    return sorted([*folder.glob("*.json"), *folder.glob("*.jsonl")])
