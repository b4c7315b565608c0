// The vocabulary of an agent. Parameters: agent_id, vocabulary (null to take it away).
MATCH (s:AgentState {agentId: $agent_id})
SET s.vocabulary = $vocabulary
