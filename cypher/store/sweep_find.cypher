// Histories to be swept: deleted ones that nobody is sweeping, and staged ones whose writer has been away for
// long. Parameters: abandoned_ms.
CALL () {
    MATCH (s:DeletedHistory)
    USING INDEX SEEK s:DeletedHistory(leaseUntil)
    WHERE s.leaseUntil < timestamp()
    RETURN s.history AS history
    UNION ALL
    MATCH (s:StagedHistory)
    USING INDEX SEEK s:StagedHistory(leaseUntil)
    WHERE s.leaseUntil < timestamp() - $abandoned_ms
    RETURN s.history AS history
}
RETURN history
