"""Every benchmark, one after the other, and then the page: what ``make bench`` runs.

    python -m benchmarks [--quick]

A quick run touches nothing that is kept: its results and its page go into a temporary folder.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.page import write_page
from benchmarks.report import RESULTS

HERE = Path(__file__).parent
NO_BENCHMARKS = {"__main__", "page"}


def scripts() -> list[str]:
    """The benchmarks by name: the modules here that can be run, but for this one and the page's."""
    found = [path.stem for path in sorted(HERE.glob("*.py")) if "\nif __name__ ==" in path.read_text("utf-8")]
    return [name for name in found if name not in NO_BENCHMARKS]


def main() -> None:
    """Run all; those that fail are named at the end, and the exit code is 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all of them run")
    quick = parser.parse_args().quick
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        results, docs = (Path(folder), Path(folder)) if quick else (RESULTS, HERE.parent / "docs")
        for name in scripts():
            print(f"== {name}", flush=True)
            arguments = ["--output", str(results), *(["--quick"] if quick else [])]
            if subprocess.run(
                [sys.executable, "-m", f"benchmarks.{name}", *arguments], check=False
            ).returncode:
                failed.append(name)
        print(write_page(results, docs, quick=quick))
    if failed:
        raise SystemExit(f"these failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
