// Package tools reads the catalog section of a configuration file: MCP servers, HTTP services, their tools, and where secrets are.
// It holds values only. It reads no secret, starts no program and opens no connection.
//
//	catalog: ──CatalogKey──► Catalog ─┬─ Server ─── ServerTool
//	                                  ├─ HTTPTool ─ Request
//	                                  └─ SecretRef: env:NAME, file:PATH or a program
//
// Read catalog.go first.
package tools
