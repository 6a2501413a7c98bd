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
)

// The words of status (spec/surface.md section 1).
const (
	statusOK      = "ok"
	statusStopped = "stopped"
	statusRunning = "running"
	statusWaiting = "waiting"
)

// Envelope is what every tool returns as structuredContent: one shape for all patterns and all ends (spec/surface.md
// section 1). Members a result does not have are absent, never null; their order is that of the contract. The text
// channel is made from the same value, see [Envelope.present].
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

	Answer         any                     `json:"answer,omitempty"`       // a text, or what the pattern declares; nil: there is none
	AnswerBytes    int                     `json:"answer_bytes,omitempty"` // of the whole answer where it was cut
	Plan           any                     `json:"plan,omitempty"`         // []gateway.Step or []gateway.Task
	Route          any                     `json:"route,omitempty"`
	SelectedRoute  string                  `json:"selected_route,omitempty"`
	Action         any                     `json:"action,omitempty"`
	Aggregate      *patterns.Aggregate     `json:"aggregate,omitempty"`
	FailedCritical []patterns.TaskRow      `json:"failed_critical,omitempty"`
	Expected       []string                `json:"expected_statuses,omitempty"`
	Received       *any                    `json:"received_status,omitempty"` // set with Expected, perhaps to null
	BadObservation *any                    `json:"bad_observation,omitempty"` // likewise
	Observation    *any                    `json:"observation,omitempty"`     // of kind call, perhaps null
	Human          *patterns.HumanApproval `json:"human_approval,omitempty"`
	Block          *block                  `json:"block,omitempty"` // by the policy

	Trace          []any `json:"trace,omitzero"` // always there, [] where it has no row
	TraceOmitted   int   `json:"trace_omitted,omitempty"`
	History        []any `json:"history,omitzero"`
	HistoryOmitted int   `json:"history_omitted,omitempty"`
	RawPlan        *any  `json:"raw_plan,omitempty"` // set where the intent was refused, perhaps to null
	RawRoute       *any  `json:"raw_route,omitempty"`
	RawAction      *any  `json:"raw_action,omitempty"`

	Effects        []effect                  `json:"effects,omitempty"`
	EffectsOmitted int                       `json:"effects_omitted,omitempty"`
	Budget         map[string]patterns.Spent `json:"budget,omitempty"`
	Usage          *usage                    `json:"usage,omitempty"`
	Filled         []document.Filled         `json:"filled,omitempty"`
	Joined         bool                      `json:"joined,omitempty"` // an earlier equal call's run
	Demo           bool                      `json:"demo,omitempty"`
	Record         *record                   `json:"record,omitempty"` // with the tools that are about runs, as what follows dry runs

	dryMembers

	Pattern   string   `json:"pattern,omitempty"`
	CreatedAt string   `json:"created_at,omitempty"`
	EndedAt   string   `json:"ended_at,omitempty"`
	Step      *oneStep `json:"step,omitempty"`

	planMembers // of planning

	tool   string // for the headline
	author string // whose words the answer is: model, rules or caller
	joins  bool   // expressions of a declared pattern made the aggregate
	called *line  // of kind call: what was called; nil of others

	rowPlaces []int                // of Subtasks, in the plan
	cursorAt  func(row int) string // that leads to the row at a place in the plan; nil: they are not paged
}

// effect is one call of the run, as results show it.
type effect struct {
	Key      string `json:"key"`
	Tool     string `json:"tool"`
	Effect   string `json:"effect"`
	ArgsHash string `json:"args_hash"`
	Status   string `json:"status"`
}

// record is how far a run's record goes by now.
type record struct {
	Events int64  `json:"events"`
	Head   string `json:"head"`
	Parent string `json:"parent_run_id,omitempty"` // of a run that another one's call began
}

// oneStep is one row with all of its observation that was recorded.
type oneStep struct {
	Row         any `json:"row"`
	Observation any `json:"observation,omitempty"`
}

// usage is what models cost and which one was asked.
type usage struct {
	Model string `json:"model"` // a model's name, rules, or caller where none was asked
	patterns.Usage
}

// endedEnvelope presents a run that ended.
func endedEnvelope(c call, ended patterns.Ended) Envelope {
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
	if a.Planned != nil && verbOf(a.Spec) == patterns.DecomposeVerb && a.OK() {
		e.SubtaskCount = &a.Planned.Count
	}
	e.Effects, e.EffectsOmitted = effects(a.Ledger)
	e.Block = a.block()
	a.returned(&e)
	e.tellResults(a.Ledger)
	return e.single(c)
}

