// Failed runs in the order in which they were recorded. Parameters: history.
MATCH (f:FailedRun)
USING INDEX SEEK f:FailedRun(history, position)
WHERE f.history = $history AND f.position >= 1
RETURN properties(f) AS failure
ORDER BY f.position
