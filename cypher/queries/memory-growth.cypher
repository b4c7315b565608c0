// question: How many memories were written in each turn, and how many of them were new?
// parameters: agent
// columns: turn, written, begun
// example: stateweave-graph query memory-growth --agent coding-agent
MATCH (s:AgentState {agentId: $agent})
MATCH (s)-[:TRACKS]->(r:ResourceKey)
WHERE r.semanticType IS NOT NULL
MATCH (n:CausalNode)-[v:VERSION_OF]->(r)
RETURN n.turn AS turn, count(*) AS written, count(CASE WHEN v.version = 1 THEN 1 END) AS begun
ORDER BY turn
