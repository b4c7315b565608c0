// The first of a commit's two statements: lock an agent, then read its newest commit and what is wanted
// beside it. Neo4j isolates at read-committed, so the lock is taken by a write before anything is read.
// Parameters: agent_id, now, ids, key_hashes, commit_id.
MATCH (s:AgentState {agentId: $agent_id})
SET s.updatedAt = $now
WITH properties(s) AS agent
// include parts/newest
// include parts/known
RETURN agent, properties(c) AS commit, frontier, system, turn,
    refs, resources, made, made_frontier
