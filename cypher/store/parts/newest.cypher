// The newest commit c of the agent s, and what the next one must know of it.
MATCH (c:Commit {history: s.history, revision: s.revision})
USING INDEX c:Commit(history, revision)
CALL (c) {
    MATCH (c)-[f:FRONTIER]->(n:CausalNode)
    WITH f, n ORDER BY f.position
    RETURN collect([n.id, n.sequence, n.kind, n.turn, n.createdAt, n.resourceKey, n.extra]) AS frontier
}
CALL (s) {
    OPTIONAL MATCH (n:CausalNode {history: s.history, id: s.systemId})
    USING INDEX n:CausalNode(history, id)
    RETURN [n.id, n.sequence, n.kind, n.turn, n.createdAt, n.resourceKey, n.extra] AS system
}
CALL (s) {
    OPTIONAL MATCH (n:CausalNode {history: s.history, sequence: s.nodeCount})
    USING INDEX n:CausalNode(history, sequence)
    RETURN n.turn AS turn
}
