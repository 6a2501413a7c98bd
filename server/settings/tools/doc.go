// Package tools reads the catalog section of a configuration file: the MCP servers and HTTP services of a team, their tools, and where
// secrets are. It holds values only. No secret is read here, and nothing is started or dialled.
//
//	catalog: ──CatalogKey──► Catalog ─┬─ Server ─── ServerTool
//	                                  ├─ HTTPTool ─ Request
//	                                  └─ SecretRef: env:NAME, file:PATH or a program
//
// Read catalog.go first.
package tools
