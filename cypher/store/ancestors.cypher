// Sequences of all nodes that a node rests on. Planned as a pruning breadth-first search: only distinct
// ends are asked for, never paths, of which there are too many to count. Parameters: history, sequence.
MATCH (a:CausalNode {history: $history, sequence: $sequence})
USING INDEX SEEK a:CausalNode(history, sequence)
MATCH (a)-[:PARENT*1..]->(b:CausalNode)
RETURN collect(DISTINCT b.sequence) AS sequences
