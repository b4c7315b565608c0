// An agent's record. Parameters: agent_id.
MATCH (s:AgentState {agentId: $agent_id})
RETURN properties(s) AS agent
