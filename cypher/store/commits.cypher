// Commits, newest first, of revisions below one. Parameters: history, before, limit.
MATCH (c:Commit)
USING INDEX SEEK c:Commit(history, revision)
WHERE c.history = $history AND c.revision < $before
WITH c ORDER BY c.revision DESC LIMIT $limit
OPTIONAL MATCH (c)-[f:FRONTIER]->(n:CausalNode)
WITH c, f, n ORDER BY c.revision DESC, f.position
WITH c, collect(n.sequence) AS frontier
RETURN properties(c) AS commit, frontier
ORDER BY c.revision DESC
