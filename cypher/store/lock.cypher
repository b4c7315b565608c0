// An agent's record, locked: Neo4j isolates at read-committed, so the lock is taken by a write before
// anything is read that must not change. Parameters: agent_id, now.
MATCH (s:AgentState {agentId: $agent_id})
SET s.updatedAt = $now
WITH s
RETURN properties(s) AS agent
