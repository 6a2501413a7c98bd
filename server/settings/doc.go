// Package settings reads a whole configuration and checks it across keys. It makes nothing of it: a file becomes a checked document of
// values, each with the place where it stands. Package cli makes a running server of it.
//
//	default.yaml ─► file ─► environment ─► flags ─► checks across keys ─► Document = Config + places
//	                 │
//	                 ├─ catalog:  package tools
//	                 ├─ policies: package rules
//	                 └─ patterns: and all other sections: this package, keys.go
//
// The same keys make the JSON schema (schema.go) and the texts that show a configuration (show.go, places.go). Read config.go first, then
// keys.go.
package settings
