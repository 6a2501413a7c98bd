// Package settings reads a whole configuration and checks it across keys. The result is a checked document of values, each with its
// place in the file. Package cli makes a running server from it.
//
//	default.yaml ─► file ─► environment ─► flags ─► checks across keys ─► Document = Config + places
//	                 │
//	                 ├─ catalog:  package tools
//	                 ├─ policies: package rules
//	                 └─ patterns: and all other sections: this package, keys.go
//
// The JSON schema (schema.go) and the texts that show a configuration (show.go, places.go) come from the same keys. Read config.go
// first, then keys.go.
package settings
