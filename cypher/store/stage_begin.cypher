// A history that nobody sees yet. Parameters: staged (its properties), lease_ms.
CREATE (s:StagedHistory)
SET s = $staged, s.leaseUntil = timestamp() + $lease_ms
