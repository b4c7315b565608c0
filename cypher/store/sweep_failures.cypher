// Delete some of what else is below a history. Parameters: history, limit.
MATCH (x:FailedRun)
USING INDEX SEEK x:FailedRun(history, position)
WHERE x.history = $history AND x.position >= 1
WITH x LIMIT $limit
DETACH DELETE x
RETURN count(*) AS deleted
