// Say that a history is being swept. Parameters: history, lease_ms.
MATCH (s:DeletedHistory {history: $history})
SET s.leaseUntil = timestamp() + $lease_ms
