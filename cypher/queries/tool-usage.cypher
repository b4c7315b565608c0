// question: Which tools were called, how often, and how often did they fail?
// parameters: agent
// columns: tool, calls, results, failures, share
// example: stateweave-graph query tool-usage --agent coding-agent
MATCH (s:AgentState {agentId: $agent})
MATCH (n:CausalNode)
WHERE n.history = s.history AND n.kind IN ['tool_call', 'tool_result'] AND n.tool IS NOT NULL
WITH n.tool AS tool,
    count(CASE WHEN n.kind = 'tool_call' THEN 1 END) AS calls,
    count(CASE WHEN n.kind = 'tool_result' THEN 1 END) AS results,
    count(CASE WHEN n.kind = 'tool_result' AND n.succeeded = false THEN 1 END) AS failures
RETURN tool, calls, results, failures,
    round(1.0 * failures / CASE WHEN results = 0 THEN 1 ELSE results END, 3) AS share
ORDER BY calls DESC, tool
