// question: How many commits and nodes were there each day, over all agents? (days since 1970, in UTC)
// parameters: none
// columns: day, commits, nodes, agents
// example: stateweave-graph query activity
MATCH (s:AgentState)-[:COMMITTED]->(c:Commit)
WITH c.committedAtMs / 86400000 AS day, s.agentId AS agent, c.lastSequence - c.firstSequence + 1 AS added
RETURN day, count(*) AS commits, sum(added) AS nodes, count(DISTINCT agent) AS agents
ORDER BY day
