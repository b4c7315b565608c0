// What a commit c of the agent s adds below them.
CALL (c) {
    UNWIND $nodes AS r
    CREATE (c)-[:ADDED {sequence: r.sequence}]->(n:CausalNode:$(r.label))
    SET n = r.properties
    WITH n, r
    UNWIND r.parents AS p
    MATCH (m:CausalNode {history: $history, sequence: p[0]})
    USING INDEX SEEK m:CausalNode(history, sequence)
    CREATE (n)-[:PARENT {sequence: r.sequence, resourceKey: p[1]}]->(m)
}
CALL (s) {
    UNWIND $new_resources AS r
    CREATE (s)-[:TRACKS]->(k:ResourceKey)
    SET k = r
}
CALL (*) {
    UNWIND $moved_resources AS r
    MATCH (k:ResourceKey {history: $history, keyHash: r.keyHash})
    USING INDEX SEEK k:ResourceKey(history, keyHash)
    SET k.headId = r.headId, k.versions = r.versions
}
CALL (*) {
    UNWIND $versions AS v
    MATCH (k:ResourceKey {history: $history, keyHash: v[0]})
    USING INDEX SEEK k:ResourceKey(history, keyHash)
    MATCH (n:CausalNode {history: $history, sequence: v[2]})
    USING INDEX SEEK n:CausalNode(history, sequence)
    CREATE (n)-[:VERSION_OF {version: v[1]}]->(k)
}
CALL (c) {
    UNWIND $frontier AS f
    MATCH (n:CausalNode {history: $history, sequence: f[1]})
    USING INDEX SEEK n:CausalNode(history, sequence)
    CREATE (c)-[:FRONTIER {position: f[0]}]->(n)
}
