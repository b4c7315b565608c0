// Nodes of chosen sequences without payloads and parents. Parameters: history, sequences.
UNWIND $sequences AS wanted
MATCH (n:CausalNode {history: $history, sequence: wanted})
USING INDEX SEEK n:CausalNode(history, sequence)
RETURN n.id AS id, n.sequence AS sequence, n.kind AS kind, n.turn AS turn,
    n.createdAt AS created_at, n.resourceKey AS resource_key, n.extra AS extra
ORDER BY n.sequence
