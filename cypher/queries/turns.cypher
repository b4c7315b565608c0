// question: What was asked in each turn, what was answered, and what it took?
// parameters: agent
// columns: turn, goal, answer, nodes, calls, failures, ms
// example: stateweave-graph query turns --agent coding-agent
MATCH (s:AgentState {agentId: $agent})
MATCH (n:CausalNode)
WHERE n.history = s.history AND n.turn > 0
RETURN n.turn AS turn,
    max(CASE WHEN n.kind = 'goal' THEN n.payload END) AS goal,
    max(CASE WHEN n.kind = 'answer' THEN n.payload END) AS answer,
    count(*) AS nodes,
    count(CASE WHEN n.kind = 'tool_call' THEN 1 END) AS calls,
    count(CASE WHEN n.kind = 'tool_result' AND n.succeeded = false THEN 1 END) AS failures,
    max(n.createdAtMs) - min(n.createdAtMs) AS ms
ORDER BY turn
