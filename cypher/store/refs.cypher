// Nodes of a span of sequences without payloads and parents. Parameters: history, first, last.
MATCH (n:CausalNode)
USING INDEX SEEK n:CausalNode(history, sequence)
WHERE n.history = $history AND n.sequence >= $first AND n.sequence <= $last
RETURN n.id AS id, n.sequence AS sequence, n.kind AS kind, n.turn AS turn,
    n.createdAt AS created_at, n.resourceKey AS resource_key, n.extra AS extra
ORDER BY n.sequence
