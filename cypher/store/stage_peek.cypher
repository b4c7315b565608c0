// The staged history of the same content whose writer has stopped, if there is one. Parameters: key.
MATCH (s:StagedHistory {key: $key})
WHERE s.leaseUntil < timestamp()
RETURN s.history AS history
ORDER BY history
LIMIT 1
