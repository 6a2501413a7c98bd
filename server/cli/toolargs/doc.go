// Package toolargs reads the arguments of a tool call as a person types them in a shell. A word is key=value, key:=JSON
// or key=@file, and --args takes a whole object. The tool's schema gives each value its type.
//
//	words ──[Read]──► given ──schema, [ReadTypes]──► one JSON object
//
// Read read.go first, then types.go.
package toolargs
