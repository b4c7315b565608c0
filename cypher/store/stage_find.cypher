// A staged history of the same content whose writer has stopped, taken over by one of those who ask: a write
// locks it before its lease is read again. Parameters: key, owner, lease_ms.
MATCH (s:StagedHistory {key: $key})
WHERE s.leaseUntil < timestamp()
WITH s ORDER BY s.history LIMIT 1
SET s.askedBy = $owner
WITH s
WHERE s.leaseUntil < timestamp()
SET s.owner = $owner, s.leaseUntil = timestamp() + $lease_ms
RETURN s.history AS history, s.done AS done
