// One node with its parents. Parameters: history, id.
MATCH (n:CausalNode {history: $history, id: $id})
USING INDEX SEEK n:CausalNode(history, id)
RETURN properties(n) AS node,
    [(n)-[e:PARENT]->(m:CausalNode) | [m.sequence, e.resourceKey IS NOT NULL]] AS parents
