// Package server is the MCP surface: it takes a tools/call, has its run carried out and presents how it ended.
//
//	stdin, POST ─▶ transport ─▶ mcp-go ─▶ tool ──take──▶ call ──▶ patterns.Engine ──▶ Ended
//	                  │                    │                          │                │
//	                  │                    ├─ refused: problems ──────┼────────────────┤
//	                  │                    └─ progress ◀──────────────┘                ▼
//	stdout, reply ◀───┴─────────────────────── structuredContent and text ◀──────── Envelope
//
// Everything is declared and compiled by [New]: schemas from Go structs and the patterns' allowlists, annotations from
// the tools' effects, instructions from what is listed. What a client sends is checked here against the tool's own
// table, never against the published schema, which is advice; whether an intent is right is the gate's to say.
//
// A run that stops is a result like any other. Only a request that does not fit is an error result, and only what is
// our own fault outside a run is a protocol error; the causes of faults go to the log alone, under an opaque id.
//
// Reading order: server.go, tools.go, request.go (what is taken), run.go (what is done), envelope.go (what is shown),
// runs_tools.go (what is done with runs that were begun); describe.go, resources.go and prompts.go (what is told before
// anything is run). How messages get in and out is in package [patterngate/server/transport].
package server
