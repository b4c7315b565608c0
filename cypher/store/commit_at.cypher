// The newest commit that was not made after an instant. Parameters: history, ms.
MATCH (c:Commit)
USING INDEX SEEK c:Commit(history, revision)
WHERE c.history = $history AND c.revision >= 1 AND c.committedAtMs <= $ms
WITH c ORDER BY c.revision DESC LIMIT 1
OPTIONAL MATCH (c)-[f:FRONTIER]->(n:CausalNode)
WITH c, f, n ORDER BY f.position
RETURN properties(c) AS commit, collect(n.sequence) AS frontier
