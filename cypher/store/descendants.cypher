// Sequences of all nodes that rest on a node, as in ancestors.cypher. Parameters: history, sequence.
MATCH (a:CausalNode {history: $history, sequence: $sequence})
USING INDEX SEEK a:CausalNode(history, sequence)
MATCH (a)<-[:PARENT*1..]-(b:CausalNode)
RETURN collect(DISTINCT b.sequence) AS sequences
