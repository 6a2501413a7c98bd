package envelope

import (
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// The values of status (spec/surface.md section 1).
const (
	StatusOK      = "ok"
	StatusStopped = "stopped"
	StatusRunning = "running"
	StatusWaiting = "waiting"
)

// Envelope is the structuredContent that every tool returns. It has one shape for all patterns and outcomes
// (spec/surface.md section 1). Members that a result does not have are absent, never null. They are in the order of the
// contract. The text channel is made from the same value, see [Envelope.Present].
//
// Members that only some results have are in structs of their own, such as routeMembers. Each is embedded at its place
// in the order.
type Envelope struct {
	Status     string `json:"status"`
	StopReason string `json:"stop_reason,omitempty"`
	Phase      string `json:"phase,omitempty"`
	Answered   string `json:"answered,omitempty"` // no or partly, see [gateway.Results]
	RunID      string `json:"run_id,omitempty"`
	Summary    string `json:"summary"`
	Next       Next   `json:"next"`

	WaitingFor WaitingFor `json:"waiting_for,omitempty"` // with status waiting
	Current    *Current   `json:"current,omitempty"`     // with status running

	Problems []document.Problem `json:"problems,omitempty"`

	Answer      any `json:"answer,omitempty"`       // a text, or a value of the declared schema; nil: none
	AnswerBytes int `json:"answer_bytes,omitempty"` // size of the whole answer if it was cut

	Plan any `json:"plan,omitempty"` // []gateway.Step or []gateway.Task
	routeMembers
	actionMembers
	orchestratorMembers
	statusMembers
	Observation *any                    `json:"observation,omitempty"` // of kind call; it may be null
	Human       *patterns.HumanApproval `json:"human_approval,omitempty"`
	Block       *Block                  `json:"block,omitempty"` // set if the policy blocked a call

	Trace          []any `json:"trace,omitzero"` // [] if it has no rows; absent if nil
	TraceOmitted   int   `json:"trace_omitted,omitempty"`
	History        []any `json:"history,omitzero"`
	HistoryOmitted int   `json:"history_omitted,omitempty"`
	rawMembers

	Effects        []Effect                  `json:"effects,omitempty"`
	EffectsOmitted int                       `json:"effects_omitted,omitempty"`
	Budget         map[string]patterns.Spent `json:"budget,omitempty"`
	Usage          *Usage                    `json:"usage,omitempty"`
	Filled         []document.Filled         `json:"filled,omitempty"`
	Joined         bool                      `json:"joined,omitempty"` // the run was begun by an earlier equal call
	Simulated      bool                      `json:"demo,omitempty"`
	Record         *Record                   `json:"record,omitempty"` // only of tools that show runs

	dryMembers
	runMembers
	planMembers

	Tool   string `json:"-"` // for the headline
	Author string `json:"-"` // source of the answer: model, rules or caller
	Joins  bool   `json:"-"` // expressions of a declared pattern computed the aggregate
	Called *Line  `json:"-"` // the call, of kind call; nil for other kinds

	RowPlaces []int                `json:"-"` // positions of Subtasks in the plan
	CursorAt  func(row int) string `json:"-"` // cursor of the row at a position in the plan; nil: no pages
}

// Done returns the result of a tool that began no run and has nothing more to do.
func Done(tool, summary string) Envelope {
	return Envelope{Status: StatusOK, StopReason: patterns.Success, Summary: summary, Next: Next{Action: ActionDone}, Tool: tool}
}

// routeMembers are the members that only results of routing have, with statusMembers.
type routeMembers struct {
	Route         any    `json:"route,omitempty"`
	SelectedRoute string `json:"selected_route,omitempty"`
}

// actionMembers are the members that only results of supervised runs have.
type actionMembers struct {
	Action any `json:"action,omitempty"`
}

// orchestratorMembers are the members that only results of parallel tasks have.
type orchestratorMembers struct {
	Aggregate      *patterns.Aggregate `json:"aggregate,omitempty"`
	FailedCritical []patterns.TaskRow  `json:"failed_critical,omitempty"`
}

// statusMembers describe a reply of a specialist with a status that is not one of those expected.
type statusMembers struct {
	Expected       []string `json:"expected_statuses,omitempty"`
	Received       *any     `json:"received_status,omitempty"` // set together with Expected; it may be null
	BadObservation *any     `json:"bad_observation,omitempty"` // as Received
}

// rawMembers hold an intent that was rejected, which may be null. At most one of them is set.
type rawMembers struct {
	RawPlan   *any `json:"raw_plan,omitempty"`
	RawRoute  *any `json:"raw_route,omitempty"`
	RawAction *any `json:"raw_action,omitempty"`
}

// runMembers are the members that only results of tools about runs have, with Record.
type runMembers struct {
	Pattern   string `json:"pattern,omitempty"`
	CreatedAt string `json:"created_at,omitempty"`
	EndedAt   string `json:"ended_at,omitempty"`
	Step      *Step  `json:"step,omitempty"`
}

// Effect is one call of a run, as results show it.
type Effect struct {
	Key      string `json:"key"`
	Tool     string `json:"tool"`
	Effect   string `json:"effect"`
	ArgsHash string `json:"args_hash"`
	Status   string `json:"status"`
}

// Record is the present extent of a run's record.
type Record struct {
	Events int64  `json:"events"`
	Head   string `json:"head"`
	Parent string `json:"parent_run_id,omitempty"` // the run whose call began this one
}

// Step is one row with all that was recorded of its observation.
type Step struct {
	Row         any `json:"row"`
	Observation any `json:"observation,omitempty"`
}

// Usage is the cost of models, and the model that was asked.
type Usage struct {
	Model string `json:"model"` // a model's name, rules, or caller if none was asked
	patterns.Usage
}

// answerText returns the answer for the text channel.
func (e *Envelope) answerText() string {
	switch v := e.Answer.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return string(ijson.Canonical(e.Answer))
}

// ShowRaw sets the raw member of an intent that was rejected.
func (e *Envelope) ShowRaw(r patterns.Result) {
	switch r.RawName {
	case "raw_plan":
		e.RawPlan = &r.Raw
	case "raw_route":
		e.RawRoute = &r.Raw
	case "raw_action":
		e.RawAction = &r.Raw
	}
}

// shownWhole is the size in bytes up to which an observation is shown whole (spec/surface.md section 1, "Cutting").
const shownWhole = 8 << 10

// ShownObservation returns an observation as a result shows it. A longer one is cut to its beginning.
func ShownObservation(v any) any {
	if _, _, isCut := CutBefore(v); isCut {
		return cutOf(v, firstHead)
	}
	if text := ijson.Canonical(v); len(text) > shownWhole {
		return cutOf(v, firstHead)
	}
	return v
}
