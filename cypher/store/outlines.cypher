// Nodes by kind in spans of sequences, with the payload of the last goal and answer of each.
// Parameters: history, spans.
UNWIND $spans AS span
CALL (span) {
    MATCH (n:CausalNode)
    USING INDEX SEEK n:CausalNode(history, sequence)
    WHERE n.history = $history AND n.sequence >= span[0] AND n.sequence <= span[1]
    RETURN n.kind AS kind, count(*) AS count,
        max(CASE WHEN n.kind IN ['goal', 'answer'] THEN n.sequence END) AS told
}
OPTIONAL MATCH (t:CausalNode {history: $history, sequence: told})
USING INDEX SEEK t:CausalNode(history, sequence)
RETURN span[0] AS first, kind, count, t.payload AS payload
