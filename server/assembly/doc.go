// Package assembly makes a running server of settings: its tools, its policies, its patterns, its models, and the jobs of
// recorded runs.
//
//	settings.Sources ──Load──► [Loaded] ──Declare──► [Declaration]: patterns and tools, each with its policy and its model
//	                              └──────Open──────► [Service]: the state file, the engine and the MCP server over it
//	a snapshot in a state file ──────────────────► [Declaration] of a run that began under another configuration
//
// Commands load a configuration to look at it, or open a service to serve it. A reload puts another configuration into the
// service. Read loaded.go first, then declared.go and service.go.
package assembly
