package server

import (
	"cmp"
	"fmt"
	"slices"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

// The values of status (spec/surface.md section 1).
const (
	statusOK      = "ok"
	statusStopped = "stopped"
	statusRunning = "running"
	statusWaiting = "waiting"
)

// Envelope is the structuredContent that every tool returns. It has one shape for all patterns and outcomes
// (spec/surface.md section 1). Members that a result does not have are absent, never null. They are in the order of the
// contract. The text channel is made from the same value, see [Envelope.present].
type Envelope struct {
	Status     string `json:"status"`
	StopReason string `json:"stop_reason,omitempty"`
	Phase      string `json:"phase,omitempty"`
	Answered   string `json:"answered,omitempty"` // no or partly, see [gateway.Results]
	RunID      string `json:"run_id,omitempty"`
	Summary    string `json:"summary"`
	Next       next   `json:"next"`

	WaitingFor waitingFor `json:"waiting_for,omitempty"` // with status waiting
	Current    *current   `json:"current,omitempty"`     // with status running

	Problems []document.Problem `json:"problems,omitempty"`

	Answer         any                     `json:"answer,omitempty"`       // a text, or a value of the declared schema; nil: none
	AnswerBytes    int                     `json:"answer_bytes,omitempty"` // size of the whole answer if it was cut
	Plan           any                     `json:"plan,omitempty"`         // []gateway.Step or []gateway.Task
	Route          any                     `json:"route,omitempty"`
	SelectedRoute  string                  `json:"selected_route,omitempty"`
	Action         any                     `json:"action,omitempty"`
	Aggregate      *patterns.Aggregate     `json:"aggregate,omitempty"`
	FailedCritical []patterns.TaskRow      `json:"failed_critical,omitempty"`
	Expected       []string                `json:"expected_statuses,omitempty"`
	Received       *any                    `json:"received_status,omitempty"` // set together with Expected; it may be null
	BadObservation *any                    `json:"bad_observation,omitempty"` // as Received
	Observation    *any                    `json:"observation,omitempty"`     // of kind call; it may be null
	Human          *patterns.HumanApproval `json:"human_approval,omitempty"`
	Block          *block                  `json:"block,omitempty"` // set if the policy blocked a call

	Trace          []any `json:"trace,omitzero"` // [] if it has no rows; absent if nil
	TraceOmitted   int   `json:"trace_omitted,omitempty"`
	History        []any `json:"history,omitzero"`
	HistoryOmitted int   `json:"history_omitted,omitempty"`
	RawPlan        *any  `json:"raw_plan,omitempty"` // set if the intent was rejected; it may be null
	RawRoute       *any  `json:"raw_route,omitempty"`
	RawAction      *any  `json:"raw_action,omitempty"`

	Effects        []effect                  `json:"effects,omitempty"`
	EffectsOmitted int                       `json:"effects_omitted,omitempty"`
	Budget         map[string]patterns.Spent `json:"budget,omitempty"`
	Usage          *usage                    `json:"usage,omitempty"`
	Filled         []document.Filled         `json:"filled,omitempty"`
	Joined         bool                      `json:"joined,omitempty"` // the run was begun by an earlier equal call
	Demo           bool                      `json:"demo,omitempty"`
	Record         *record                   `json:"record,omitempty"` // only of tools that show runs, as the members after dryMembers

	dryMembers

	Pattern   string   `json:"pattern,omitempty"`
	CreatedAt string   `json:"created_at,omitempty"`
	EndedAt   string   `json:"ended_at,omitempty"`
	Step      *oneStep `json:"step,omitempty"`

	planMembers // only of planning

	tool   string // for the headline
	author string // source of the answer: model, rules or caller
	joins  bool   // expressions of a declared pattern computed the aggregate
	called *line  // the call, of kind call; nil for other kinds

	rowPlaces []int                // positions of Subtasks in the plan
	cursorAt  func(row int) string // cursor of the row at a position in the plan; nil: no pages
}

// effect is one call of a run, as results show it.
type effect struct {
	Key      string `json:"key"`
	Tool     string `json:"tool"`
	Effect   string `json:"effect"`
	ArgsHash string `json:"args_hash"`
	Status   string `json:"status"`
}

// record is the present extent of a run's record.
type record struct {
	Events int64  `json:"events"`
	Head   string `json:"head"`
	Parent string `json:"parent_run_id,omitempty"` // the run whose call began this one
}

// oneStep is one row with all that was recorded of its observation.
type oneStep struct {
	Row         any `json:"row"`
	Observation any `json:"observation,omitempty"`
}

// usage is the cost of models, and the model that was asked.
type usage struct {
	Model string `json:"model"` // a model's name, rules, or caller if none was asked
	patterns.Usage
}

// endedEnvelope presents a run that ended.
func endedEnvelope(c arguments.Call, ended patterns.Ended) Envelope {
	a := newAccount(c, ended)
	e := Envelope{
		Status: statusOK, StopReason: a.StopReason, Phase: a.Phase, RunID: ended.RunID,
		Summary: a.summary(), Next: a.next(), Problems: a.placed(),
		Answer: answerOf(a.Result), AnswerBytes: a.AnswerBytes, Plan: a.Plan, Route: a.Route, SelectedRoute: a.SelectedRoute,
		Action: a.Action, Aggregate: a.Aggregate, FailedCritical: a.FailedCritical, Human: a.Human,
		Trace: rows(a.Trace), History: rows(a.History),
		Budget: a.Budget, Usage: &usage{a.Model, a.Usage}, Filled: a.Filled, Demo: c.Demo,
		tool: c.Tool, author: a.speaker(), joins: a.Spec.Aggregate != nil && a.Spec.Declared,
	}
	if !a.OK() {
		e.Status = statusStopped
	}
	if a.Bad {
		e.Expected, e.Received, e.BadObservation = a.Expected, &a.Received, &a.BadObservation
	}
	e.showRaw(a.Result)
	e.showPlan(a.Planned)
	if a.Planned != nil && arguments.VerbOf(a.Spec) == patterns.DecomposeVerb && a.OK() {
		e.SubtaskCount = &a.Planned.Count
	}
	e.Effects, e.EffectsOmitted = effects(a.Ledger)
	e.Block = a.block()
	a.returned(&e)
	e.tellResults(a.Ledger)
	return e.single(c)
}

// answerOf returns a run's final answer as results show it, or nil if there is none.
func answerOf(r patterns.Result) any {
	switch {
	case r.AnswerValue != nil:
		return r.AnswerValue
	case r.Answer != "":
		return r.Answer
	}
	return nil
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

// showRaw sets the raw member of an intent that was rejected.
func (e *Envelope) showRaw(r patterns.Result) {
	switch r.RawName {
	case "raw_plan":
		e.RawPlan = &r.Raw
	case "raw_route":
		e.RawRoute = &r.Raw
	case "raw_action":
		e.RawAction = &r.Raw
	}
}

// faultEnvelope presents a run that an internal fault ended. fault is the opaque id under which the log has the cause.
func faultEnvelope(c arguments.Call, ended patterns.Ended, fault string) Envelope {
	did := "Nothing that it may call writes."
	if mayWrite(c) {
		did = "Whether something was written is not known; find out before anything is repeated."
	}
	if c.Spec.Kind == "" { // the run's pattern is unknown here
		did = staysDone
	}
	return untold(c, ended, "internal_error", "A fault inside the server ended the run in phase %s (fault "+fault+").", did)
}

// brokenEnvelope presents a run with a damaged record, which does not say what the run did.
func brokenEnvelope(c arguments.Call, ended patterns.Ended) Envelope {
	return untold(c, ended, brokenRecord, "Stopped in phase %s: "+meaning(brokenRecord)+" ("+brokenRecord+").", staysDone)
}

// brokenRecord is the stop reason of a run whose record is damaged.
const brokenRecord = "record_broken"

// staysDone is the advice for a run when nothing else is known about it.
const staysDone = "What it did stays done; find out what that was before anything is repeated."

// untold returns the envelope of a run that ended without an account of its calls. why has a %s for the phase.
func untold(c arguments.Call, ended patterns.Ended, reason, why, did string) Envelope {
	phase := cmp.Or(ended.Phase, ended.Result.Phase, firstPhaseOf(c))
	summary := sentence.Paragraph(fmt.Sprintf(why, phase), did)
	return Envelope{
		Status: statusStopped, StopReason: reason, Phase: phase, RunID: ended.RunID, Summary: summary,
		Next:  next{Action: actionTell, Say: summary},
		Trace: []any{}, History: []any{}, Demo: c.Demo, tool: c.Tool,
	}.single(c)
}

// refusedEnvelope presents a call that was rejected before anything ran. There must be at least one problem.
func refusedEnvelope(c arguments.Call, problems []document.Problem) Envelope {
	e := Envelope{
		Status: statusStopped, StopReason: "invalid_request:" + problems[0].Reason, Phase: patterns.PhaseRequest,
		Summary: refusedWords(problems),
		Next:    fixed(c, c.Repaired(problems)), Problems: problems, Trace: []any{}, History: []any{}, tool: c.Tool,
	}
	if c.Run != nil {
		e.RunID = c.Run.RunID
	}
	if e.StopReason == "invalid_request:"+arguments.NotFound.Reason("run_id") {
		// A second run could repeat a payment, so the caller looks for the run first.
		e.Next = next{Action: actionCall, Tool: arguments.ListTool, Arguments: map[string]any{},
			Say: "No such run of yours is known. Look for it in the list before anything is begun again."}
	}
	if c.Spec.Kind == gateway.Call { // nothing was called
		e.Trace, e.History = nil, nil
	}
	return e
}

// refusedWords says that a request was rejected.
func refusedWords(problems []document.Problem) string {
	return fmt.Sprintf("The call was refused for %s. Nothing ran.", sentence.Count(arguments.CountProblems(problems), "fault"))
}

// speaker returns the source of the answer. For a supervised run that the caller proposed, it is the caller; otherwise
// it is the model or the rules.
func (a account) speaker() string {
	if a.ByCall && a.Spec.Kind == gateway.Supervisor {
		return "caller"
	}
	return a.author()
}

// rows returns the list, or an empty list for nil.
func rows(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

// effects returns at most 100 calls of a run, and how many were left out. It leaves out the oldest reads first.
func effects(ledger []gateway.Entry) ([]effect, int) {
	const most = 100
	excess := max(0, len(ledger)-most)
	reads := 0
	for _, e := range ledger {
		if e.Effect == catalog.Read {
			reads++
		}
	}
	skipReads := min(excess, reads)
	skipOthers := excess - skipReads
	var list []effect
	for _, e := range ledger {
		skip := &skipOthers
		if e.Effect == catalog.Read {
			skip = &skipReads
		}
		if *skip > 0 {
			*skip--
			continue
		}
		list = append(list, effect{e.Key, e.Tool, string(e.Effect), e.Hash, string(e.Status)})
	}
	return list, excess
}

// firstPhaseOf returns the phase in which a run of this call begins.
func firstPhaseOf(c arguments.Call) string {
	switch arguments.VerbOf(c.Spec) {
	case patterns.ExecuteVerb:
		return patterns.PhaseExecute
	case patterns.ReplanVerb:
		return patterns.PhaseReplan
	}
	return firstPhase(c.Spec.Kind)
}

// firstPhase returns the phase in which a run of a kind begins.
func firstPhase(kind gateway.Kind) string {
	switch kind {
	case gateway.Routing:
		return patterns.PhaseRoute
	case gateway.Supervisor:
		return patterns.PhaseWorker
	case gateway.Call:
		return patterns.PhaseCall
	}
	return patterns.PhasePlan
}

// mayWrite reports whether a tool that the pattern may call changes anything.
func mayWrite(c arguments.Call) bool {
	return slices.ContainsFunc(c.Spec.Execution, func(name string) bool {
		t, ok := c.Spec.Catalog.Tool(name)
		return ok && t.Effect != catalog.Read
	})
}
