// Of the history of an agent: the nodes, resources and the commit wanted that are there.
CALL (agent) {
    UNWIND $ids AS wanted
    MATCH (n:CausalNode {history: agent.history, id: wanted})
    USING INDEX SEEK n:CausalNode(history, id)
    RETURN collect([n.id, n.sequence, n.kind, n.turn, n.createdAt, n.resourceKey, n.extra]) AS refs
}
CALL (agent) {
    UNWIND $key_hashes AS wanted
    MATCH (r:ResourceKey {history: agent.history, keyHash: wanted})
    USING INDEX SEEK r:ResourceKey(history, keyHash)
    MATCH (n:CausalNode {history: agent.history, id: r.headId})
    USING INDEX SEEK n:CausalNode(history, id)
    RETURN collect([
        properties(r), [n.id, n.sequence, n.kind, n.turn, n.createdAt, n.resourceKey, n.extra]
    ]) AS resources
}
CALL (agent) {
    OPTIONAL MATCH (d:Commit {history: agent.history, commitId: $commit_id})
    USING INDEX SEEK d:Commit(history, commitId)
    OPTIONAL MATCH (d)-[f:FRONTIER]->(n:CausalNode)
    WITH d, f, n ORDER BY f.position
    RETURN properties(d) AS made, collect(n.sequence) AS made_frontier
}
