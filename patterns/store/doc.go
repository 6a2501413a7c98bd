// Package store is the port between the engine and the store of runs. It contains no SQL and no engine.
//
//	engine ──Change: fence, guards, writes, events──► store: all of it in one transaction, or nothing ──► done: nil, Refused, or an error
//
// A [Change] is a value. Its steps are conditions and writes, so a store can turn it into one transaction, one
// statement or one batch. Only the step [WindowHolds] calls back into the engine.
//
// Numbers of runs, approvals and plans are the ids of package patterns/journal. Times are microseconds since 1970, and
// 0 is no time.
//
// Read change.go first.
package store
