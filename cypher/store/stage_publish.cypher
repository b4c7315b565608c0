// Let a staged history be seen: its node becomes the agent. Parameters: history, owner, agent.
MATCH (s:StagedHistory {history: $history})
WHERE s.owner = $owner
REMOVE s:StagedHistory
SET s:AgentState, s = $agent
RETURN s.history AS history
