// Sequences of the versions of a resource, oldest first. Parameters: history, key_hash.
MATCH (r:ResourceKey {history: $history, keyHash: $key_hash})
USING INDEX SEEK r:ResourceKey(history, keyHash)
MATCH (n:CausalNode)-[v:VERSION_OF]->(r)
RETURN n.sequence AS sequence
ORDER BY v.version
