// The constraints and indexes of stateweave_graph on Neo4j, 5.26 or newer, Community or Enterprise.
// One statement at a time: concurrent schema statements fail. Node keys don't exist in Community, so the
// writer itself guarantees that none of these properties is null.

// An agent is found by its id; the constraint refuses a second agent of the same id.
CREATE CONSTRAINT stateweave_agent_id IF NOT EXISTS
FOR (s:AgentState) REQUIRE s.agentId IS UNIQUE;

// Everything below an agent is keyed by its history.
CREATE CONSTRAINT stateweave_node_id IF NOT EXISTS
FOR (n:CausalNode) REQUIRE (n.history, n.id) IS UNIQUE;

CREATE CONSTRAINT stateweave_commit_revision IF NOT EXISTS
FOR (c:Commit) REQUIRE (c.history, c.revision) IS UNIQUE;

CREATE CONSTRAINT stateweave_commit_id IF NOT EXISTS
FOR (c:Commit) REQUIRE (c.history, c.commitId) IS UNIQUE;

// The hash of a key stands for it: Neo4j refuses indexed texts over about 8 kB.
CREATE CONSTRAINT stateweave_resource_key IF NOT EXISTS
FOR (r:ResourceKey) REQUIRE (r.history, r.keyHash) IS UNIQUE;

// Spans of a history: time travel, exports, parents by sequence.
CREATE INDEX stateweave_node_sequence IF NOT EXISTS
FOR (n:CausalNode) ON (n.history, n.sequence);

CREATE INDEX stateweave_failed_run IF NOT EXISTS
FOR (f:FailedRun) ON (f.history, f.position);

// A composite index is only used when all its properties are in the predicate: these serve queries that
// start at a history and know no more.
CREATE INDEX stateweave_agent_history IF NOT EXISTS
FOR (s:AgentState) ON (s.history);

CREATE INDEX stateweave_node_history IF NOT EXISTS
FOR (n:CausalNode) ON (n.history);

CREATE INDEX stateweave_commit_history IF NOT EXISTS
FOR (c:Commit) ON (c.history);

CREATE INDEX stateweave_resource_history IF NOT EXISTS
FOR (r:ResourceKey) ON (r.history);

// Histories that are being brought in, and those that are being swept.
CREATE CONSTRAINT stateweave_staged_history IF NOT EXISTS
FOR (s:StagedHistory) REQUIRE s.history IS UNIQUE;

CREATE CONSTRAINT stateweave_deleted_history IF NOT EXISTS
FOR (s:DeletedHistory) REQUIRE s.history IS UNIQUE;

CREATE INDEX stateweave_staged_key IF NOT EXISTS
FOR (s:StagedHistory) ON (s.key);

CREATE INDEX stateweave_staged_lease IF NOT EXISTS
FOR (s:StagedHistory) ON (s.leaseUntil);

CREATE INDEX stateweave_deleted_lease IF NOT EXISTS
FOR (s:DeletedHistory) ON (s.leaseUntil);

// The version of this schema.
CREATE CONSTRAINT stateweave_schema IF NOT EXISTS
FOR (v:StateWeaveSchema) REQUIRE v.name IS UNIQUE;
