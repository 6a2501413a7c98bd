// Package server is the MCP interface of Patterngate. It reads a tools/call, has the engine execute the run, and presents
// the result.
//
//	stdin, POST ─▶ transport ─▶ mcp-go ─▶ tool ──take──▶ call ──▶ patterns.Engine ──▶ Ended
//	                  │                    │                          │                │
//	                  │                    ├─ refused: problems ──────┼────────────────┤
//	                  │                    └─ progress ◀──────────────┘                ▼
//	stdout, reply ◀───┴─────────────────────── structuredContent and text ◀──────── Envelope
//
// [New] declares and compiles everything: schemas from Go structs and the patterns' allowlists, annotations from the
// effects of the tools, and instructions from the listed tools. The server checks what a client sends against the tool's
// own argument table. It does not use the published schema for that; the schema is advice. The gate decides whether an
// intent is valid.
//
// A run that stops is an ordinary result. Only a request with problems is an error result. Only an internal fault
// outside a run is a protocol error. The causes of faults go only to the log, under an opaque id.
//
// Reading order:
//   - server.go and tools.go.
//   - request.go: reading a call.
//   - run.go: executing it.
//   - envelope.go: presenting the result.
//   - runs_tools.go: tools for runs that exist already.
//   - resources.go and prompts.go: information that a client can read before it runs anything.
//
// Package [patterngate/server/transport] receives and sends the messages.
package server
