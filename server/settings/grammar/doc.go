// Package grammar describes the keys of a configuration file as values. A [Key] says how its value is read, shown and described. The
// parser, the suggestions for a misspelled key, the effective configuration, its hash, the JSON schema and docs/config.md all come from one list
// of keys.
//
//	seconds := time.Minute
//	keys := []grammar.Key{grammar.Seconds("timeout_seconds", &seconds, 3600).Means("How long one request may take.")}
//
//	yamldoc.Node ──Reader.Group(keys)──▶ the keys' targets     (what is wrong: Reader.Faults)
//	                     keys ──ValueOf, WriteYAML──▶ the values in force
//	                     keys ──SchemaOf──────────▶ what may be written
//
// The package knows no section of the file. Package settings collects the keys of all sections, and has the checks that concern several
// of them. Its test TestEveryKeyIsInAllFour checks that the parser, the schema, docs/config.md and config show have every key.
//
// Read example_test.go first, then key.go and reader.go.
package grammar
