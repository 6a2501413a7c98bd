// Package toolargs reads the arguments of a tool call as a person types them at a shell: key=value, key:=JSON, key=@file, or a whole
// object with --args. The tool's schema gives each value its type.
//
//	words ──[Read]──► [Given] ──schema, [ReadTypes]──► one JSON object
//
// Read read.go first, then types.go.
package toolargs
