// Package gateway is the policy boundary. Every call that a model or a caller proposes passes through it before it
// reaches a tool.
//
//	document.Intent ──ParsePlan──▶ Plan ──Gate.Admit──▶ Permit ──Perform──▶ Done ──Gate.Note──▶ ledger
//	                  ParseTasks              │   │
//	                  ParseRoute              │   └─ Reviewer: the policy
//	                  ParseAction             ▼
//	                       │                Stop: a stop reason, problems
//	                       └──▶ document.Refusal
//
// [Gate.Admit] checks a call against the budget, the allowlists, the catalog, the calls made so far and the policy.
// Package gateway/planning parses plans of subtasks.
//
// A [document.Intent] is untrusted. The four parsers accept exactly what the contract accepts, in its order
// (spec/patterns.md sections 2-5 under section 0). They list every fault; the stop reason names the first.
//
// A [Permit] is proof that a call was admitted. Only a [Gate] makes one, and only a Permit can be performed. Its zero
// value permits nothing. A [Ruling] is proof of a review in the same way, and its zero value blocks. All counters are
// values of one run, and a replay rebuilds them.
//
// A Permit carries its [Judgment] into the record. If the outcome of a call was lost, [Gate.Reconcile] permits the
// look-up that its tool declares.
//
// The registry [stopreason.All] lists every string that may end a run.
package gateway
