// Package patterns holds the agent patterns and the ports they stand on.
//
//	Task ──▶ Decompose | Orchestrate | Route | Supervise | Plan ──▶ Result
//	             │   ▲
//	   Effect    │   │ Outcome          Run: the world as pattern code sees it
//	             ▼   │
//	         an engine (patterns/local): records the intent, acts, records the outcome
//	             │        │         │            │
//	           Model   Permit    Approver     the caller     stored plans
//
// Pattern code is written once, in direct style: propose, judge, call, combine. It has no clock, goroutine, random
// number, map order, environment or network of its own and learns everything from its [Run], so any engine can run
// it again over recorded outcomes and arrive at the same [Result]. It calls tools only through a
// [gateway.Permit], which only the gateway makes.
//
// Reading order: run.go (the port), effects.go (what stands on it), log.go (what a run remembers), route.go (the
// smallest pattern), decompose.go, orchestrate.go and dispatch.go, supervise.go, settle.go (calls in doubt); plan.go, plan_execute.go and
// plan_schedule.go (subtasks that begin as soon as they may), planning.go (a plan's values).
package patterns
