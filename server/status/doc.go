// Package status has the tools about runs and plans that exist already: run_status, run_wait, run_cancel, list_runs and
// the tool that shows plans. It also makes the page about a plan. None of them begins a run.
//
//	tools/call ─▶ arguments.ReadTable ─▶ answer ─▶ patterns.Engine ─▶ Snapshot, PlanState
//	                                                                       │
//	answer ◀─ Host.Show ◀─ Envelope ◀──────── Host.StateOf, planState ◀────┘
//
// A run is shown as the one that called it would see it, and only to its own principal. The package knows the server by
// [Host] only.
//
// Read tools.go first. Plans are in plan_status.go, plan_list.go and plan_page.go.
package status
