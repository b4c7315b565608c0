// An agent's newest commit, and what the next one must know. Parameters: agent_id.
MATCH (s:AgentState {agentId: $agent_id})
// include parts/newest
RETURN properties(s) AS agent, properties(c) AS commit, frontier, system, turn
