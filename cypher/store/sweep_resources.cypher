// Delete some of what else is below a history. Parameters: history, limit.
MATCH (x:ResourceKey)
USING INDEX SEEK x:ResourceKey(history)
WHERE x.history = $history
WITH x LIMIT $limit
DETACH DELETE x
RETURN count(*) AS deleted
