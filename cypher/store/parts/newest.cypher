// The newest commit c of an agent, whose properties were read once, and what the next one must know of it.
MATCH (c:Commit {history: agent.history, revision: agent.revision})
USING INDEX SEEK c:Commit(history, revision)
CALL (c) {
    MATCH (c)-[f:FRONTIER]->(n:CausalNode)
    WITH f, n ORDER BY f.position
    RETURN collect([n.id, n.sequence, n.kind, n.turn, n.createdAt, n.resourceKey, n.extra]) AS frontier
}
CALL (agent) {
    OPTIONAL MATCH (n:CausalNode {history: agent.history, id: agent.systemId})
    USING INDEX SEEK n:CausalNode(history, id)
    RETURN [n.id, n.sequence, n.kind, n.turn, n.createdAt, n.resourceKey, n.extra] AS system
}
CALL (agent) {
    OPTIONAL MATCH (n:CausalNode {history: agent.history, sequence: agent.nodeCount})
    USING INDEX SEEK n:CausalNode(history, sequence)
    RETURN n.turn AS turn
}
