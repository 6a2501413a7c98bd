// Package planclaims decides which run holds a stored plan. A plan belongs to at most one run at a time:
//
//	free ──load with claim, create with keep──▶ holder ──release, commit without keep──▶ free
//	                                              │ it waits, and another run claims the plan meanwhile
//	                                              ▼
//	                    holder: the other run, under it: the waiting run ──release, or an end without a commit──▶ holder: the waiting run
//	                                              │ commit
//	                                              └──▶ the waiting run has lost the plan and is canceled in the same transaction
//
// While a run waits under another one, no process continues it, whatever happens to what it waits for. Only canceling
// the waiting run ends this at once: it gets the plan back, and the holder's commit is refused as a conflict.
//
// A decision writes nothing. It reads one state of the store and returns steps: conditions that must still hold, and
// changes. The caller makes them a part of a [store.Change], which is refused if a plan has changed since.
//
// Read claims.go first, then act.go. join.go decides whether an equal call may join a run that has lost its plan.
package planclaims
