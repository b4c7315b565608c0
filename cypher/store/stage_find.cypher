// A staged history of the same content whose writer has stopped, taken over. Parameters: key, owner, lease_ms.
MATCH (s:StagedHistory {key: $key})
WHERE s.leaseUntil < timestamp()
WITH s LIMIT 1
SET s.owner = $owner
WITH s
WHERE s.leaseUntil < timestamp()
SET s.leaseUntil = timestamp() + $lease_ms
RETURN s.history AS history, s.done AS done
