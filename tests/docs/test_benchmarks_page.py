"""The page of the benchmarks says what their committed results say, and ``make bench`` runs them all."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import scripts
from benchmarks.page import page_text, read_results, write_page
from benchmarks.plots import margin
from benchmarks.report import RESULTS, Measure
from tests.support.command import ROOT

DOCS = ROOT / "docs"
SAID_IN_A_PICTURE = re.compile(r"<text [^>]*>(.*?)</text>")
MACHINE = {"cores": 2, "python": "3.12.1", "sqlite": "3.45.0", "system": "Linux x86_64"}


def said(picture: Path) -> list[str]:
    """The words and figures in a picture; where they stand depends on the version of matplotlib."""
    return SAID_IN_A_PICTURE.findall(picture.read_text("utf-8"))


def test_the_page_and_its_pictures_are_those_of_the_committed_results(tmp_path):
    made = write_page(RESULTS, tmp_path)
    again = "run: python -m benchmarks.page"
    assert (DOCS / "benchmarks.md").read_text("utf-8") == made.read_text("utf-8"), again
    pictures = {path.name for path in (tmp_path / "benchmarks").iterdir()}
    assert {path.name for path in (DOCS / "benchmarks").iterdir()} == pictures, again
    for name in pictures:
        assert said(DOCS / "benchmarks" / name) == said(tmp_path / "benchmarks" / name), again
    assert len(said(tmp_path / "benchmarks" / "overview.svg")) > 5


def test_the_same_results_give_the_same_bytes(tmp_path):
    for folder in ("once", "again"):
        (tmp_path / folder).mkdir()
        write_page(RESULTS, tmp_path / folder)
    for path in (tmp_path / "once").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(tmp_path / "once")).read_bytes()


def test_every_result_that_is_kept_is_of_a_benchmark_and_whole():
    for document in read_results(RESULTS):
        assert document["benchmark"] in scripts()
        for measure in document["measures"]:
            reached = measure.pop("reached")
            assert Measure(**measure).reached is reached


@pytest.mark.parametrize("name", scripts())
def test_every_benchmark_can_be_run_quickly_and_told_where_to_write(name):
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "--quick" in done.stdout
    assert "--output" in done.stdout


def test_make_bench_runs_all_of_them():
    done = subprocess.run(
        ["make", "-n", "--no-print-directory", "bench", "QUICK=1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.rstrip().endswith("/bin/python -m benchmarks --quick")
    leave_results = {
        path.stem for path in (ROOT / "benchmarks").glob("*.py") if "finish(" in path.read_text("utf-8")
    }
    assert leave_results - {"report"} == set(scripts())


def measure(work: str, ratio: float, bound: float | None, sense: str, **figures: Any) -> dict[str, Any]:
    return {
        "work": work,
        "peer": "a|b",
        "ratio": ratio,
        "bound": bound,
        "sense": sense,
        "figures": figures,
    } | {"reached": Measure(work, "a|b", ratio, bound, sense).reached}


def test_the_page_tells_what_is_missed_and_what_is_only_reported(tmp_path):
    measures = [
        measure("slow", 3.0, 1.5, "at most", ours_ms=12.345, peer_ms=4.0),
        measure("many", 8.0, 2.0, "at least", ours_nodes_per_s=20_000, tries=3),
        measure("told", 0.5, None, "at most"),
    ]
    document = {"benchmark": "startup", "quick": False, "machine": MACHINE, "measures": measures}
    (tmp_path / "startup.json").write_text(json.dumps(document), "utf-8")
    page = write_page(tmp_path, tmp_path).read_text("utf-8")
    assert "| slow | a\\|b | at most 1.5 | 3.00 | **not reached** | [startup](#startup) |" in page
    assert "| many | a\\|b | at least 2 | 8.00 | reached | [startup](#startup) |" in page
    assert "| told | a\\|b | – | 0.50 | reported | [startup](#startup) |" in page
    assert "| ours 12.3 ms, peer 4.00 ms |" in page
    assert "| ours nodes 20,000/s, tries 3 |" in page
    assert [margin(one) for one in measures[:2]] == [0.5, 4.0]
    assert {"slow", "many", "told", "a|b", "ratio", "at least"} <= set(
        said(tmp_path / "benchmarks/startup.svg")
    )
    assert "told" not in said(tmp_path / "benchmarks/overview.svg")


def test_quick_results_stay_off_the_page(tmp_path):
    document = {"benchmark": "startup", "quick": True, "machine": MACHINE, "measures": []}
    (tmp_path / "startup-quick.json").write_text(json.dumps(document), "utf-8")
    assert "## startup" not in page_text(read_results(tmp_path))
    assert "## startup" in page_text(read_results(tmp_path, quick=True))
