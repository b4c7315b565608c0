// question: How many milliseconds passed from a call to its result, by tool?
// parameters: agent
// columns: tool, results, p50, p95
// example: stateweave-graph query tool-latency --agent coding-agent
MATCH (s:AgentState {agentId: $agent})
MATCH (result:CausalNode)
WHERE result.history = s.history AND result.kind = 'tool_result' AND result.tool IS NOT NULL
MATCH (result)-[:PARENT]->(request:CausalNode)
WHERE request.kind = 'tool_call'
WITH result.tool AS tool, 1.0 * (result.createdAtMs - request.createdAtMs) AS ms
RETURN tool, count(*) AS results,
    round(percentileCont(ms, 0.5), 1) AS p50, round(percentileCont(ms, 0.95), 1) AS p95
ORDER BY p95 DESC, tool
