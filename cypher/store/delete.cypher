// Take an agent out of sight: its history stays behind, to be swept. Parameters: agent_id.
MATCH (s:AgentState {agentId: $agent_id})
REMOVE s:AgentState, s.agentId
SET s:DeletedHistory, s.leaseUntil = 0
RETURN s.history AS history
