// Package grammar describes the keys of a configuration file as values. A [Key] says how its value is read, shown and described. The
// parser, the names for suggestions, the effective configuration, its hash, the JSON schema and docs/config.md all come from one list
// of keys.
//
//	seconds := time.Minute
//	keys := []grammar.Key{grammar.Seconds("timeout_seconds", &seconds, 3600).Means("How long one request may take.")}
//
//	yamldoc.Node ──Reader.Group(keys)──▶ the keys' targets     (what is wrong: Reader.Faults)
//	                     keys ──ValueOf, WriteYAML──▶ the values in force
//	                     keys ──SchemaOf──────────▶ what may be written
//
// The package knows no section of the file: package settings has the table of all keys, and checks that concern several of them. A test
// there holds that each key is in all that is made of the table.
//
// Read key.go first, then reader.go.
package grammar
