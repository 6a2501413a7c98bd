// Package store is the port between the engine and the place where runs are kept. It has no SQL and no engine.
//
//	engine ──Change: fence, guards, writes, events──► store: all of it in one transaction, or nothing ──► done: nil, Refused, or an error
//
// A [Change] is a value. Its steps say what must hold and what is written, so that a store can make one transaction, one statement or one
// batch of it. A step never calls back into the engine, but for [WindowHolds].
//
// Numbers of runs, approvals and plans are the ids of package patterns/journal. Times are microseconds since 1970, and 0 is no time.
//
// Read change.go first.
package store
