// PARENT edges into some nodes, by sequence. Parameters: history, sequences.
UNWIND $sequences AS wanted
MATCH (m:CausalNode {history: $history, sequence: wanted})
USING INDEX SEEK m:CausalNode(history, sequence)
MATCH (n:CausalNode)-[:PARENT]->(m)
RETURN n.sequence AS child, m.sequence AS parent
