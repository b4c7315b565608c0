// One commit. Parameters: history, revision.
MATCH (c:Commit {history: $history, revision: $revision})
USING INDEX SEEK c:Commit(history, revision)
OPTIONAL MATCH (c)-[f:FRONTIER]->(n:CausalNode)
WITH c, f, n ORDER BY f.position
RETURN properties(c) AS commit, collect(n.sequence) AS frontier
