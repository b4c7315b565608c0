// What is searched of nodes, newest first. Parameters: history, before, kinds (null for all).
MATCH (n:CausalNode)
USING INDEX SEEK n:CausalNode(history, sequence)
WHERE n.history = $history AND n.sequence < $before AND ($kinds IS NULL OR n.kind IN $kinds)
RETURN n.id AS id, n.sequence AS sequence, n.kind AS kind, n.turn AS turn,
    n.createdAt AS created_at, n.resourceKey AS resource_key, n.payload AS payload
ORDER BY n.history DESC, n.sequence DESC
