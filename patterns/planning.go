package patterns

import (
	"time"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
)

// PlanVerb names the planning tool of a run.
type PlanVerb string

// The verbs of the planning tools. StatusVerb begins no run.
const (
	DecomposeVerb PlanVerb = "decompose"
	ExecuteVerb   PlanVerb = "execute"
	ReplanVerb    PlanVerb = "replan"
	StatusVerb    PlanVerb = "status"
)

// FailureStrategy says what happens to a run when a subtask fails.
type FailureStrategy string

// The failure strategies.
const (
	AbortOnFailure  FailureStrategy = "abort"
	SkipOnFailure   FailureStrategy = "skip"
	RetryOnFailure  FailureStrategy = "retry"
	ReplanOnFailure FailureStrategy = "replan"
)

// PlanCall is the request of one call of a planning tool. It is checked as far as this is possible without the plan. Task.Goal is its
// goal, Task.Finalize its finalize, and Task.Caller its own plan (one intent) or nil.
type PlanCall struct {
	Verb     PlanVerb
	PlanID   string // of decompose: the plan whose next round this is; "" for none
	Expected *int   // expected_revision; nil: any

	// For decompose:
	Strategy              planning.Strategy
	MaxDepth, MaxSubtasks int
	Context               string
	DryRun                bool

	// For execute:
	Concurrent int // subtasks at once; 1: in sequence
	OnFailure  FailureStrategy
	MaxRetries int
	RetryDelay time.Duration
	MaxSteps   int            // 0: no limit
	Results    map[string]any // the caller's results, decoded and in a valid form; nil: none

	// For replan:
	Reason, Failed, Hints string
}

// SubtaskStatus is the status of a subtask.
type SubtaskStatus string

// The statuses of a subtask. A stored plan has pending, completed, failed, skipped and in_doubt. The statuses in_progress and blocked
// follow from its run and from the other subtasks.
const (
	SubtaskPending   SubtaskStatus = "pending"
	SubtaskRunning   SubtaskStatus = "in_progress"
	SubtaskCompleted SubtaskStatus = "completed"
	SubtaskFailed    SubtaskStatus = "failed"
	SubtaskSkipped   SubtaskStatus = "skipped"
	SubtaskBlocked   SubtaskStatus = "blocked"
	SubtaskInDoubt   SubtaskStatus = "in_doubt"
)

// StoredPlan is a plan in the form that is stored, between runs and after a run. It encodes to JSON and back, see [StoredPlan.Encode] and
// [ReadPlan].
type StoredPlan struct {
	ID        string            `json:"id"`
	Goal      string            `json:"goal"`
	Strategy  planning.Strategy `json:"strategy"`
	Revision  int               `json:"revision"` // counts changes of the subtasks, from 1; execution does not change it
	Subtasks  []PlannedSubtask  `json:"subtasks"`
	Removed   []RemovedSubtask  `json:"removed"`
	Metadata  PlanMetadata      `json:"metadata"`
	Revisions []PlanRevision    `json:"revisions"`
	Trace     []AttemptRow      `json:"trace"` // of all runs in their order; the newest 10,000
	// Answered says that a final text was written after the newest change of the plan.
	Answered    bool   `json:"answered,omitempty"`
	Answer      string `json:"answer,omitempty"`
	AnswerBytes int    `json:"answer_bytes,omitempty"`
	// Last is the newest execution that ended; nil: none yet.
	Last *PlanRun `json:"last_run,omitempty"`
	// Waits is the execution that stored the plan and then waited for its caller; "" for none. A change of the plan in this time ends
	// that execution.
	Waits string `json:"waits,omitempty"`
	// Input holds the pattern inputs with which the plan was made. Later runs of the plan get the same inputs.
	Input Inputs `json:"input,omitempty"`
	// Writes lists writes of removed subtasks that may have happened. They are not shown.
	Writes []RemovedWrite `json:"writes,omitempty"`
}

// PlannedSubtask is a subtask of a stored plan.
type PlannedSubtask struct {
	ID           string         `json:"id"`
	Description  string         `json:"description"`
	Dependencies []string       `json:"dependencies"`
	Tool         string         `json:"tool"`
	Args         map[string]any `json:"args,omitempty"`
	Critical     bool           `json:"critical"`
	Status       SubtaskStatus  `json:"status"`
	Parent       string         `json:"parent,omitempty"`
	Expect       any            `json:"expect,omitempty"`
	Attempts     int            `json:"attempts,omitempty"` // in the newest run of the subtask
	Source       string         `json:"source,omitempty"`   // of a completed subtask: tool, model or caller
	StopReason   string         `json:"stop_reason,omitempty"`
	Result       any            `json:"result,omitempty"` // of a completed subtask; null is a result too
	Bytes        int            `json:"bytes,omitempty"`  // of the whole result as compact text
	// Once is the idempotency key of a call that may have acted. A later run uses the same key, so it is the same act. It is not
	// shown.
	Once string `json:"once,omitempty"`
	// Sent holds the arguments of the newest call if the policy or a person changed the plan's. It is not shown.
	Sent map[string]any `json:"sent,omitempty"`
}

// RemovedSubtask is the entry that remains of a subtask after a replan removed it.
type RemovedSubtask struct {
	ID          string        `json:"id"`
	Description string        `json:"description"`
	Status      SubtaskStatus `json:"status"` // its last status
	StopReason  string        `json:"stop_reason,omitempty"`
	Revision    int           `json:"revision"` // the revision that removed it
}

