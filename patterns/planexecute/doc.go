// Package planexecute holds the pattern that works on a stored plan: it makes a plan of subtasks, executes them as soon as what they
// depend on is done, and changes the plan where it failed (spec/planning-reference.md section 15).
//
//	decompose ──► plan, revision 1 ──► execute ──► every subtask is done, failed, skipped, blocked or in doubt
//	                                     ▲                      │
//	                                     └── plan, revision 2 ◄─┴── replan
//
// Each arrow is a run of its own. The engine keeps the plan between them, see [patterns.StoredPlan].
//
// Read plan.go first, then execute.go and schedule.go.
package planexecute
