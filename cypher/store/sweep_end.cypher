// Nothing is below it any more. Parameters: history.
MATCH (s:DeletedHistory {history: $history})
DETACH DELETE s
