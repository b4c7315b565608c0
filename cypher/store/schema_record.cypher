// Record the version of the schema. Parameters: version.
MERGE (v:StateWeaveSchema {name: 'stateweave_graph'})
SET v.version = $version
