package patterns

import (
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// Act is what an effect does. The types in this file are the only acts. The zero value of each does nothing outside the run.
type Act interface {
	Kind() EffectKind
	isAct()
}

// AskAct asks a model.
type AskAct struct{ Question *Question }

// CallAct calls a tool.
type CallAct struct {
	Permit  gateway.Permit // the zero Permit is refused
	Once    string         // the idempotency key; if it is empty, the engine makes one
	Attempt Attempt
	// Share limits the child run of a call that starts one, apart from its time; nil: no run may be started.
	Share *Share
	// SoFar returns the run's result while it waits with the child run of the call; it only reads. Nil: no result is shown.
	SoFar func() Result
}

// Attempt says how a call relates to other attempts at the same act. The zero Attempt is the first one.
type Attempt struct {
	// Of is the key of the first attempt, if this call is another attempt at the same act; empty: it is an act of its own.
	Of string
	// Before is the idempotency key of an earlier run of the plan that began this act with an unknown outcome; empty: none did.
	Before string
	// Doubt is why the outcome of the previous attempt is unknown; empty: that attempt did nothing, or there was none. See
	// [CallAct.Doubted].
	Doubt string
	// Retried says that the pattern itself makes the call again if it took too long. Such a call may be repeated. If it was not sent
	// within its time, it counts as too slow, not as unavailable.
	Retried bool
}

// ConsentAct asks a person about an action. Without Waiting the approver decides at once.
type ConsentAct struct {
	Approval *Approval
	Waiting  *Waiting
}

// SettlementAct asks a person whether a call in doubt happened.
type SettlementAct struct{ Waiting *Waiting }

// ProposalAct records a proposal that the caller has sent. The proposal is the effect's Input.
type ProposalAct struct{}

// TurnAct waits for the caller's next proposals.
type TurnAct struct{ Waiting *Waiting }

// PauseAct pauses for the effect's Timeout.
type PauseAct struct {
	// InTime makes the engine refuse the pause with [ReasonNoTime] if it would not end before the deadline.
	InTime bool
	// Ends applies in a Flow. The engine calls it whenever a body has ended, and true ends the pause early. It only reads. Nil: never.
	Ends func() bool
}

// PlanAct performs an operation on a stored plan.
type PlanAct struct{ Step *PlanStep }

// JudgeAct asks for the judgment of a call that depends on earlier runs, see [JudgeEffect].
type JudgeAct struct{ Weighing *gateway.Weighing }

// Kind returns [ModelEffect].
func (AskAct) Kind() EffectKind { return ModelEffect }

// Kind returns [ToolEffect].
func (CallAct) Kind() EffectKind { return ToolEffect }

// Kind returns [HumanEffect].
func (ConsentAct) Kind() EffectKind { return HumanEffect }

// Kind returns [HumanEffect].
func (SettlementAct) Kind() EffectKind { return HumanEffect }

// Kind returns [CallerEffect].
func (ProposalAct) Kind() EffectKind { return CallerEffect }

// Kind returns [CallerEffect].
func (TurnAct) Kind() EffectKind { return CallerEffect }

// Kind returns [TimerEffect].
func (PauseAct) Kind() EffectKind { return TimerEffect }

// Kind returns [PlanEffect].
func (PlanAct) Kind() EffectKind { return PlanEffect }

// Kind returns [JudgeEffect].
func (JudgeAct) Kind() EffectKind { return JudgeEffect }

func (AskAct) isAct()        {}
func (CallAct) isAct()       {}
func (ConsentAct) isAct()    {}
func (SettlementAct) isAct() {}
func (ProposalAct) isAct()   {}
func (TurnAct) isAct()       {}
func (PauseAct) isAct()      {}
func (PlanAct) isAct()       {}
func (JudgeAct) isAct()      {}

// Doubted returns the outcome of a call for its whole act. If this attempt did nothing but the previous one may have acted, the
// outcome becomes Unknown. Reads and outcomes with [ReasonBadResult] stay unchanged.
func (c CallAct) Doubted(out Outcome) Outcome {
	doubt := c.Attempt.Doubt
	if doubt != "" && out.State == Failed && out.Reason != ReasonBadResult && c.Permit.Effect() != catalog.Read {
		out.State, out.Reason = Unknown, doubt
	}
	return out
}

// The functions below call [Run.Do] and [Run.Go] with typed arguments. They add only what all effects with the same act have in
// common. The effect that they take has no Act, Name and Input yet.

// AskModel asks the model. The outcome's output is the reply's text, or {say, candidates} for a failed question.
func AskModel(run Run, e Effect, q Question) Outcome {
	q.JSON = q.Canonical()
	if !q.Unmarked {
		q.Mark = markOf(run.ID(), q.JSON)
	}
	e.Act, e.Name, e.Input = AskAct{&q}, string(q.Ask), q.JSON
	return run.Do(e)
}

// CallTool makes a permitted call. The outcome's output is the observation. The tool's own timeout and business key apply if the tool
// declares them.
func CallTool(run Run, e Effect, c CallAct) Outcome {
	p := c.Permit
	if limit := p.Timeout(); limit > 0 && (e.Timeout == 0 || limit < e.Timeout) {
		e.Timeout = limit
	}
	if once := p.Once(); once != "" {
		c.Once = once
	}
	e.Act, e.Name, e.Input = c, p.Tool(), ijson.Canonical(p.Args())
	return run.Do(e)
}

// ApprovePlan is the name of the effect that asks a person about a whole plan. The question's step is the effect's own key, which no
// call has.
const ApprovePlan = "approve_plan"

// AskPerson asks a person about an action. If the approver is a person, the run waits, and soFar returns the run's result so far.
// [ReasonExpired] says that no answer came in time.
func AskPerson(run Run, e Effect, a Approval, soFar func() Result) (Decision, Outcome) {
	waiting := a.waiting(e.Phase, soFar)
	if waiting != nil {
		e.Timeout = a.Approver.Expires
	}
	e.Act, e.Name, e.Input = ConsentAct{&a, waiting}, "approve", a.input()
	if a.Plan != nil {
		e.Name = ApprovePlan
	}
	out := run.Do(e)
	if out.State != OK {
		return Decision{}, out
	}
	return readDecision(out.Output), out
}

// Take records a proposal that the caller has sent.
func Take(run Run, e Effect, name string, next document.Intent) Outcome {
	e.Act, e.Name, e.Input = ProposalAct{}, name, ijson.Canonical(next.Value())
	return run.Do(e)
}

// Await waits for the caller's next proposals. The outcome's output is the caller's input: {route} or {actions}, and continue_with.
// [ReasonExpired] says that none came in time.
func Await(run Run, e Effect, w Waiting) Outcome {
	w.Kind = ForCaller
	e.Act, e.Name = TurnAct{&w}, "turn"
	e.Input = ijson.Canonical(map[string]any{"argument": w.Argument, "turn": float64(w.Turn), "refused": float64(w.Refused)})
	return run.Do(e)
}

// StepPlan performs an operation on a stored plan. The output of a load is that of [Loaded]: the decoded content (see [ReadPlan]) and
// the version that a commit needs. A failed operation has a plan's stop reason. If a load fails with [PlanConflict] or [PlanBusy], its
// output may be {plan, version} too.
func StepPlan(run Run, e Effect, s PlanStep) Outcome {
	e.Act, e.Name, e.Input = PlanAct{&s}, string(s.Op), s.input()
	return run.Do(e)
}

// Each runs body for every item in a branch of its own, at most limit at once, and returns the results in the
// order of the items.
func Each[In, Out any](run Run, name string, items []In, limit int, body func(branch Run, i int, item In) Out) []Out {
	out := make([]Out, len(items))
	run.Go(name, len(items), limit, func(branch Run, i int) { out[i] = body(branch, i, items[i]) })
	return out
}

// Sleep pauses the run.
func Sleep(run Run, d time.Duration) { Pause(run, Effect{}, PauseAct{}, d) }

// Pause pauses the run with words for its progress. It ends early if the run is cancelled.
func Pause(run Run, e Effect, p PauseAct, d time.Duration) Outcome {
	e.Act, e.Name, e.Input, e.Timeout = p, "sleep", []byte("null"), d
	return run.Do(e)
}
