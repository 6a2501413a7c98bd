// Package catalog holds what may be called: tools, what they take and return, and what a call of them can change.
//
//	Go structs ──SchemaOf──► Schema ┐                           ┌─► Signature, Properties   a proposer reads what there is
//	JSON text ──CompileSchema──► ───┼─► Tool ──New──► Catalog ──┼─► Schema.Check            the gate judges arguments and results
//	func(ctx, In, Call) ──Typed───► ┘                           └─► Tool.Do                 only a permitted call gets here
//
// A tool may declare a [Reconcile]: the read that tells whether one of its calls happened whose outcome was lost.
//
// The catalog permits nothing and judges no policy: that is the floor above. It never guesses either: a schema that does
// not compile, a recursive Go type and a tool without an effect are errors at start, not surprises at the first call.
//
// Values are decoded JSON as package ijson makes it. Schemas, tools and catalogs are fixed once made and safe for
// concurrent use.
package catalog
