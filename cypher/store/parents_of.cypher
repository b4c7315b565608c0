// PARENT edges out of some nodes, by sequence. Parameters: history, sequences.
UNWIND $sequences AS wanted
MATCH (n:CausalNode {history: $history, sequence: wanted})
USING INDEX SEEK n:CausalNode(history, sequence)
MATCH (n)-[:PARENT]->(m:CausalNode)
RETURN n.sequence AS child, m.sequence AS parent
