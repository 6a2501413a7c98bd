// Package expr compiles and evaluates the expressions of a configuration: CEL texts over variables whose types come from JSON schemas.
// It says what is wrong with a text in words, at its place, before the text is used.
//
//	JSON schema ──FromSchema──► Type ──► Variable ─┐
//	text ──────────────────────────────────────────┴─ Scope.Compile ──► Expression ──Eval──► decoded JSON
//	                                                       │
//	                                                       └──► Fault: the place, the reason, what to write instead
//
//	text ── Checker.Check ──► Checked: syntax tree, type ──► Program ──Eval──► CEL value
//
// [Scope] is enough for most uses. [Checker] is for package policy, which looks into the syntax tree of a rule and gives it values that
// are made when the rule reads them.
//
// An expression sees only the values that it is given. It has no clock, network or file. Its cost is limited to [MaxCost] units, and
// arguments that make one function slow are refused (bounds.go).
//
// Int and double never mix. JSON has one kind of number, so the type in the schema decides which of both a number is. Inputs and results
// are decoded values as package ijson makes them.
//
// Expressions do not change after they are compiled, and are safe for concurrent use. Read compile.go first.
package expr
