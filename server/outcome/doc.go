// Package outcome makes a result of a run: it says what was done and why the run stopped or waits, and it advises what
// to do next. Each function returns an [envelope.Envelope].
//
//	call and patterns.Ended ──▶ account ─┬─▶ summary: what was decided, done and written
//	                                     ├─▶ next:    the one thing to do now, perhaps a repaired call
//	                                     └─▶ members: effects, trace, waiting_for, block, plan
//
// An account uses only what the run's record has. It never repeats a model's words as facts. Once a call wrote
// something, or may have, the advice offers nothing that could repeat it.
//
// Read outcome.go first, then summary.go and next.go. A run that waits is in waiting.go. Results of planning are in the
// files that begin with plan.
package outcome
