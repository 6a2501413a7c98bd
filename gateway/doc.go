// Package gateway is the policy boundary: nothing that a model or a caller proposes reaches a tool without it.
//
//	document.Intent ──ParsePlan──▶ Plan ──Gate.Admit──▶ Permit ──Perform──▶ Done ──Gate.Note──▶ ledger
//	                  ParseTasks              │   │
//	                  ParseRoute              │   └─ Reviewer: the policy
//	                  ParseAction             ▼
//	                       │                Stop: a stop reason, problems
//	                       └──▶ document.Refusal
//
// [Gate.Admit] judges a call by the budget, the allowlists, the catalog, the calls made so far and the policy. Package
// gateway/planning parses plans of subtasks.
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
