package patterns

import (
	"math"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// These are the phases of the patterns (spec/patterns.md section 0, spec/planning-reference.md section 15). A result has a phase on
// every stop, and only then.
const (
	PhasePlan      = "plan"
	PhaseExecute   = "execute"
	PhaseDispatch  = "dispatch"
	PhaseRoute     = "route"
	PhaseDelegate  = "delegate"
	PhaseWorker    = "worker"
	PhaseReview    = "supervisor"
	PhaseHuman     = "human_approval"
	PhaseExecution = "execution"
	PhaseFinalize  = "finalize"
	PhaseReplan    = "replan"
	PhaseStatus    = "status"
	PhaseCall      = "call"
	PhaseRequest   = "request" // the call itself was refused; no run began
)

// These are the stop reasons of successful runs. All but Success are of planning alone.
const (
	Success          = "success"
	SuccessPartial   = "success_partial"   // only subtasks that are not critical are missing
	IterationPending = "iteration_pending" // one iteration is done, and the planning is not complete
)

// MaxAnswer is how much of a final text a result keeps, in bytes.
const MaxAnswer = 16 << 10

// Result is the result of a run. Members that a pattern does not have stay empty. Trace has a row for each attempt, and History has a
// row for each executed step. Their form is that of the reference programs (spec/patterns.md sections 2-5).
type Result struct {
	StopReason string
	Phase      string // empty on success
	Problems   []document.Problem
	Need       []string // tools that must come before the blocked one
	Blocked    *Blocked // the call at which the policy stopped the run; nil: another cause
	Estimated  string   // in words: the estimate for the question that the budget could not pay
	Say        string   // the question that only the person can answer, from rules

	Answer      string // the model's or caller's claim, not checked
	AnswerBytes int    // of the whole answer if it was cut
	AnswerValue any    // decoded, if the pattern declares the type of its answer: Answer is its JSON; nil: a text

	Plan           any // of rows: gateway.Step or gateway.Task
	Route          any
	SelectedRoute  string
	Action         any
	Aggregate      *Aggregate
	FailedCritical []TaskRow

	Expected       []string // statuses an observation may have
	Received       any      // the status it has
	BadObservation any
	Bad            bool // the three above are set

	Planned *Planned // of planning; else nil

	Observation any // of kind call; set if the call returned one

	Human   *HumanApproval
	Trace   []any
	History []any

	Raw     any    // the intent that was refused
	RawName string // raw_plan, raw_route, raw_action; empty: none

	Ledger []gateway.Entry
	Budget map[string]Spent
	Usage  Usage
	Models []ModelUsage // the usage per model that was asked; nil: all by the run's own model
	Filled []document.Filled

	Judged []Judged // proposals that got no intent, since the last effect

	ByCall   bool  // the newest intent was the caller's
	Asked    bool  // a model was asked
	Proposed []any // the caller's accepted proposals, over all turns
	Taken    int   // how many of them
	Handed   []any // the caller's newest proposals, refused or not; nil if they came at the start
}

// Blocked is a call that the policy blocked, and why.
type Blocked struct {
	Tool         string // final for the closing answer
	Args         map[string]any
	Rule, Reason string
	Text         string         // words of the rule, for people
	Values       map[string]any // that made the rule true, by their expressions
	Passes       int            // of the policy
	Retryable    bool           // the same call may be approved later
	// Nearest holds the call's arguments with one change, in Argument, with which the policy would not block the call. It is nil if no
	// such value exists, if none was searched for, or if the caller did not propose the call.
	Nearest  map[string]any
	Argument string
}

func BlockOf(tool string, args map[string]any, r gateway.Ruling) *Blocked {
	return &Blocked{
		Tool: tool, Args: args, Rule: r.Rule, Reason: r.Reason, Text: r.Text, Values: r.Values, Passes: r.Passes(), Retryable: r.Retryable,
	}
}

// Judged is a proposal that got no intent: blocked, refused, or changed before its call (spec/surface.md section 7).
type Judged struct {
	Name string         // of the tool, or plan, route, action
	Body map[string]any // in its recorded form
}

// OK reports whether the run was successful.
func (r Result) OK() bool {
	return r.StopReason == Success || r.StopReason == SuccessPartial || r.StopReason == IterationPending
}

// Spent is one limit in force and its use; seconds have three decimals.
type Spent struct {
	Limit float64 `json:"limit"`
	Used  float64 `json:"used"`
}

// Shown returns an observation in the form for rows and payloads: only its beginning if it is longer than 8 KiB.
func Shown(v any, bytes int) any {
	const limit, head = 8 << 10, 1 << 10
	if bytes <= limit {
		return v
	}
	if _, text, marked := Beginning(v); marked {
		return map[string]any{"truncated": true, "bytes": float64(bytes), "head": ijson.Cut(text, head)}
	}
	return gateway.Bounded(v, ijson.Canonical(v), limit, head)
}

// Beginning reads the mark of a cut observation, whatever program cut it (spec/surface.md section 1, Cutting). A mark has exactly the
// members truncated, bytes (the stated length of the whole text) and head. False: the observation is not a mark.
func Beginning(observation any) (bytes int, head string, marked bool) {
	const most = 1<<53 - 1
	obj, _ := observation.(map[string]any)
	n, counted := obj["bytes"].(float64)
	head, begins := obj["head"].(string)
	if len(obj) != 3 || obj["truncated"] != true || !counted || !begins || n != math.Trunc(n) || math.Abs(n) > most {
		return 0, "", false
	}
	return int(n), head, true
}

// Ruled adds the rule that decided, its text, and the values that made it true.
func (j Judged) Ruled(by gateway.Because) Judged {
	for name, text := range map[string]string{"rule": by.Rule, "text": by.Text} {
		if text != "" {
			j.Body[name] = text
		}
	}
	if len(by.Values) > 0 {
		j.Body["values"] = by.Values
	}
	return j
}

// Passed adds how often the policy judged the proposal.
func (j Judged) Passed(passes int) Judged {
	if passes > 0 {
		j.Body["passes"] = float64(passes)
	}
	return j
}

// Lacking adds the calls that are needed first and the problems.
func (j Judged) Lacking(need []string, problems []document.Problem) Judged {
	if len(need) > 0 {
		j.Body["need"] = TextValues(need)
	}
	if len(problems) == 0 {
		return j
	}
	list := make([]any, len(problems))
	for i, p := range problems {
		list[i] = p.Value()
	}
	j.Body["problems"] = list
	return j
}

// TextValues returns texts as decoded values.
func TextValues(texts []string) []any {
	list := make([]any, len(texts))
	for i, t := range texts {
		list[i] = t
	}
	return list
}

// TaskRow is the result of one task of an orchestrator: a history row, and a row of failed_critical.
type TaskRow struct {
	TaskID           string `json:"task_id"`
	Worker           string `json:"worker"`
	Critical         bool   `json:"critical"`
	Status           string `json:"status"` // done or failed
	AttemptsUsed     int    `json:"attempts_used"`
	Retried          bool   `json:"retried"`
	ArgsHash         string `json:"args_hash"`
	StopReason       string `json:"stop_reason,omitempty"` // of a failed task
	InDoubt          bool   `json:"in_doubt,omitempty"`    // it is unknown whether the task acted
	ObservationError string `json:"observation_error,omitempty"`
	Observation      any    `json:"observation,omitempty"` // of a done task
}

// Done reports whether the task has a result.
func (t TaskRow) Done() bool { return t.Status == "done" }
