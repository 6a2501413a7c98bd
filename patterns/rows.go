package patterns

import (
	"patterngate/gateway"
	"patterngate/gateway/document"
)

// CallRow is the trace row of a single call.
type CallRow struct {
	Tool             string `json:"tool"`
	ArgsHash         string `json:"args_hash"`
	OK               bool   `json:"ok"`
	Attempts         int    `json:"attempts,omitempty"` // if the call was repeated
	ObservationError string `json:"observation_error,omitempty"`
	StopReason       string `json:"stop_reason,omitempty"`

	HumanApproval *HumanApproval `json:"human_approval,omitempty"` // if a person was asked
}

// StepRow is a trace row of task decomposition: one attempted step.
type StepRow struct {
	StepNo           int    `json:"step_no"`
	StepID           string `json:"step_id"`
	Tool             string `json:"tool"`
	ArgsHash         string `json:"args_hash"`
	OK               bool   `json:"ok"`
	Attempts         int    `json:"attempts,omitempty"` // if the call was repeated
	ObservationError string `json:"observation_error,omitempty"`
	StopReason       string `json:"stop_reason,omitempty"`

	HumanApproval *HumanApproval `json:"human_approval,omitempty"` // if a person was asked
}

// StepDone is a history row of task decomposition: one executed step.
type StepDone struct {
	StepNo      int          `json:"step_no"`
	PlanStep    gateway.Step `json:"plan_step"`
	Observation any          `json:"observation"`
}

// TaskTrace is a trace row of an orchestrator. stop_reason is null for a done task.
type TaskTrace struct {
	TaskID           string             `json:"task_id"`
	Worker           string             `json:"worker"`
	Status           string             `json:"status"`
	AttemptsUsed     int                `json:"attempts_used"`
	Retried          bool               `json:"retried"`
	ArgsHash         string             `json:"args_hash"`
	StopReason       *string            `json:"stop_reason"`
	Critical         bool               `json:"critical"`
	ObservationError string             `json:"observation_error,omitempty"`
	Problems         []document.Problem `json:"problems,omitempty"`
	HumanApproval    *HumanApproval     `json:"human_approval,omitempty"` // if a person was asked
	ChildRunID       string             `json:"child_run_id,omitempty"`   // of the newest attempt that began a run
}

// RouteRow is a trace row of routing: one attempt to pass the ticket to a target.
type RouteRow struct {
	Attempt          int    `json:"attempt"`
	Target           string `json:"target"`
	ArgsHash         string `json:"args_hash"`
	OK               bool   `json:"ok"`
	Status           any    `json:"observation_status,omitempty"`
	Domain           any    `json:"domain,omitempty"`
	Attempts         int    `json:"attempts,omitempty"` // if the call was repeated
	ObservationError string `json:"observation_error,omitempty"`
	StopReason       string `json:"stop_reason,omitempty"`

	HumanApproval *HumanApproval `json:"human_approval,omitempty"` // if a person was asked
	ChildRunID    string         `json:"child_run_id,omitempty"`   // if the call began a run
}

// Delegation is a history row of routing: one target's answer.
type Delegation struct {
	Attempt     int            `json:"attempt"`
	Route       map[string]any `json:"route"`
	Observation any            `json:"observation"`
}

// ActionRow is a trace row of the supervisor: one proposed action, whether it was executed or not.
type ActionRow struct {
	Step             int            `json:"step"`
	Tool             string         `json:"tool"` // "final" for the closing answer
	ArgsHash         string         `json:"args_hash,omitempty"`
	Decision         string         `json:"supervisor_decision"`
	ExecutedFrom     string         `json:"executed_from"`
	OK               bool           `json:"ok"`
	HumanApproved    *bool          `json:"human_approved,omitempty"`
	HumanApproval    *HumanApproval `json:"human_approval,omitempty"` // of a refusal
	Reason           string         `json:"reason,omitempty"`         // of a block
	Need             []string       `json:"need,omitempty"`           // calls that must come first
	Attempts         int            `json:"attempts,omitempty"`       // if the call was repeated
	ObservationError string         `json:"observation_error,omitempty"`
	StopReason       string         `json:"stop_reason,omitempty"`
}

// Reviewed is the supervisor's decision about an action.
type Reviewed struct {
	Decision      string   `json:"decision"`
	Reason        string   `json:"reason"`
	RevisedAction any      `json:"revised_action,omitempty"`
	Revisions     []string `json:"revisions,omitempty"`
}

// ActionDone is a history row of the supervisor: one executed action.
type ActionDone struct {
	Step         int            `json:"step"`
	Action       map[string]any `json:"action"`
	Supervisor   Reviewed       `json:"supervisor"`
	Executed     map[string]any `json:"executed_action"`
	ExecutedFrom string         `json:"executed_from"`
	Observation  any            `json:"observation"`
	Human        *HumanApproval `json:"human_approval,omitempty"`
}
