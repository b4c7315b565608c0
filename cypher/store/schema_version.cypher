// The version of the schema that is there.
MATCH (v:StateWeaveSchema {name: 'stateweave_graph'})
RETURN v.version AS version
