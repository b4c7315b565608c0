// Delete some of what else is below a history. Parameters: history, limit.
MATCH (x:Commit)
USING INDEX SEEK x:Commit(history)
WHERE x.history = $history
WITH x LIMIT $limit
DETACH DELETE x
RETURN count(*) AS deleted
