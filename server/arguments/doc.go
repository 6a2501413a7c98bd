// Package arguments reads what a tools/call asks for. It declares the arguments of each tool, publishes their schemas,
// decodes what a client sends, and lists every problem with a fix where one is certain.
//
//	patterns.Spec ──▶ rows ────▶ Reader ──▶ Take ──▶ Call ──▶ Task, for the engine
//	      │                                  │
//	      └──▶ Schema, for clients           └──▶ problems ──▶ Repaired, the call to send instead
//
// The rows of a [Reader] decide about the arguments, in the order of the contract. The published schema is only for
// readers, and tests compare the two. The gate judges the content of a plan, a route or actions, so this package only
// finds them in the call.
//
// The package also reads the calls of tools that are no pattern, such as list_runs, with [ReadTable]. It runs nothing
// and knows no server.
//
// What differs between the kinds of patterns is one [form] for each, in decompose.go, orchestrate.go, route.go,
// supervise.go, plan_arguments.go and single.go.
//
// Read reader.go first, then request.go and kinds.go. Schemas are in schema.go, fixes are in repair.go.
package arguments
