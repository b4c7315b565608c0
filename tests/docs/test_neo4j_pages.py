"""What is written about Neo4j: the compose file, the style, the saved questions, the page."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from stateweave_graph import NodeKind
from stateweave_graph.stores.neo4j_connection import SCHEMA_VERSION

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_compose_file():
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    service = compose["services"]["neo4j"]
    assert service["image"] == "neo4j:5.26-community"
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert {port.rsplit(":", 1)[1] for port in service["ports"]} == {"7474", "7687"}
    assert re.fullmatch(r"neo4j/\$\{NEO4J_PASSWORD:\?.+\}", service["environment"]["NEO4J_AUTH"])
    assert service["volumes"] == ["neo4j-data:/data"]
    assert "neo4j-data" in compose["volumes"]
    check = service["healthcheck"]
    assert "cypher-shell" in check["test"][1]
    assert check["retries"] > 10
    assert "changeme" not in str(compose).lower()


def test_the_style_has_a_colour_for_each_kind():
    style = (ROOT / "cypher" / "browser" / "style.grass").read_text("utf-8")
    styled = set(re.findall(r"^node\.(\w+)", style, re.MULTILINE))
    kinds = {"".join(word.capitalize() for word in kind.value.split("_")) for kind in NodeKind}
    assert styled == kinds | {"AgentState", "Commit", "ResourceKey", "FailedRun", "CausalNode"}
    assert style.count("{") == style.count("}")


def test_the_saved_questions_are_those_of_the_readme():
    saved = (ROOT / "cypher" / "browser" / "saved-queries.cypher").read_text("utf-8")
    texts = re.findall(r"^```cypher\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert [text.strip() for text in saved.split("\n\n", 1)[1].split(";") if text.strip()] == [
        text.strip() for text in texts
    ]


def test_the_page_names_the_schema_version():
    page = (ROOT / "docs" / "neo4j.md").read_text("utf-8")
    assert f"SET v.version = {SCHEMA_VERSION}\n" in page
