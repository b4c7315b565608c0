// question: Which agents have the longest histories?
// parameters: none
// columns: agent, revision, nodes
// example: stateweave-graph query agents-by-size
MATCH (s:AgentState)
RETURN s.agentId AS agent, s.revision AS revision, s.nodeCount AS nodes
ORDER BY nodes DESC, agent
