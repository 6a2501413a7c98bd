// Package policy holds what a configuration computes about calls: typed expressions, checked against schemas before they are
// used, and policies, the rules by which calls are judged. It is the one home of CEL (spec/config.md sections 4 to 6).
//
//	JSON schema ──FromSchema──► Type ──► Variable ┐
//	text ─────────────────────────────────────────┴─NewScope, Compile──► Expression ──Eval──► decoded JSON
//	                                                        │
//	                                                        └─► Fault: where, what is wrong, what is right
//
//	once text       ──Once──────► the business key of a call
//	reconcile texts ──Reconcile─► [Look]: what to ask, whether it happened, what it returned
//	output texts    ──Output────► the observation of an http tool
//
//	Source and Reach ──New──► Policy ──For(pattern)──► Judge: a gateway.Reviewer
//	                            │                        └─ Review: args, vars and calls before ──rules──► block, revise, escalate, approve
//	                            └─Test(row)──► Result
//
// A text of a policy is compiled once for each set of types that it meets, and what it reads is made when it is first read: a pass
// costs what the rules for one tool read. What cannot be evaluated blocks.
//
// An expression sees only the values that it is given: there is no clock, network or file, and what it may cost is bounded.
// Whole and fractional numbers never mix: JSON has one kind of number, so the schema's type decides which of both a value is.
// What goes in and what comes out are decoded values as package ijson makes them.
//
// Expressions are fixed once compiled and safe for concurrent use. Nothing here is set up before the first is compiled.
package policy
