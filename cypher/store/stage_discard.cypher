// Give a staged history up: it is swept like a deleted one. Parameters: history.
MATCH (s:StagedHistory {history: $history})
REMOVE s:StagedHistory
SET s:DeletedHistory, s.leaseUntil = 0
