// Package execution executes the code of runs. One execution replays the run's record, performs what is new, and ends at
// rest: the run has ended, waits, or continues elsewhere.
//
//	pattern code ──Do(effect)──▶ Life ──▶ Record: intent ──▶ perform: model, permit, person, caller, timer
//	      ▲                       │                                   │
//	      └────── outcome ◀── Record: outcome ◀── result, time-out or deadline, whichever comes first
//
// A [Life] is one execution of a run's pattern code. Its branches are goroutines, and only one of them runs pattern code
// at a time. That branch holds the baton, a lock of the life, and releases it while an effect is performed. Branches
// begin in their order. Time-outs return in the order in which they fell due. A run therefore does not depend on the
// scheduler.
//
// The bodies of a Flow may depend on each other's results. A replay must therefore continue them in the same order too.
// Each outcome is recorded when it comes. The bodies continue in the order of the recorded outcomes, each up to its
// next outcome. When a body ends, the code is asked for more bodies before any other body continues. A later life
// returns the recorded outcomes in that order. New outcomes follow them.
//
// A deadline returns control at once, whatever the callee does. The goroutine of the effect is left behind. Its late
// result is recorded as late and never used.
//
// A run that waits has no life. The outcome that it waits for is appended to the run's record, and a new life executes
// the code from its start. A dry replay comes first ([Run.Rehearse]): it uses recorded outcomes alone, to check whether
// code and record fit. Then the code runs again: recorded outcomes are returned, and the rest is performed. A process
// takes over a run of another process in the same way. The dry replay also shows a run that waits. It shows a run in
// progress too, if its code reports its state ([patterns.Run]'s Shows).
//
// A life knows no engine. It needs two things: a [Host] does what only the engine can do for the run, and a [Backing]
// says how what the run does takes effect: in the transactions of a store ([Stored]) or at once ([InMemory]).
//
// Read life.go first, then branch.go.
package execution
