// question: Which resources have the most versions, and were they read or written?
// parameters: agent
// columns: resource, versions, reads, writes
// example: stateweave-graph query hot-resources --agent coding-agent
MATCH (s:AgentState {agentId: $agent})
MATCH (s)-[:TRACKS]->(r:ResourceKey)
WHERE r.semanticType IS NULL
MATCH (n:CausalNode)-[:VERSION_OF]->(r)
RETURN r.key AS resource, count(*) AS versions,
    count(CASE WHEN n.operation = 'read' THEN 1 END) AS reads,
    count(CASE WHEN n.operation = 'write' THEN 1 END) AS writes
ORDER BY versions DESC, resource
