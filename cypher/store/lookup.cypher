// Those of the nodes, resources and the commit wanted that are there.
// Parameters: history, ids, key_hashes, commit_id.
WITH {history: $history} AS agent
// include parts/known
RETURN refs, resources, made, made_frontier
