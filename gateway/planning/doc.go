// Package planning judges plans of subtasks. It says in which order the subtasks run, and it shows a plan whole to the person who
// approves it.
//
//	document.Intent ──ParseSubtasks──▶ Document ──NewGraph──▶ Graph: what runs after what
//	                       │               │
//	                       │               └──NewEnvelopeStep──▶ Envelope ──Value──▶ gateway.Question ──▶ a person
//	                       ▼                                        │                                       │ approves
//	              document.Refusal         AdmitShared ──Covers─────┴───── ApprovedPlan ◀──ReadEnvelope─────┘
//
// [ParseSubtasks] accepts exactly the plans that spec/planning-reference.md section 15 accepts, in its order, and lists every problem.
// [Resolve] puts results in the place of references when a subtask runs. [FitsExpect] judges the result that a caller sends for
// a subtask. [AdmitShared] admits a call that a person approved as a step of a plan.
//
// Read document.go first: it parses a plan and calls the checks.
package planning
