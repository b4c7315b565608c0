"""How long it takes to start: importing the package, and asking the command line for help.

    python -m benchmarks.startup [--quick]

Whole processes are timed, each way of starting in turn with the others. All find their bytecode cached, as
they do where packages are installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable

from benchmarks.report import Measure, alternately, finish, ms, options

STARTS = {
    "nothing": "pass",
    "import pydantic": "import pydantic",
    "import stateweave_graph": "import stateweave_graph",
    "BaseModel": "from pydantic import BaseModel",
    "AgentState": "from stateweave_graph import AgentState",
    "open_repository": "from stateweave_graph import open_repository",
    "import typer, rich": "import typer, rich",
    # What the script that pip installs does.
    "stateweave-graph --help": "from stateweave_graph.cli.main import main; main()",
}
COMPARISONS: tuple[tuple[str, str, str, float | None], ...] = (
    ("`import stateweave_graph`", "import stateweave_graph", "import pydantic", 1.5),
    ("`stateweave-graph --help`", "stateweave-graph --help", "import typer, rich", 2.0),
    ("`from stateweave_graph import AgentState`", "AgentState", "BaseModel", None),
    ("`from stateweave_graph import open_repository`", "open_repository", "BaseModel", None),
)
IMPORT_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")


def main() -> None:
    """Measure, print and write."""
    chosen = options(__doc__)
    with tempfile.TemporaryDirectory() as cache:
        works = [starting(name, cache) for name in STARTS]
        for work in works:
            work()  # writes the bytecode
        times = dict(zip(STARTS, alternately(works, 5 if chosen.quick else 60), strict=True))
        spent = by_package(STARTS["open_repository"], cache)
    measures = [
        Measure(
            work=work,
            peer=f"`{STARTS[peer]}`",
            ratio=round(ms(times[ours]) / ms(times[peer]), 3),
            bound=bound,
            sense="at most",
            figures={
                "ours_ms": ms(times[ours]),
                "peer_ms": ms(times[peer]),
                "interpreter_alone_ms": ms(times["nothing"]),
            },
        )
        for work, ours, peer, bound in COMPARISONS
    ]
    finish("startup", measures, chosen, milliseconds_of_importing_open_repository=spent)


def starting(name: str, cache: str) -> Callable[[], object]:
    """A process that starts in this way, and ends."""
    arguments = [sys.executable, "-c", STARTS[name], *(["--help"] if name.endswith("--help") else [])]
    environment = with_bytecode(cache)
    return lambda: subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=environment)


def by_package(code: str, cache: str) -> dict[str, float]:
    """Milliseconds that the modules of each package took by themselves (``-X importtime``)."""
    arguments = [sys.executable, "-X", "importtime", "-c", code]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True, env=with_bytecode(cache))
    microseconds: Counter[str] = Counter()
    for spent, module in IMPORT_LINE.findall(done.stderr):
        top = module.split(".")[0]
        microseconds["standard library" if top in sys.stdlib_module_names else top] += int(spent)
    return {package: round(spent / 1000, 1) for package, spent in microseconds.most_common(6)}


def with_bytecode(cache: str) -> dict[str, str]:
    """The environment of a process that keeps its bytecode in a folder, whatever was said to this one."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": cache}


if __name__ == "__main__":
    main()
