// Package local carries out runs in this process.
//
//	pattern code ──Do(effect)──▶ life ──▶ record: intent ──▶ perform: model, permit, person, caller, timer
//	      ▲                       │                                   │
//	      └────── outcome ◀── record: outcome ◀── result, time-out or deadline, whichever comes first
//
// A life is one execution of a run. Its branches are goroutines of which only one at a time runs pattern code: it
// holds the life's baton and gives it away while an effect is performed. Branches begin in their order, and time-outs
// come back in the order in which they fell due, so a run does not depend on the scheduler.
//
// A deadline returns control at once, whatever the callee does: the effect's goroutine is left behind and its late
// result is recorded as late and never used. The record is what [Replay] runs a pattern against a second time.
package local
