// question: How many goals were answered, failed, or were abandoned?
// parameters: agent
// columns: goals, answered, failed, abandoned
// example: stateweave-graph query goal-funnel --agent coding-agent
MATCH (s:AgentState {agentId: $agent})
MATCH (n:CausalNode)
WHERE n.history = s.history AND n.turn > 0
WITH n.turn AS turn,
    count(CASE WHEN n.kind = 'answer' THEN 1 END) AS answers,
    count(CASE WHEN n.kind = 'protocol_error' OR (n.kind = 'tool_result' AND n.succeeded = false)
        THEN 1 END) AS failures
RETURN count(*) AS goals,
    count(CASE WHEN answers > 0 THEN 1 END) AS answered,
    count(CASE WHEN answers = 0 AND failures > 0 THEN 1 END) AS failed,
    count(CASE WHEN answers = 0 AND failures = 0 THEN 1 END) AS abandoned
ORDER BY goals
