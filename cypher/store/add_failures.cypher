// Failed runs beside a history, behind those that are there. Parameters: history, failures.
MATCH (s:AgentState {history: $history})
OPTIONAL MATCH (f:FailedRun)
USING INDEX SEEK f:FailedRun(history, position)
WHERE f.history = s.history AND f.position >= 1
WITH s, coalesce(max(f.position), 0) AS newest
UNWIND range(1, size($failures)) AS place
CREATE (s)-[:FAILED]->(f:FailedRun {history: s.history, position: newest + place})
SET f += $failures[place - 1]
