// A new agent; the constraint on agentId refuses a second one. Parameters: agent.
CREATE (s:AgentState)
SET s = $agent
