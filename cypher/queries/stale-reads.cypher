// question: Which answers rest on a version of a resource that was no longer the newest?
// parameters: agent
// columns: answer, turn, resource, seen, newest
// example: stateweave-graph query stale-reads --agent coding-agent
MATCH (s:AgentState {agentId: $agent})
MATCH (s)-[:TRACKS]->(r:ResourceKey)
WHERE r.semanticType IS NULL
MATCH (n:CausalNode)-[v:VERSION_OF]->(r)
MATCH (a:CausalNode)-[:PARENT]->(n)
WHERE a.kind = 'answer'
WITH r, a, max(v.version) AS seen
MATCH (m:CausalNode)-[w:VERSION_OF]->(r)
WHERE m.sequence < a.sequence
WITH r.key AS resource, a.sequence AS answer, a.turn AS turn, seen, max(w.version) AS newest
WHERE newest > seen
RETURN answer, turn, resource, seen, newest
ORDER BY answer, resource
