// Package call holds the command that calls one tool and prints its result.
//
//	key=value, files ──toolargs──▶ arguments ──typed by the tool's schema──▶ tools/call ──▶ result ──▶ text, next step, exit code
//	                                                                          │
//	    a server in this process ([Server]), at a URL, or started by a command line
//
// Whatever answers, the command speaks MCP with it. Read call.go first, then server.go.
package call
