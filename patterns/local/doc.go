// Package local is the engine in this process. It begins runs, waits for them, shows them, and continues those that are
// ready. Package execution executes the code of a run.
//
//	Start, Continue ──▶ Engine ──▶ keeper: begin, take ──▶ execution.Life ──▶ keeper: park, finish ──▶ the waiting caller
//	                                  ▲
//	          scheduler, Advance ─────┘ claim: what is ready, due, or left by a process that has died
//
// A keeper keeps the runs of an engine. There are two: inMemory keeps them in this process, and file keeps them in a
// store that several processes share, usually a state file. What both can do is the interface in keeper.go. A run
// (run.go) is the engine's state of one run that is active in this process. It is the [execution.Host] of the run's lives.
//
// People and operators act on runs through [Engine.Approvals] and [Engine.Operator]. They change the store. The next
// process whose scheduler looks at the store continues the run.
//
// Read engine.go first, then keeper.go. How a run continues after a crash: scheduler.go finds it, claim.go takes it, and
// load.go checks it.
package local
