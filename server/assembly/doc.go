// Package assembly makes a running server from settings: its tools, its policies, its patterns, its models, and the jobs of
// recorded runs.
//
//	settings.Sources ──Load──► [Loaded] ──Declare──► [Declaration]: the tools, and the patterns with their policies and models
//	                              └──────Open──────► [Service]: the state file, the engine and the MCP server over it
//	a snapshot in a state file ──────────────────► [Declaration] of a run that began under another configuration
//
// Commands load a configuration to look at it, or open a service to serve it. A reload puts another configuration into the
// service. Read loaded.go first, then declared.go and service.go.
package assembly
