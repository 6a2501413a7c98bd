// Package policy compiles the texts of a configuration into functions. Some judge tool calls; others compute values
// from calls and their results (spec/config.md sections 4 to 7). Package expr compiles and evaluates the single
// expressions.
//
//	Source, Reach ──New──► Policy ──For(pattern)──► Judge, a gateway.Reviewer
//	                          │                        └─ Review: args, vars and earlier calls ──rules──► block, revise, escalate, approve
//	                          ├─Test(row)──► Result
//	                          └─Cover──► which rules are ever true, and which ever decide
//
//	once text       ──Once──────────► the business key of a call
//	reconcile texts ──Reconcile─────► [Look]: what to ask about an unknown outcome, whether the call happened, what it returned
//	output texts    ──Output────────► the observation of an http tool
//	aggregate texts ──NewAggregate──► the joined result of an orchestrator's workers
//	reroute text    ──NewReroute────► whether another route takes over
//
// A text of a policy is compiled once for each set of types. A value that it reads is computed at the first read, so a
// review only costs what the rules for one tool read. A rule that cannot be evaluated blocks the call.
//
// Policies, judges and functions do not change after they are compiled, and are safe for concurrent use. Read rules.go
// first, then review.go.
package policy
