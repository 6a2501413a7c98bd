// Package store is the interface between the engine and the store of runs. It contains no SQL and no engine.
//
//	engine ──Change: fence, guards, writes, events──► store: all of it in one transaction, or nothing ──► done: nil, Refused, or an error
//
// A [Change] is a value. Its fence is the epoch of a run: a process that has lost the run has an old epoch and changes
// nothing. Its steps are guards, which are conditions on rows, and writes. So a store can turn a change into one
// transaction, one statement or one batch. Only the step [WindowHolds] calls back into the engine.
//
// Runs, approvals and plans have numbers. Package patterns/journal turns a number into the id that people see. Times are
// microseconds since 1970, and 0 is no time.
//
// Read change.go first.
package store
