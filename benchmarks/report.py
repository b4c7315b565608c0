"""What every benchmark gives out: ratios against a peer of the same run, printed and written as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Measure:
    """One comparison.

    Attributes:
        work: what is done, with its size.
        peer: what it is compared with, in the same run.
        ratio: ours to the peer's, in the sense that ``sense`` tells.
        bound: the ratio that must be reached.
        sense: ``"at least"`` where more is better (a rate), ``"at most"`` where less is (a time, a size).
        figures: what was measured, with units in the names, such as ``ours_ms``.
    """

    work: str
    peer: str
    ratio: float
    bound: float | None
    sense: str
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def reached(self) -> bool | None:
        """Whether the bound is kept; None where there is none."""
        if self.bound is None:
            return None
        return self.ratio >= self.bound if self.sense == "at least" else self.ratio <= self.bound


def options(description: str | None) -> argparse.Namespace:
    """The command line of a benchmark: ``--quick``, and where the results go."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the folder of the results")
    return parser.parse_args()


def finish(name: str, measures: Iterable[Measure], chosen: argparse.Namespace, **more: Any) -> None:
    """Print the comparisons, and write them as ``<name>.json``; a quick run writes ``<name>-quick.json``."""
    listed = list(measures)
    for measure in listed:
        verdict = {True: "reached", False: "NOT REACHED", None: "reported"}[measure.reached]
        bound = "" if measure.bound is None else f" ({measure.sense} {measure.bound:g})"
        print(f"{measure.work} / {measure.peer}: {measure.ratio:.2f}{bound}: {verdict}")
        print("   ", ", ".join(f"{key} {value}" for key, value in measure.figures.items()))
    chosen.output.mkdir(parents=True, exist_ok=True)
    document = {
        "benchmark": name,
        "quick": chosen.quick,
        "machine": machine(),
        "measures": [asdict(measure) | {"reached": measure.reached} for measure in listed],
        **more,
    }
    path = chosen.output / f"{name}{'-quick' if chosen.quick else ''}.json"
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")


def machine() -> dict[str, Any]:
    """What it ran on."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
    }


def alternately(works: Sequence[Callable[[], Any]], rounds: int) -> list[list[float]]:
    """Seconds of each piece of work in each round, run in turn so that all meet the same weather."""
    times: list[list[float]] = [[] for _ in works]
    for number in range(rounds):
        order = range(len(works)) if number % 2 == 0 else reversed(range(len(works)))
        for index in order:
            began = time.perf_counter()
            works[index]()
            times[index].append(time.perf_counter() - began)
    return times


def ms(times: Sequence[float]) -> float:
    """The median in milliseconds."""
    return round(statistics.median(times) * 1000, 3)


def percentile(times: Sequence[float], part: float) -> float:
    """A percentile in milliseconds, ``part`` between 0 and 1."""
    ordered = sorted(times)
    return round(ordered[min(len(ordered) - 1, int(part * len(ordered)))] * 1000, 3)
