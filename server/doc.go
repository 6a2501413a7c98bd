// Package server is the MCP interface of Patterngate. It declares the tools, resources and prompts, carries a tools/call
// to the engine, and returns the result.
//
//	stdin, POST ─▶ transport ─▶ mcp-go ─▶ tool ─▶ arguments ─▶ Call ─▶ patterns.Engine ─▶ Ended
//	                  │                             │                       │               │
//	                  │                             ├─ problems ────────────┼────────▶ outcome
//	                  │              progress ◀─────┼───────────────────────┘               │
//	stdout, reply ◀───┴──────────── structuredContent and text ◀────── envelope ◀───────────┘
//
// [New] declares and compiles everything: schemas from Go structs and the patterns' allowlists, annotations from the
// effects of the tools, and instructions from the listed tools. The server checks what a client sends against the tool's
// own argument table. It does not use the published schema for that; the schema is advice. The gate decides whether an
// intent is valid.
//
// A run that stops is an ordinary result. Only a request with problems is an error result. Only an internal fault
// outside a run is a protocol error. The causes of faults go only to the log, under an opaque id.
//
// Read server.go and tools.go first, then run.go. The parts are packages of their own:
//   - [patterngate/server/transport] receives and sends the messages.
//   - [patterngate/server/arguments] reads what a call says.
//   - [patterngate/server/outcome] makes a result of a run, and [patterngate/server/envelope] presents it.
//   - [patterngate/server/progress] sends lines while a call waits.
//   - [patterngate/server/status] has the tools about runs and plans that exist already.
//   - [patterngate/server/describe] lists what may be called.
package server
