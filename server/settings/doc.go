// Package settings reads a whole configuration and checks keys against each other. The result is a checked document of values, each
// with its place in the file. Package assembly makes a running server from it.
//
//	default.yaml, then the file, the environment and the flags over it ─► checks of keys against each other ─► Document = Config + places
//	      ├─ catalog:  package tools
//	      ├─ policies: package rules
//	      └─ patterns: pattern_keys.go; all other sections: keys.go
//
// The JSON schema (schema.go) and the texts that show a configuration (show.go, places.go) come from the same keys. Read config.go
// first, then keys.go.
package settings
