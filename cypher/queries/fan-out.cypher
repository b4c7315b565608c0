// question: How many nodes rest directly on nodes of each kind?
// parameters: agent
// columns: kind, nodes, mean, most
// example: stateweave-graph query fan-out --agent coding-agent
MATCH (s:AgentState {agentId: $agent})
MATCH (n:CausalNode)
WHERE n.history = s.history
OPTIONAL MATCH (n)<-[:PARENT]-(m:CausalNode)
WITH n.kind AS kind, n.sequence AS sequence, count(m.sequence) AS edges
RETURN kind, count(*) AS nodes, round(1.0 * sum(edges) / count(*), 2) AS mean, max(edges) AS most
ORDER BY kind
