// question: Which nodes does nothing rest on, though they are not on the frontier?
// parameters: agent
// columns: sequence, id, kind, turn
// example: stateweave-graph query dangling-branches --agent coding-agent
MATCH (s:AgentState {agentId: $agent})
MATCH (s)-[:COMMITTED]->(c:Commit)
WHERE c.revision = s.revision
MATCH (n:CausalNode)
WHERE n.history = s.history
    AND NOT EXISTS { MATCH (n)<-[:PARENT]-(:CausalNode) }
    AND NOT EXISTS { MATCH (c)-[:FRONTIER]->(n) }
RETURN n.sequence AS sequence, n.id AS id, n.kind AS kind, n.turn AS turn
ORDER BY sequence
