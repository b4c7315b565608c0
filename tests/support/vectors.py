"""The cases of the format, copied from its specification."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "vectors"
VALID = sorted((FOLDER / "valid").glob("*.json"))
INVALID = sorted((FOLDER / "invalid").glob("*.json"))
INVALID_RULES: dict[str, str] = json.loads((FOLDER / "invalid-rules.json").read_text("utf-8"))
APPENDS: list[dict[str, Any]] = json.loads((FOLDER / "appends.json").read_text("utf-8"))
SESSIONS = sorted((FOLDER / "sessions").glob("*.jsonl"))


def identities() -> list[dict[str, Any]]:
    """All identity vectors."""
    names = ("identity.json", "identity-random.json", "identity-scripts.json")
    return [vector for name in names for vector in json.loads((FOLDER / name).read_text("utf-8"))]
