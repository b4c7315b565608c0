// question: Which nodes do most others rest on directly?
// parameters: agent
// columns: sequence, id, kind, children
// example: stateweave-graph query busiest-nodes --agent coding-agent
MATCH (s:AgentState {agentId: $agent})
MATCH (n:CausalNode)
WHERE n.history = s.history
MATCH (n)<-[:PARENT]-(m:CausalNode)
RETURN n.sequence AS sequence, n.id AS id, n.kind AS kind, count(*) AS children
ORDER BY children DESC, sequence
LIMIT 20
