// Ids of nodes that begin with a prefix. Parameters: history, prefix, limit.
MATCH (n:CausalNode)
USING INDEX SEEK n:CausalNode(history, id)
WHERE n.history = $history AND n.id STARTS WITH $prefix
RETURN n.id AS id
ORDER BY n.id
LIMIT $limit
