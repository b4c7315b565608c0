// An agent's record. Nothing is locked, and a commit that is being applied shows in the store before it shows
// in the indexes: "settled" says that the commit, and its last node, are found by each index.
// Parameters: agent_id.
MATCH (s:AgentState {agentId: $agent_id})
WITH properties(s) AS agent
CALL (agent) {
    OPTIONAL MATCH (c:Commit {history: agent.history, revision: agent.revision})
    USING INDEX SEEK c:Commit(history, revision)
    RETURN c
}
CALL (agent) {
    OPTIONAL MATCH (n:CausalNode {history: agent.history, sequence: agent.nodeCount})
    USING INDEX SEEK n:CausalNode(history, sequence)
    OPTIONAL MATCH (m:CausalNode {history: agent.history, id: n.id})
    USING INDEX SEEK m:CausalNode(history, id)
    RETURN m
}
RETURN agent,
    coalesce(c.lastSequence = agent.nodeCount, false) AND (agent.nodeCount = 0 OR m IS NOT NULL) AS settled
