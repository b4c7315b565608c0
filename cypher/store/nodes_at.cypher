// Nodes of chosen sequences with their parents. Parameters: history, sequences (ascending).
UNWIND $sequences AS sequence
MATCH (n:CausalNode {history: $history, sequence: sequence})
USING INDEX SEEK n:CausalNode(history, sequence)
WITH n ORDER BY n.sequence
RETURN properties(n) AS node,
    [(n)-[e:PARENT]->(m:CausalNode) | [m.sequence, e.resourceKey IS NOT NULL]] AS parents
