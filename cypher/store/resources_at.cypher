// Resources as they were after the node of a sequence, in the byte order of their keys; or only semantic
// memories. Parameters: history, semantic_only, last.
MATCH (r:ResourceKey)
USING INDEX SEEK r:ResourceKey(history)
WHERE r.history = $history AND (NOT $semantic_only OR r.semanticType IS NOT NULL)
MATCH (n:CausalNode)-[v:VERSION_OF]->(r)
WHERE n.sequence <= $last
WITH r, n, v ORDER BY v.version DESC
WITH r, collect([n.id, n.sequence, v.version])[0] AS head
RETURN properties(r) AS resource, head[0] AS head_id, head[1] AS head_sequence, head[2] AS versions
ORDER BY r.key