// answerOf is a run's final answer as results show it; nil: there is none.
func answerOf(r patterns.Result) any {
	switch {
	case r.AnswerValue != nil:
		return r.AnswerValue
	case r.Answer != "":
		return r.Answer
	}
	return nil
}

// answerText is the answer as the text channel has it.
func (e *Envelope) answerText() string {
	switch v := e.Answer.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return string(ijson.Canonical(e.Answer))
}

// showRaw shows the intent that was refused.
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

// faultEnvelope presents a run that a fault of ours ended. fault is the opaque id under which the log has the cause.
func faultEnvelope(c call, ended patterns.Ended, fault string) Envelope {
	did := "Nothing that it may call writes."
	if c.mayWrite() {
		did = "Whether something was written is not known; find out before anything is repeated."
	}
	if c.Spec.Kind == "" { // what it was begun with is not known here
		did = staysDone
	}
	return untold(c, ended, "internal_error", "A fault inside the server ended the run in phase %s (fault "+fault+").", did)
}

// brokenEnvelope presents a run whose record is damaged: what the run did cannot be told from it.
func brokenEnvelope(c call, ended patterns.Ended) Envelope {
	return untold(c, ended, brokenRecord, "Stopped in phase %s: "+meaning(brokenRecord)+" ("+brokenRecord+").", staysDone)
}

// brokenRecord is the stop reason of a run whose record is damaged.
const brokenRecord = "record_broken"

// staysDone is what holds of a run of which nothing else is known.
const staysDone = "What it did stays done; find out what that was before anything is repeated."

// untold is the envelope of a run that ended without an account of what it did. why holds a place for the phase.
func untold(c call, ended patterns.Ended, reason, why, did string) Envelope {
	phase := cmp.Or(ended.Phase, ended.Result.Phase, c.firstPhase())
	summary := paragraph(fmt.Sprintf(why, phase), did)
	return Envelope{
		Status: statusStopped, StopReason: reason, Phase: phase, RunID: ended.RunID, Summary: summary,
		Next:  next{Action: actionTell, Say: summary},
		Trace: []any{}, History: []any{}, Demo: c.Demo, tool: c.Tool,
	}.single(c)
}

// refusedEnvelope presents a call that was refused before anything ran. There is at least one problem.
func refusedEnvelope(c call, problems []document.Problem) Envelope {
	e := Envelope{
		Status: statusStopped, StopReason: "invalid_request:" + problems[0].Reason, Phase: patterns.PhaseRequest,
		Summary: refusedWords(problems),
		Next:    c.fixed(c.repaired(problems)), Problems: problems, Trace: []any{}, History: []any{}, tool: c.Tool,
	}
	if c.Run != nil {
		e.RunID = c.Run.RunID
	}
	if e.StopReason == "invalid_request:"+classNotFound.reason("run_id") {
		// Whoever is told to begin anew may pay twice.
		e.Next = next{Action: actionCall, Tool: listTool, Arguments: map[string]any{},
			Say: "No such run of yours is known. Look for it in the list before anything is begun again."}
	}
	if c.Spec.Kind == gateway.Call { // nothing was called
		e.Trace, e.History = nil, nil
	}
	return e
}

// refusedWords tell that a request was refused.
func refusedWords(problems []document.Problem) string {
	return fmt.Sprintf("The call was refused for %s. Nothing ran.", count(faults(problems), "fault"))
}

// speaker is whose words the answer is: a supervised run's last action is its proposer's, else a model or the rules are asked.
func (a account) speaker() string {
	if a.ByCall && a.Spec.Kind == gateway.Supervisor {
		return "caller"
	}
	return a.author()
}

// rows are never nil.
func rows(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

// effects are the calls of a run, of too many the oldest reads left out first, and how many were left out.
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

// firstPhase is where a run of this call begins.
func (c call) firstPhase() string {
	switch verbOf(c.Spec) {
	case patterns.ExecuteVerb:
		return patterns.PhaseExecute
	case patterns.ReplanVerb:
		return patterns.PhaseReplan
	}
	return firstPhase(c.Spec.Kind)
}

// firstPhase is where a run of a kind begins.
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
func (c call) mayWrite() bool {
	return slices.ContainsFunc(c.Spec.Execution, func(name string) bool {
		t, ok := c.Spec.Catalog.Tool(name)
		return ok && t.Effect != catalog.Read
	})
}
