// question: What went wrong, and what was asked for then?
// parameters: agent
// columns: turn, at, what, tool, goal, text
// example: stateweave-graph query failures --agent coding-agent
// sorted by: at, turn, what, text
MATCH (s:AgentState {agentId: $agent})
MATCH (n:CausalNode)
WHERE n.history = s.history
WITH s, n.turn AS turn, max(CASE WHEN n.kind = 'goal' THEN n.payload END) AS goal,
    collect(CASE WHEN n.kind = 'protocol_error' OR (n.kind = 'tool_result' AND n.succeeded = false)
        THEN n.sequence END) AS failed
UNWIND failed AS place
MATCH (f:CausalNode)
WHERE f.history = s.history AND f.sequence = place
RETURN turn, f.createdAt AS at, f.kind AS what, f.tool AS tool, goal, f.payload AS text
UNION ALL
MATCH (s:AgentState {agentId: $agent})-[:FAILED]->(r:FailedRun)
RETURN 0 AS turn, r.at AS at, 'failed_run' AS what, r.runId AS tool, r.input AS goal, r.error AS text
