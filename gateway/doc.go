// Package gateway is the policy boundary: nothing that a model or a caller proposes reaches a tool without it.
//
//	document.Intent        catalog, allowlists, budget          what was done so far
//	       │                             │                               │
//	   ParsePlan ──▶ Plan, Route, ──Gate.Admit──▶ Permit ──Perform──▶ Done
//	   ParseTasks    Action, ...       │    │                           │
//	   ParseRoute                      │    └─ Reviewer, to a fixed     ▼
//	   ParseAction                     ▼       point                Gate.Note: the ledger
//	       └──▶ document.Refusal     Stop (a stop reason, problems)
//
// A [document.Intent] is untrusted. The four parsers accept exactly what the contract accepts (spec/patterns.md sections
// 2-5 under section 0), in its order, and list every fault while the stop reason names the first. A [Permit] is
// proof: only [Gate] makes one, only a Permit can be performed, and its zero value permits nothing. So is a
// [Ruling]: its zero value blocks. All counters are values of one run, rebuilt when the run is replayed.
//
// A Permit carries its [Judgment] into the record. Of a call whose outcome was lost, [Gate.Reconcile] permits the
// look-up that its tool declares.
//
// Every string that may end a run stands in the registry, [stopreason.All].
package gateway
