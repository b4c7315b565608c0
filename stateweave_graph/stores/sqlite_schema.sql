-- The graph of design.md as tables. A history is the integer h; its nodes refer to each other by sequence.
-- Edges: parents is PARENT, frontiers is FRONTIER, versions is VERSION_OF; COMMITTED and FAILED are the
-- column h, ADDED is the range of sequences of a commit.

CREATE TABLE agents (
    h           INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id    TEXT NOT NULL UNIQUE,
    history     TEXT NOT NULL UNIQUE,
    revision    INTEGER NOT NULL,
    generation  INTEGER NOT NULL,
    node_count  INTEGER NOT NULL,
    system_id   TEXT,
    vocabulary  TEXT,
    metadata    TEXT,
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL
) STRICT;

CREATE TABLE commits (
    h               INTEGER NOT NULL,
    revision        INTEGER NOT NULL,
    commit_id       TEXT NOT NULL,
    committed_at    TEXT NOT NULL,
    committed_at_ms INTEGER NOT NULL,
    first_sequence  INTEGER NOT NULL,
    last_sequence   INTEGER NOT NULL,
    digest          TEXT NOT NULL,
    hash            TEXT NOT NULL,
    request_hash    TEXT NOT NULL,
    metadata        TEXT,
    appended        TEXT,
    PRIMARY KEY (h, revision)
) STRICT;

CREATE UNIQUE INDEX commits_by_id ON commits (h, commit_id);

CREATE TABLE frontiers (
    h        INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    position INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (h, revision, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
    h             INTEGER NOT NULL,
    sequence      INTEGER NOT NULL,
    id            TEXT NOT NULL,
    kind          TEXT NOT NULL,
    payload       TEXT NOT NULL,
    payload_hash  TEXT NOT NULL,
    created_at    TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    turn          INTEGER NOT NULL,
    resource_key  TEXT,
    extra         TEXT,
    semantic_type TEXT,
    semantic_key  TEXT,
    tool          TEXT,
    operation     TEXT,
    succeeded     INTEGER,
    PRIMARY KEY (h, sequence)
) STRICT;

CREATE UNIQUE INDEX nodes_by_id ON nodes (h, id);

CREATE TABLE parents (
    h        INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    parent   INTEGER NOT NULL,
    same_resource INTEGER,
    PRIMARY KEY (h, sequence, parent)
) STRICT, WITHOUT ROWID;

CREATE TABLE resource_keys (
    h             INTEGER NOT NULL,
    key_hash      TEXT NOT NULL,
    key           TEXT NOT NULL,
    head_id       TEXT NOT NULL,
    head_sequence INTEGER NOT NULL,
    versions      INTEGER NOT NULL,
    semantic_type TEXT,
    semantic_key  TEXT,
    PRIMARY KEY (h, key_hash)
) STRICT;

CREATE TABLE versions (
    h        INTEGER NOT NULL,
    key_hash TEXT NOT NULL,
    version  INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (h, key_hash, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE failed_runs (
    h        INTEGER NOT NULL,
    position INTEGER NOT NULL,
    at       TEXT NOT NULL,
    run_id   TEXT,
    input    TEXT NOT NULL,
    error    TEXT NOT NULL,
    usage    TEXT,
    revision INTEGER NOT NULL,
    PRIMARY KEY (h, position)
) STRICT, WITHOUT ROWID;
