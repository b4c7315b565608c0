// Nodes of a span of sequences with their parents. Parameters: history, first, last.
MATCH (n:CausalNode)
USING INDEX SEEK n:CausalNode(history, sequence)
WHERE n.history = $history AND n.sequence >= $first AND n.sequence <= $last
WITH n ORDER BY n.sequence
RETURN properties(n) AS node,
    [(n)-[e:PARENT]->(m:CausalNode) | [m.sequence, e.resourceKey IS NOT NULL]] AS parents
