// Package planclaims decides which run holds a stored plan. A plan belongs to at most one run at a time:
//
//	free ──load with claim──▶ run ──commit, release──▶ free
//	                           │ it waits, and another loads it over it
//	                           ▼
//	              run: the other, under: the waiting one ──release, or the other ends without a commit──▶ run: the waiting one
//	                           │ commit
//	                           └──▶ the waiting one has lost it and is canceled in the same transaction
//
// While a run is under another, no process takes it, whatever happens to what it waits for. Only a cancellation ends it
// at once. It then has the plan again, and the other's commit is a conflict.
//
// A decision writes nothing. It reads one state of the store and returns steps: conditions that must still hold, and
// changes. The caller makes them a part of a [store.Change], which is refused if a plan has changed since.
//
// Read claims.go first, then act.go.
package planclaims
