// Questions to keep as favourites in Neo4j Browser; they are those of the README.
// :param agent => 'coding-agent'

// The turns of an agent: what it was asked, and what it answered
MATCH (s:AgentState {agentId: $agent})
MATCH (n:CausalNode) WHERE n.history = s.history AND n.kind IN ['goal', 'answer']
RETURN n.turn AS turn, n.kind AS kind, n.payload AS text
ORDER BY turn, n.sequence;

// How often each tool was called, and how often it failed
MATCH (s:AgentState {agentId: $agent})
MATCH (n:CausalNode) WHERE n.history = s.history AND n.kind = 'tool_result'
RETURN n.tool AS tool, count(*) AS calls, count(CASE WHEN n.succeeded = false THEN 1 END) AS failures
ORDER BY calls DESC, tool;

// How much of the history an answer rests on
MATCH (s:AgentState {agentId: $agent})
MATCH (a:CausalNode) WHERE a.history = s.history AND a.id = $answer
MATCH (a)-[:PARENT*1..]->(b:CausalNode)
RETURN count(DISTINCT b.sequence) AS causes;

// The versions of a file, newest first
MATCH (s:AgentState {agentId: $agent})-[:TRACKS]->(r:ResourceKey {key: $key})<-[v:VERSION_OF]-(n:CausalNode)
RETURN v.version AS version, n.operation AS operation, n.createdAt AS at
ORDER BY version DESC;

// The files with the most versions
MATCH (s:AgentState {agentId: $agent})-[:TRACKS]->(r:ResourceKey)
WHERE r.semanticType IS NULL
RETURN r.key AS path, r.versions AS versions
ORDER BY versions DESC, path
LIMIT 10;

// What the agent remembers
MATCH (s:AgentState {agentId: $agent})-[:TRACKS]->(r:ResourceKey)
WHERE r.semanticType IS NOT NULL
MATCH (n:CausalNode) WHERE n.history = s.history AND n.id = r.headId
RETURN r.semanticType AS type, r.semanticKey AS key, n.payload AS payload
ORDER BY type, key;

// Milliseconds from a call to its result, by tool
MATCH (s:AgentState {agentId: $agent})
MATCH (result:CausalNode) WHERE result.history = s.history AND result.kind = 'tool_result'
MATCH (result)-[:PARENT]->(call:CausalNode) WHERE call.kind = 'tool_call'
WITH result.tool AS tool, 1.0 * (result.createdAtMs - call.createdAtMs) AS ms
RETURN tool, count(*) AS calls, round(percentileCont(ms, 0.5), 1) AS p50, round(percentileCont(ms, 0.95), 1) AS p95
ORDER BY p95 DESC, tool;

// Commits with what they added
MATCH (s:AgentState {agentId: $agent})-[:COMMITTED]->(c:Commit)
RETURN c.revision AS revision, c.committedAt AS at, c.lastSequence - c.firstSequence + 1 AS nodes
ORDER BY revision DESC
LIMIT 20;

// The nodes that most others rest on directly
MATCH (s:AgentState {agentId: $agent})
MATCH (n:CausalNode) WHERE n.history = s.history
MATCH (n)<-[:PARENT]-(child:CausalNode)
RETURN n.sequence AS sequence, n.kind AS kind, count(*) AS children
ORDER BY children DESC, sequence
LIMIT 10;

// All agents by size
MATCH (s:AgentState)
RETURN s.agentId AS agent, s.revision AS revision, s.nodeCount AS nodes
ORDER BY nodes DESC, agent;
