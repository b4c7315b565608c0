"""The pictures of docs/benchmarks.md: the same results give the same bytes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot as plt

OURS, PEER, MISSED = "#2a6f97", "#b8b8b8", "#c1121f"
LOOK = {
    "svg.hashsalt": "stateweave_graph",  # ids inside the picture would be random
    "svg.fonttype": "none",  # letters stay letters, so the picture can be searched and compared
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
WIDTH = 8.5
LEAST = 0.001  # ratios are rounded to three digits, and none is not drawn on a logarithmic scale


def draw_overview(measures: Sequence[dict[str, Any]], path: Path) -> None:
    """One bar a comparison that has a bound: how many times better it is than it must be."""
    with plt.rc_context(LOOK):
        figure, axes = plt.subplots(figsize=(WIDTH, 0.8 + 0.42 * len(measures)), layout="constrained")
        labels = [_short(measure["work"]) for measure in measures]
        margins = [margin(measure) for measure in measures]
        colours = [OURS if value >= 1 else MISSED for value in margins]
        bars = axes.barh(range(len(measures)), [value - 1 for value in margins], left=1, color=colours)
        axes.bar_label(
            bars, [f"{value:.2g} ×" if value < 10 else f"{value:.0f} ×" for value in margins], padding=3
        )
        axes.set_yticks(range(len(measures)), labels)
        axes.set_xscale("log")
        axes.margins(x=0.12)
        axes.invert_yaxis()
        axes.axvline(1, color="black", linewidth=1)
        axes.set_xlabel("times better than it must be (1: just so)")
        _save(figure, path)


def draw_benchmark(measures: Sequence[dict[str, Any]], path: Path) -> None:
    """For each comparison our figure and the peer's, on a scale of its own."""
    with plt.rc_context(LOOK):
        figure, rows = plt.subplots(
            len(measures), squeeze=False, figsize=(WIDTH, 0.2 + 1.15 * len(measures)), layout="constrained"
        )
        for axes, measure in zip(rows[:, 0], measures, strict=True):
            unit, values = pair(measure)
            bars = axes.barh(range(len(values)), values.values(), color=[OURS, PEER][: len(values)])
            axes.bar_label(bars, [number(value) for value in values.values()], padding=3)
            axes.set_yticks(range(len(values)), [_short(name, 34) for name in values])
            axes.invert_yaxis()
            axes.margins(x=0.12)
            axes.set_title(_short(measure["work"], 90), loc="left", fontsize=9)
            axes.set_xlabel(unit)
        _save(figure, path)


def margin(measure: dict[str, Any]) -> float:
    """How many times better a comparison is than it must be; below 1 the bound is missed."""
    ratio, bound = max(measure["ratio"], LEAST), measure["bound"]
    return float(ratio / bound if measure["sense"] == "at least" else bound / ratio)


def pair(measure: dict[str, Any]) -> tuple[str, dict[str, float]]:
    """A unit, and what is held against each other in it; where no figures can be, the ratio and its bound."""
    figures = measure["figures"]
    for name, value in figures.items():
        unit = name.removeprefix("ours_")
        if unit != name and f"peer_{unit}" in figures:
            return unit.replace("_", " "), {"ours": value, measure["peer"]: figures[f"peer_{unit}"]}
    bound = {} if measure["bound"] is None else {measure["sense"]: measure["bound"]}
    return "ratio", {"ours": measure["ratio"], **bound}


def number(value: Any) -> str:
    """A number with the digits that matter; anything else as it is."""
    if not isinstance(value, float):
        return f"{value:,}" if type(value) is int else str(value)
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}"


def _short(text: str, width: int = 44) -> str:
    return textwrap.fill(text.replace("`", "").replace("$", r"\$"), width)


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