// PlanMetadata holds the data of a plan apart from its subtasks.
type PlanMetadata struct {
	CreatedAt   string `json:"created_at"` // RFC 3339, UTC, whole seconds
	Source      string `json:"source"`     // caller, checklist, model or rules
	MaxSubtasks int    `json:"max_subtasks"`
	MaxDepth    int    `json:"max_depth"`
	MaxReplans  int    `json:"max_replans"` // below 0: no limit
	ReplanCount int    `json:"replan_count"`
	// For an iterative plan; otherwise 0, 0 and nil.
	Iteration        int   `json:"iteration,omitempty"`
	MaxIterations    int   `json:"max_iterations,omitempty"`
	PlanningComplete *bool `json:"planning_complete,omitempty"`
}

// PlanRevision is one change of a plan's subtasks.
type PlanRevision struct {
	Revision  int      `json:"revision"`
	Kind      string   `json:"kind"` // decompose, round or replan
	Added     []string `json:"added"`
	Removed   []string `json:"removed"`
	Reason    string   `json:"reason,omitempty"`
	Rationale string   `json:"rationale,omitempty"`
}

// PlanRun is a run of a plan.
type PlanRun struct {
	RunID      string `json:"run_id"`
	Status     string `json:"status"` // ok or stopped; running or waiting if it has not ended
	StopReason string `json:"stop_reason,omitempty"`
}

// AttemptRow is a trace row: one attempt at a subtask.
type AttemptRow struct {
	Revision      int                `json:"revision"`
	SubtaskID     string             `json:"subtask_id"`
	Tool          string             `json:"tool"`
	Attempt       int                `json:"attempt"`
	ArgsHash      string             `json:"args_hash,omitempty"` // of catalog tools
	OK            bool               `json:"ok"`
	StopReason    string             `json:"stop_reason,omitempty"`
	DelaySeconds  *float64           `json:"delay_seconds,omitempty"` // from attempt 2 on: the pause before it
	Error         string             `json:"error,omitempty"`         // reported by the observation
	Problems      []document.Problem `json:"problems,omitempty"`
	HumanApproval *HumanApproval     `json:"human_approval,omitempty"` // if a person was asked
}

// SubtaskDone is a history row: a subtask that a run completed.
type SubtaskDone struct {
	SubtaskID string `json:"subtask_id"`
	Tool      string `json:"tool"`
	Attempts  int    `json:"attempts"`
	Result    any    `json:"result"`
	Source    string `json:"source"`
}

// ReadySubtask is a subtask that the caller has to do.
type ReadySubtask struct {
	ID          string         `json:"id"`
	Description string         `json:"description"`
	Inputs      map[string]any `json:"inputs"` // results of its dependencies and children
	Args        map[string]any `json:"args,omitempty"`
	Expect      any            `json:"expect,omitempty"`
}

// Planned is the part of a result that only planning tools have. If View is nil, there is no plan to show; PlanID and Revision may
// still be known.
type Planned struct {
	PlanID   string
	Revision int
	View     *PlanView
	ShowPlan bool // also plan and levels

	Count                     int // subtask_count, of decompose
	Preserved, Added, Removed []string
	Rationale                 string
	Results                   map[string]any // subtask_results; nil: not shown
	Open                      []string       // ids that a replan would remove; nil: not shown
	Resumable                 *bool          // nil: not shown
	Cycle                     []string
	DryRun                    bool
	LLM                       bool        // a language model could replan
	Failed                    string      // the subtask from which next would replan
	Stored                    *StoredPlan // as the run has left it so far, for judging calls; nil: none
	Goal                      string
}

// PlanView is the current view of a plan (spec/planning-reference.md section 15, Results).
type PlanView struct {
	PlanID      string
	Revision    int
	Counts      PlanCounts
	Progress    float64
	ReplanCount int
	// These list ids in plan order.
	Ready, Running, Waiting, Failed, Skipped, Blocked, InDoubt []string

	Plan   ShownPlan
	Levels [][]string
}

// PlanCounts counts the subtasks by status.
type PlanCounts struct {
	Total      int `json:"total"` // without the removed ones
	Pending    int `json:"pending"`
	InProgress int `json:"in_progress"`
	Completed  int `json:"completed"`
	Failed     int `json:"failed"`
	Skipped    int `json:"skipped"`
	Blocked    int `json:"blocked"`
	InDoubt    int `json:"in_doubt"`
	Removed    int `json:"removed"`
}

// ShownPlan is a plan in the form that results show.
type ShownPlan struct {
	ID       string            `json:"id,omitempty"`
	Goal     string            `json:"goal"`
	Strategy planning.Strategy `json:"strategy"`
	Subtasks []SubtaskRow      `json:"subtasks"`
	Removed  []RemovedSubtask  `json:"removed"`
	Metadata PlanMetadata      `json:"metadata"`
}

// SubtaskRow is a subtask in the form that results show.
type SubtaskRow struct {
	ID           string         `json:"id"`
	Description  string         `json:"description"`
	Dependencies []string       `json:"dependencies"`
	Tool         string         `json:"tool"`
	Args         map[string]any `json:"args,omitempty"`
	Critical     bool           `json:"critical"`
	Status       SubtaskStatus  `json:"status"`
	Parent       string         `json:"parent,omitempty"`
	Depth        int            `json:"depth,omitempty"` // of hierarchical plans, from 1
	Expect       any            `json:"expect,omitempty"`
	Attempts     int            `json:"attempts,omitempty"`
	Source       string         `json:"source,omitempty"`
	StopReason   string         `json:"stop_reason,omitempty"`
	BlockedBy    []string       `json:"blocked_by,omitempty"`
	Reason       string         `json:"reason,omitempty"` // of a blocked subtask: dependency_failed or dependency_skipped
	// Result is set only in details, for a completed subtask; it may point to null.
	Result *any `json:"result,omitempty"`
}
