// An agent's newest commit, and what the next one must know. Nothing is locked (see agent.cypher): where a
// commit moves the agent while its properties are read, "agent" and "after" differ. Parameters: agent_id.
MATCH (s:AgentState {agentId: $agent_id})
WITH s, properties(s) AS agent
// include parts/newest
RETURN agent, properties(s) AS after, properties(c) AS commit, frontier, system, turn
