// The second of a commit's two statements: all that a commit adds.
// Parameters: history, agent, commit, nodes, frontier, new_resources, moved_resources, versions.
MATCH (s:AgentState {agentId: $agent.agentId})
SET s += $agent
CREATE (s)-[:COMMITTED {revision: $commit.revision}]->(c:Commit)
SET c = $commit
WITH s, c
// include parts/additions
