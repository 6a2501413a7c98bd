// Package catalog holds the tools that may be called: what they accept and return, and what a call of them can change.
//
//	Go structs ──SchemaOf──► Schema ┐                           ┌─► Signature, Properties   a proposer reads what there is
//	JSON text ──CompileSchema──► ───┼─► Tool ──New──► Catalog ──┼─► Schema.Check            the gate judges arguments and results
//	func(ctx, In, Call) ──Typed───► ┘                           └─► Tool.Do                 only a permitted call gets here
//
// A tool may declare a [Reconcile]: the read that finds out whether one of its calls happened when the outcome is
// unknown.
//
// The catalog permits nothing and applies no policy; the packages above it do that. It never guesses: a schema that
// does not compile, a recursive Go type and a tool without an effect are errors at start, not at the first call.
//
// Values are decoded JSON as package ijson makes it. Schemas, tools and catalogs do not change once made and are safe
// for concurrent use.
package catalog
