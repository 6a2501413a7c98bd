// Package planexecute holds the pattern that works on a stored plan. It makes a plan of subtasks and executes each subtask when
// those it depends on are done. It changes the plan after a failure (spec/planning-reference.md section 15).
//
//	decompose ──► plan, revision 1 ──► execute ──► every subtask is done, failed, skipped, blocked or in doubt
//	                                     ▲                      │
//	                                     └── plan, revision 2 ◄─┴── replan
//
// Each arrow is a run of its own. An execution may also replan by itself, if its call asks for that. The engine keeps the plan
// between runs, see [patterns.StoredPlan].
//
// Read plan.go first, then execute.go and schedule.go.
package planexecute
