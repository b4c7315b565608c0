// A page of agents in the byte order of their ids. Parameters: after, limit.
MATCH (s:AgentState)
WHERE s.agentId > $after
RETURN properties(s) AS agent
ORDER BY s.agentId
LIMIT $limit
