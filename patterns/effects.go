package patterns

import (
	"time"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// The functions here call [Run.Do] and [Run.Go] with typed arguments. They add only what all effects of a kind have in common.

// AskModel asks the model. The outcome's output is the reply's text, or {say, candidates} for a failed question.
func AskModel(run Run, e Effect, q Question) Outcome {
	q.JSON = q.Canonical()
	if q.Declared {
		q.Mark = markOf(run.ID(), q.JSON)
	}
	e.Kind, e.Name, e.Question = ModelEffect, string(q.Ask), &q
	e.Input = q.JSON
	return run.Do(e)
}

// CallTool makes a permitted call. The outcome's output is the observation. The tool's own timeout and business key apply if the tool
// declares them.
func CallTool(run Run, e Effect, p gateway.Permit) Outcome {
	e.Kind, e.Name, e.Permit = ToolEffect, p.Tool(), p
	e.Input = ijson.Canonical(p.Args())
	if limit := p.Timeout(); limit > 0 && (e.Timeout == 0 || limit < e.Timeout) {
		e.Timeout = limit
	}
	if once := p.Once(); once != "" {
		e.Once = once
	}
	return run.Do(e)
}

// ApprovePlan is the name of the effect that asks a person about a whole plan. The question's step is the effect's own key, which no
// call has.
const ApprovePlan = "approve_plan"

// AskPerson asks a person about an action. If the approver is a person, the run waits, and soFar returns the run's result so far.
// [ReasonExpired] says that no answer came in time.
func AskPerson(run Run, e Effect, a Approval, soFar func() Result) (Decision, Outcome) {
	e.Kind, e.Name, e.Approval = HumanEffect, "approve", &a
	if a.Plan != nil {
		e.Name = ApprovePlan
	}
	e.Input = a.input()
	if e.Waiting = a.waiting(e.Phase, soFar); e.Waiting != nil {
		e.Timeout = a.Approver.Expires
	}
	out := run.Do(e)
	if out.State != OK {
		return Decision{}, out
	}
	return readDecision(out.Output), out
}

// Take records a proposal that the caller has sent.
func Take(run Run, e Effect, name string, next document.Intent) Outcome {
	e.Kind, e.Name = CallerEffect, name
	e.Input = ijson.Canonical(next.Value())
	return run.Do(e)
}

// Await waits for the caller's next proposals. The outcome's output is the caller's input: {route} or {actions}, and continue_with.
// [ReasonExpired] says that none came in time.
func Await(run Run, e Effect, w Waiting) Outcome {
	w.Kind = ForCaller
	e.Kind, e.Name, e.Waiting = CallerEffect, "turn", &w
	e.Input = ijson.Canonical(map[string]any{"argument": w.Argument, "turn": float64(w.Turn), "refused": float64(w.Refused)})
	return run.Do(e)
}

// StepPlan performs an operation on a stored plan. The output of a load is that of [Loaded]: the decoded content (see [ReadPlan]) and
// the version that a commit needs. A failed operation has a plan's stop reason. If a load fails with [PlanConflict] or [PlanBusy], its
// output may be {plan, version} too.
func StepPlan(run Run, e Effect, s PlanStep) Outcome {
	e.Kind, e.Name, e.Plan = PlanEffect, string(s.Op), &s
	e.Input = s.input()
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
func Sleep(run Run, d time.Duration) { Pause(run, Effect{}, d) }

// Pause pauses the run with words for its progress. It ends early if the run is cancelled.
func Pause(run Run, e Effect, d time.Duration) Outcome {
	e.Kind, e.Name, e.Input, e.Timeout = TimerEffect, "sleep", []byte("null"), d
	return run.Do(e)
}
