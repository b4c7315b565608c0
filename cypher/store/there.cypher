// Which of some agents are there, and with which histories. Parameters: agent_ids.
UNWIND $agent_ids AS agent_id
MATCH (s:AgentState {agentId: agent_id})
RETURN agent_id, s.history AS history
