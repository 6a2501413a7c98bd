// Package transport carries MCP messages between clients and a server, over stdio and over HTTP.
//
//	stdin ──lines──▶ frame ──▶ flight ───────────┐
//	                                             ▼
//	                                          mcp-go ──▶ tools, resources and prompts of the host
//	                                             ▲
//	POST ──guard──▶ token ──▶ frame ──▶ session ─┘
//
//	stdout, or the response ◀── bounded errors, encoded tool list ◀── answers and notifications
//
// mcp-go decodes the messages and calls the host's tools. This package does what mcp-go leaves open:
//
//   - It reads lines and bodies of bounded length, and refuses messages that two readers could understand in two ways.
//   - It limits the calls, requests, sessions, streams and connections that are open at once.
//   - It decides who may connect over HTTP: by host name, origin, OS user or bearer token.
//   - It keeps the order of the notifications of a call and its answer, and never waits for a client that does not read.
//   - It ends in order: when the input ends or the server stops, running calls get time to be answered.
//
// The server behind it is a [Host]. This package knows no tool, no run and no policy.
//
// Read transport.go first, then stdio.go and http.go.
package transport
