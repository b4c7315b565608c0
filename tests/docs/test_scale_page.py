"""What docs/scale.md calculates follows from what was measured, and its code runs."""

from __future__ import annotations

import json
import re
from typing import Any

from benchmarks.report import RESULTS
from tests.support.command import ROOT

PAGE = (ROOT / "docs" / "scale.md").read_text("utf-8")
ROW = re.compile(r"^\| (nodes|edges|commits|agents) \|(.*)\|$", re.MULTILINE)
TOTAL = re.compile(r"^\| all \| \| \| ([\d,]+) GB \| \| ([\d,]+) GB \|$", re.MULTILINE)
MEASURED = {"nodes": "a node", "edges": "an edge", "commits": "a commit", "agents": "an agent"}


def figure(text: str) -> int:
    return int(text.replace(",", "").removesuffix(" GB"))


def rows() -> dict[str, list[int]]:
    return {name: [figure(cell.strip()) for cell in cells.split("|")] for name, cells in ROW.findall(PAGE)}


def test_the_table_is_what_the_measured_sizes_make():
    results = json.loads((RESULTS / "disk.json").read_text("utf-8"))
    assert set(rows()) == set(MEASURED)
    together = [0.0, 0.0]
    for name, (many, sqlite, in_sqlite, neo4j, in_neo4j) in rows().items():
        assert sqlite == results["bytes_on_sqlite"][MEASURED[name]], "bring docs/scale.md up to date"
        assert neo4j == results["bytes_on_neo4j"][MEASURED[name]], "bring docs/scale.md up to date"
        assert (in_sqlite, in_neo4j) == (round(many * sqlite / 1e9), round(many * neo4j / 1e9))
        together = [together[0] + many * sqlite, together[1] + many * neo4j]
    totals = TOTAL.search(PAGE)
    assert totals is not None
    assert [figure(total) for total in totals.groups()] == [round(size / 1e9) for size in together]


def test_the_counts_hang_together_and_stay_below_the_limits():
    many = {name: cells[0] for name, cells in rows().items()}
    assert many["nodes"] == 100 * many["agents"] == 8 * many["commits"]
    assert many["edges"] == 14 * many["nodes"]
    # PARENT, ADDED and VERSION_OF for one node in eight; COMMITTED, and one FRONTIER, for each commit.
    relationships = many["edges"] + many["nodes"] + many["nodes"] // 8 + 2 * many["commits"]
    assert (
        f"{relationships / 1e9:.1f} billion relationships are {relationships / 2**35:.0%}".replace("%", " %")
        in PAGE
    )
    # One for each of these edges, twelve for a node, eleven for a commit, ten for an agent.
    properties = relationships + 12 * many["nodes"] + 11 * many["commits"] + 10 * many["agents"]
    assert f"at most {properties / 2**36:.0%}".replace("%", " %") in PAGE
    assert f"{(2**32 - 2) * 4096 / 1e12:.1f} TB" in PAGE
    assert f"{(2**30 - 1) * 4096 / 1e12:.1f} TB" in PAGE
    assert f"{(2**32 - 2) * 65536 / 1e12:.0f} TB" in PAGE


def test_agents_spread_over_files_as_the_page_does_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = re.search(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert code is not None
    names: dict[str, Any] = {}
    exec(code[1], names)
    assert names["newest"].revision == 1
    assert [agent.agent_id for agent in names["first_page"]] == ["support-bot"]
    for agent in ("a", "b", "c", "d"):
        assert names["repository_of"](agent) is names["repository_of"](agent)
    for shard in names["SHARDS"]:
        shard.close()
    assert len(list(tmp_path.iterdir())) == 1, "a shard that holds nothing is no file"
