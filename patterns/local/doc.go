// Package local carries out runs in this process, and keeps them in memory or in a state file that several processes share.
//
//	pattern code ──Do(effect)──▶ life ──▶ record: intent ──▶ perform: model, permit, person, caller, timer
//	      ▲                       │                                   │
//	      └────── outcome ◀── record: outcome ◀── result, time-out or deadline, whichever comes first
//
// A life is one execution of a run. Its branches are goroutines of which only one at a time runs pattern code: it
// holds the life's baton and gives it away while an effect is performed. Branches begin in their order, and time-outs
// come back in the order in which they fell due, so a run does not depend on the scheduler.
//
// The bodies of a Flow may depend on each other's results, so more must be the same on a replay: the order in which they go
// on. Each outcome is recorded when it comes; its body goes on in the order of the record, up to its next outcome, and if it
// ends there the code is asked for more bodies before any other goes on. In a later life recorded outcomes are given back
// in that order, and what is new comes after them.
//
// A deadline returns control at once, whatever the callee does: the effect's goroutine is left behind and its late
// result is recorded as late and never used.
//
// A run that waits has no life. What it waited for is appended to its record, and it is lived again from its start: first
// dry, over what is recorded alone, to see whether code and record fit; then live, where recorded outcomes are given back
// and the rest is performed. That is also how a run goes on that another process left behind, and how one is shown that
// rests, or while it goes on where its code says how ([patterns.Run]'s Shows).
//
//	Engine ──▶ keeper ─┬─▶ inMemory: shelves of runs
//	                   └─▶ file: rows and events ──▶ store.Change ──▶ package store/sqlite
//
// In a state file a run is a row and a hash-chained list of events. A locked file beside it says that an owner lives, the
// row's epoch keeps an owner out that is none any more. Intents and outcomes of calls that change something are on the
// disk before anybody goes on; the rest is handed to the system and may lose its last moment when the power fails.
package local
