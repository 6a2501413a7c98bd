// Package planning judges plans of subtasks. It also orders the subtasks and shows a whole plan to the
// person who approves it.
//
//	document.Intent ──ParseSubtasks──▶ Document ──NewGraph──▶ Graph: which subtask runs after which
//	                        │              │
//	                        │              └──NewEnvelopeStep──▶ Envelope ──Value──▶ gateway.Question ──▶ a person
//	                        ▼                                                                              │ approves
//	                document.Refusal      a call ──AdmitShared──▶ Permit ◀── ApprovedPlan ◀──ReadEnvelope──┘
//
// [ParseSubtasks] accepts exactly the plans that spec/planning-reference.md section 15 accepts, in its order, and lists every problem.
// [Resolve] puts results in the place of references when a subtask runs. [FitsExpect] judges the result that a caller sends for
// a subtask. [AdmitShared] admits a call that a person approved as a step of a plan.
//
// Read document.go first: it parses a plan and calls the checks.
package planning
