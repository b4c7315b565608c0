// Resources in the byte order of their keys; or only semantic memories.
// Parameters: history, semantic_only.
MATCH (r:ResourceKey)
USING INDEX SEEK r:ResourceKey(history)
WHERE r.history = $history AND (NOT $semantic_only OR r.semanticType IS NOT NULL)
MATCH (n:CausalNode {history: $history, id: r.headId})
USING INDEX SEEK n:CausalNode(history, id)
RETURN properties(r) AS resource, n.sequence AS head_sequence
ORDER BY r.key
