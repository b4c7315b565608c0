"""The page of the benchmarks: docs/benchmarks.md with its pictures, made from benchmarks/results.

python -m benchmarks.page [--results benchmarks/results] [--docs docs]
"""

from __future__ import annotations

import argparse
import ast
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.plots import draw_benchmark, draw_overview, number
from benchmarks.report import RESULTS

HERE = Path(__file__).parent
NAME = "benchmarks"
KNOWN = {"benchmark", "quick", "machine", "measures"}
UNITS = {
    "us_per_node": " µs a node",
    "per_s": "/s",
    "ms": " ms",
    "us": " µs",
    "s": " s",
    "mb": " MB",
    "kb": " kB",
    "bytes": " bytes",
}
VERDICTS = {True: "reached", False: "**not reached**", None: "reported"}
INTRODUCTION = """\
# Benchmarks

Made by `make bench`, which runs every script of `benchmarks/` and then writes this page from what they left
in `benchmarks/results/`. `make bench QUICK=1` runs them all with small sizes, to see that they work.

A comparison is a ratio, ours to that of a peer that was measured in the same run, in turn with ours, so that
a slow moment of the machine meets both. "At most" is for times and sizes, "at least" for rates. Figures are
medians unless they say otherwise.
"""


def main() -> None:
    """Write the page and its pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of the results")
    parser.add_argument("--docs", type=Path, default=HERE.parent / "docs", help="where the page goes")
    parser.add_argument("--quick", action="store_true", help="take the results of quick runs")
    chosen = parser.parse_args()
    print(write_page(chosen.results, chosen.docs, quick=chosen.quick))


def write_page(results: Path, docs: Path, *, quick: bool = False) -> Path:
    """Write ``benchmarks.md`` and the pictures in ``benchmarks/`` into a folder, and give the page's path."""
    documents = read_results(results, quick=quick)
    pictures = docs / NAME
    bounded = [  # what must be none at all can't be many times better than it must be
        measure for document in documents for measure in document["measures"] if measure["bound"]
    ]
    draw_overview(bounded, pictures / "overview.svg")
    for document in documents:
        draw_benchmark(document["measures"], pictures / f"{document['benchmark']}.svg")
    page = docs / f"{NAME}.md"
    page.write_text(page_text(documents), "utf-8")
    return page


def read_results(folder: Path, *, quick: bool = False) -> list[dict[str, Any]]:
    """What the benchmarks left, by name."""
    paths = [path for path in sorted(folder.glob("*.json")) if path.stem.endswith("-quick") is quick]
    return [json.loads(path.read_text("utf-8")) for path in paths]


def page_text(documents: Iterable[dict[str, Any]]) -> str:
    """The page in Markdown."""
    listed = list(documents)
    parts = [INTRODUCTION, f"![How far each is from its bound]({NAME}/overview.svg)\n"]
    rows = [
        f"| {cell(measure['work'])} | {cell(measure['peer'])} | {bound_of(measure)} | {measure['ratio']:.2f} "
        f"| {VERDICTS[measure['reached']]} | [{document['benchmark']}](#{document['benchmark']}) |"
        for document in listed
        for measure in document["measures"]
    ]
    parts.append(table(("work", "against", "must be", "ratio", "verdict", "from"), rows))
    parts.append((HERE / "shortfalls.md").read_text("utf-8"))
    parts += map(section, listed)
    return "\n".join(parts)


def section(document: dict[str, Any]) -> str:
    """One benchmark: what it does, its figures, its picture."""
    name, machine = document["benchmark"], document["machine"]
    software = f"Python {machine['python']}, SQLite {machine['sqlite']}"
    rows = [
        f"| {cell(measure['work'])} | {cell(measure['peer'])} | {cell(figures_of(measure['figures']))} |"
        for measure in document["measures"]
    ]
    parts = [
        f"## {name}\n",
        f"{purpose_of(name)}\n",
        f"`python -m benchmarks.{name}` on {machine['system']}, {machine['cores']} cores, {software}.\n",
        table(("work", "against", "measured"), rows),
    ]
    for key, value in document.items():
        if key not in KNOWN and is_flat(value):
            listed = ", ".join(f"{inner} {number(single)}" for inner, single in value.items())
            parts.append(f"{said(key).capitalize()}: {listed}.\n")
    parts.append(f"![{name}]({NAME}/{name}.svg)\n")
    return "\n".join(parts)


def purpose_of(name: str) -> str:
    """What a benchmark says of itself in its first line, as a sentence."""
    document = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text("utf-8"))) or ""
    return document.split("\n\n")[0].replace("\n", " ")


def bound_of(measure: dict[str, Any]) -> str:
    """The bound in words."""
    return "–" if measure["bound"] is None else f"{measure['sense']} {measure['bound']:g}"


def figures_of(figures: dict[str, Any]) -> str:
    """Figures with their units, which their names end in."""
    return ", ".join(figure(name, value) for name, value in figures.items())


def figure(name: str, value: Any) -> str:
    """One figure.

    >>> figure("ours_ms", 12.34567), figure("peer_nodes_per_s", 20000)
    ('ours 12.3 ms', 'peer nodes 20,000/s')
    """
    for ending, unit in UNITS.items():
        if name.endswith(f"_{ending}"):
            return f"{said(name.removesuffix(f'_{ending}'))} {number(value)}{unit}"
    return f"{said(name)} {number(value)}"


def is_flat(value: Any) -> bool:
    """Whether something is a mapping of names to single values."""
    return isinstance(value, dict) and not any(isinstance(inner, dict | list) for inner in value.values())


def said(name: str) -> str:
    """A name of the results as words."""
    return name.replace("_", " ")


def cell(text: str) -> str:
    """Text that stands in a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def table(head: tuple[str, ...], rows: list[str]) -> str:
    """A table in Markdown."""
    return "\n".join([f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *rows]) + "\n"


if __name__ == "__main__":
    main()
