// Package execution executes the code of runs. One execution replays the run's record, performs what is new, and ends at
// rest: the run has ended, waits, or continues elsewhere.
//
//	pattern code ──Do(effect)──▶ branch ──▶ Record: intent ──▶ perform: model, permit, person, caller, timer
//	      ▲                        │                                   │
//	      └────── outcome ◀── Record: outcome ◀── result, time-out or deadline, whichever comes first
//
// A [Life] is one execution of a run's pattern code. Its branches are goroutines, and only one of them runs pattern code
// at a time. That branch holds a lock of the life, the baton, and releases it while an effect is performed. Branches
// begin in the order in which the code starts them. Time-outs return in the order in which they fell due. A run
// therefore does not depend on Go's scheduler.
//
// A Flow ([patterns.Run]) runs bodies that can start further bodies. The bodies may depend on each other's results, so a
// replay must continue them in the same order. Each outcome is recorded when it comes. The bodies continue in the order
// of the recorded outcomes, each up to its next outcome. When a body ends, the code is asked for more bodies before any
// other body continues. A later life returns the recorded outcomes in that order. New outcomes follow them.
//
// A deadline ends the wait for an effect, whatever the callee does. A configured tool that changes something gets 50 ms
// more to report that nothing was sent. The goroutine of the effect is left behind. A late result is recorded as late and
// not used, unless it says that nothing was sent.
//
// A run that waits has no life. When it continues, the outcome that it waited for is in the run's record, or the new
// life records that the wait has expired. The new life executes the code from its start. A dry replay comes first
// ([Run.Rehearse]): it uses recorded outcomes alone, to check whether code and record fit. Then the code runs again:
// recorded outcomes are returned, and the rest is performed. A process takes over a run of another process in the same
// way. The dry replay also shows a run that waits. It shows a run in progress too, if its code reports its state
// ([patterns.Run]'s Shows).
//
// Two functions run pattern code without a life: [Replay] runs the record of an ended run again, and [DryRun] judges the
// calls of an intent without calling anything.
//
// A life knows no engine. It needs two things. A [Host] does what only the engine can do for the run. A [Backing] decides
// how a run's changes take effect: in the transactions of a store ([Stored]) or at once ([InMemory]).
//
// Read carry.go first, then branch.go, and again.go for a run that continues.
package execution
