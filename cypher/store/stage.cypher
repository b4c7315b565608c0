// A part of a commit of a history that nobody sees yet; nothing where another process has taken it over.
// Parameters: history, owner, done, lease_ms, commit, nodes, frontier, new_resources, moved_resources, versions.
MATCH (s:StagedHistory {history: $history})
WHERE s.owner = $owner
SET s.done = $done, s.leaseUntil = timestamp() + $lease_ms
MERGE (c:Commit {history: $history, revision: $commit.revision})
ON CREATE SET c.staged = true
SET c += $commit
WITH s, c, c.staged AS first
REMOVE c.staged
WITH s, c, first
FOREACH (_ IN CASE WHEN first THEN [1] ELSE [] END |
    CREATE (s)-[:COMMITTED {revision: $commit.revision}]->(c)
)
WITH s, c
// include parts/additions
RETURN s.done AS done
