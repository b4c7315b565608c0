"""Cypher that is asked on both engines, and what it is asked of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from stateweave_graph import AgentState, Repository, read_session_log
from stateweave_graph.shipped import examples_folder
from stateweave_graph.testing.samples import hostile_state

README = Path(__file__).parents[2] / "README.md"
README_TEXTS: list[str] = re.findall(
    r"^```cypher\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL
)
MORE_TEXTS = [
    "MATCH (s:AgentState) RETURN s.agentId AS agent, s.nodeCount AS nodes, s.systemId AS system, "
    "s.version AS version, s.generation AS generation, s.metadata AS metadata ORDER BY agent",
    "MATCH (s:AgentState {agentId: $agent})-[r:COMMITTED]->(c:Commit) RETURN r.revision AS revision, c.commitId AS id, "
    "c.committedAtMs AS ms, c.digest AS digest, c.hash AS hash, c.metadata AS metadata, c.appended AS appended "
    "ORDER BY revision",
    "MATCH (s:AgentState {agentId: $agent}) MATCH (n:CausalNode) WHERE n.history = s.history RETURN n.sequence AS "
    "sequence, n.id AS id, n.kind AS kind, n.payload AS payload, n.payloadHash AS hash, n.createdAtMs AS ms, "
    "n.turn AS turn, n.resourceKey AS key, n.extra AS extra, n.semanticType AS type, n.semanticKey AS name, "
    "n.tool AS tool, n.operation AS operation, n.succeeded AS succeeded ORDER BY sequence",
    "MATCH (s:AgentState {agentId: $agent}) MATCH (n:CausalNode)-[e:PARENT]->(m:CausalNode) WHERE n.history = s.history "
    "RETURN n.sequence AS child, m.sequence AS parent, e.sequence AS sequence, e.resourceKey AS key "
    "ORDER BY child, parent",
    "MATCH (s:AgentState {agentId: $agent})-[:COMMITTED]->(c:Commit)-[a:ADDED]->(n:CausalNode) "
    "RETURN c.revision AS revision, a.sequence AS sequence, n.id AS id ORDER BY sequence",
    "MATCH (s:AgentState {agentId: $agent})-[:COMMITTED]->(c:Commit)-[f:FRONTIER]->(n:CausalNode) "
    "RETURN c.revision AS revision, f.position AS position, n.sequence AS sequence ORDER BY revision, position",
    "MATCH (s:AgentState {agentId: $agent})-[:TRACKS]->(r:ResourceKey)<-[v:VERSION_OF]-(n:CausalNode) RETURN r.key AS key, "
    "r.keyHash AS hash, r.headId AS head, r.versions AS versions, v.version AS version, n.sequence AS sequence "
    "ORDER BY key, version",
    "MATCH (s:AgentState {agentId: $agent})-[:FAILED]->(f:FailedRun) RETURN f.position AS position, f.at AS at, "
    "f.runId AS run, f.input AS input, f.error AS error, f.usage AS usage, f.revision AS revision ORDER BY position",
    "MATCH (s:AgentState {agentId: $agent}) MATCH (n:CausalNode) WHERE n.history = s.history "
    "WITH n.turn AS turn, count(*) AS nodes, sum(CASE WHEN n.kind = 'tool_call' THEN 1 ELSE 0 END) AS calls "
    "RETURN turn, nodes, calls, round(1.0 * calls / nodes, 3) AS share ORDER BY turn",
    "MATCH (s:AgentState {agentId: $agent}) MATCH (n:CausalNode) WHERE n.history = s.history AND n.sequence = 1 "
    "OPTIONAL MATCH (n)-[:PARENT]->(m:CausalNode) RETURN n.sequence AS sequence, m.sequence AS parent, "
    "EXISTS { MATCH (n)<-[:PARENT]-(:CausalNode) } AS has_children",
    "UNWIND $numbers AS x RETURN x AS x, x * 2 AS twice ORDER BY x",
]
ALL_TEXTS = README_TEXTS + MORE_TEXTS


def fill(repository: Repository) -> dict[str, Any]:
    """Store the histories that the texts are asked of; what they may ask with."""
    state = AgentState.from_json((examples_folder() / "coding-agent.json").read_bytes())
    repository.import_state("coding-agent", state)
    repository.import_session_log("support-bot", read_session_log(examples_folder() / "support-bot.jsonl"))
    repository.save("hostile", hostile_state(), expected_revision=0)
    with repository.turn("coding-agent", metadata={"n": 1.5}) as turn:
        turn.goal("one more")
        turn.remember("memory", "next", "printer")
        answer = turn.answer("yes")
    return {"answer": answer.id, "key": "src/kiosk/basket.py", "numbers": [3, 1, 2]}


def parameters_of(text: str, agent: str, given: dict[str, Any]) -> dict[str, Any]:
    """The parameters that a text has."""
    return {name: {"agent": agent, **given}[name] for name in re.findall(r"\$(\w+)", text)}
