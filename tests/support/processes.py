"""Starting the workers of the tests, and reading what they say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def start(*arguments: str, program: str = "workers") -> subprocess.Popen[str]:
    """Start a worker; it runs until it is done or killed."""
    return subprocess.Popen(
        [sys.executable, "-m", f"tests.support.{program}", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run_together(workers: list[subprocess.Popen[str]]) -> list[list[dict[str, Any]]]:
    """Let workers that are ready go at the same moment; what each said."""
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    said = [worker.communicate(timeout=120)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * len(workers)
    return [[json.loads(line) for line in text.splitlines()] for text in said]
