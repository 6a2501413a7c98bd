// Package buildinfo returns which Patterngate this is: its version, its commit, the Go that built it, and the MCP revisions
// that it speaks. The server, the MCP clients and the commands name themselves with it.
//
//	-ldflags, debug.ReadBuildInfo ──Read──► [Info] ──► server, clients, "patterngate version"
//
// Read buildinfo.go.
package buildinfo
