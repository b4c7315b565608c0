// Delete the newest nodes of a history, children before parents, so that each takes few edges along.
// Parameters: history, limit.
MATCH (n:CausalNode)
USING INDEX SEEK n:CausalNode(history, sequence)
WHERE n.history = $history AND n.sequence >= 1
WITH n ORDER BY n.sequence DESC LIMIT $limit
DETACH DELETE n
RETURN count(*) AS deleted
