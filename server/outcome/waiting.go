package outcome

import (
	"slices"
	"strings"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// Waiting presents a run that waits. The call c started or continued the run, or looks at it. The inbox is the
// page on which people decide.
func Waiting(c arguments.Call, ended patterns.Ended, inbox Page) envelope.Envelope {
	w := ended.Waiting
	a := account{c, w.SoFar, ended.RunID, ended.Ended.Sub(ended.Began) - ended.Waited}
	e := envelope.Envelope{
		Status: envelope.StatusWaiting, RunID: ended.RunID,
		Problems: w.SoFar.Problems, Trace: rows(w.SoFar.Trace), History: rows(w.SoFar.History),
		Budget: w.SoFar.Budget, Usage: &envelope.Usage{Model: c.Model, Usage: w.SoFar.Usage}, Filled: w.SoFar.Filled, Simulated: c.Spec.Simulated(),
		Tool: c.Tool,
	}
	switch w.Kind {
	case patterns.ForApproval:
		a.undecided(&e, w, inbox)
	case patterns.ForSettlement:
		a.unsettled(&e, w)
	case patterns.ForRetry:
		a.lacking(&e, w)
	default:
		if w.Argument == "results" {
			a.callersSubtasks(&e, w)
		} else {
			a.callersTurn(&e, w)
		}
	}
	e.ShowRaw(w.SoFar)
	e.ShowPlan(w.SoFar.Planned)
	e.Effects, e.EffectsOmitted = effects(w.SoFar.Ledger)
	tellResults(&e, closed(w.SoFar.Ledger))
	return withCall(e, c)
}

// WaitKind returns what a run waits for, in the contract's word.
func WaitKind(w *patterns.Waiting) string {
	if w.Kind == "" {
		return string(patterns.ForCaller)
	}
	return string(w.Kind)
}

// headOf returns the members that all waiting runs have.
func headOf(w *patterns.Waiting) envelope.WaitHead {
	return envelope.WaitHead{
		Kind: WaitKind(w), Since: sentence.Time(w.Since), ExpiresAt: sentence.TimeIfSet(w.Until), Phase: w.Phase,
		Child: w.Child, Pattern: w.Pattern,
	}
}

// callersTurn says what the caller must send.
func (a account) callersTurn(e *envelope.Envelope, w *patterns.Waiting) {
	e.Summary, e.Next = a.waits(w), toContinue(a.Call, e.RunID, w)
	e.WaitingFor = &envelope.CallerWait{
		WaitHead: headOf(w), Turn: w.Turn,
		Expects: envelope.Expects{Argument: w.Argument, Names: w.Names, Forbidden: w.Forbidden, Left: w.Left, Example: exampleOf(w)},
		Last:    w.Last, Refused: w.Refused,
	}
	if _, sent := a.Intents[w.Argument]; len(e.Problems) > 0 && sent {
		e.Next = fixed(a.Call, a.Call.Repaired(e.Problems))
	}
}

// toContinue returns the advice to make the next call of a run that waits.
func toContinue(c arguments.Call, runID string, w *patterns.Waiting) envelope.Next {
	var skeleton any = []any{}
	if w.Argument != "actions" {
		skeleton = c.IntentSkeleton()
	}
	return envelope.Next{
		Action: envelope.ActionCall, Tool: c.Tool,
		Arguments: map[string]any{"run_id": runID, "turn": float64(w.Turn), w.Argument: skeleton},
		Fill:      []ijson.Pointer{ijson.Pointer("").Member(w.Argument)},
	}
}

// exampleOf returns a whole intent that fits.
func exampleOf(w *patterns.Waiting) any {
	if w.Argument == "actions" {
		return []any{map[string]any{"kind": "final", "answer": "..."}}
	}
	target := ""
	if len(w.Names) > 0 {
		target = w.Names[0]
	}
	return map[string]any{"target": target}
}

// waits says in one paragraph what was done, what is needed and until when.
func (a account) waits(w *patterns.Waiting) string {
	refused := ""
	if len(a.Problems) > 0 {
		refused = turnRefused(sentence.Count(arguments.CountProblems(a.Problems), "problem"), sentence.Count(maxRefusals, "refusal"))
	}
	unit := map[string]string{"route": "attempt", "actions": "step"}[w.Argument]
	asked := sendNext(strings.TrimSuffix(w.Argument, "s"), w.Left, a.most(w), unit)
	return sentence.Paragraph(refused, a.newest(), a.writtenSoFar(), asked, waitsUntil(sentence.Time(w.Until)))
}

// maxRefusals is how many refusals at one turn stop a run (spec/surface.md section 1, "A continuation").
const maxRefusals = 3

// most returns how many steps or attempts the run has in all.
func (a account) most(w *patterns.Waiting) int {
	name := "max_steps"
	if w.Argument == "route" {
		name = "max_route_attempts"
	}
	return int(a.Budget[name].Limit)
}

// newest says what the newest step did.
func (a account) newest() string {
	if len(a.History) == 0 {
		return nothingRanYet
	}
	switch row := a.History[len(a.History)-1].(type) {
	case patterns.ActionDone:
		name, _ := row.Executed["name"].(string)
		return actionDone(printable.Name(name), decided[row.Supervisor.Decision], printable.Name(row.Supervisor.Reason))
	case patterns.Delegation:
		target, _ := row.Route["target"].(string)
		return targetDeclined(printable.Name(target))
	}
	return ""
}

// decided maps the policy's decision about an executed action to words.
var decided = map[string]string{"approve": decidedApprove, "revise": decidedRevise, "escalate": decidedEscalate}

// writtenSoFar says what was written, or returns "" if nothing was.
func (a account) writtenSoFar() string {
	if slices.ContainsFunc(a.Ledger, func(e gateway.Entry) bool { return e.Effect != catalog.Read }) {
		return a.written()
	}
	return ""
}

// Running presents a run that continues without the call.
func Running(c arguments.Call, s patterns.Snapshot) envelope.Envelope {
	now := s.Current
	phase, doing := now.Phase, now.Doing
	if phase == "" {
		phase = firstPhaseOf(c)
	}
	switch {
	case doing == "" && now.Done == 0:
		doing = starting
	case doing == "":
		doing = working
	}
	answered := sentence.Count(now.Done, "call")
	if now.Total > 0 {
		answered = callsOf(now.Done, sentence.Count(now.Total, "call"))
	}
	plan := c.PlanOfRun(s)
	e := envelope.Envelope{
		Status: envelope.StatusRunning, RunID: s.RunID,
		Summary: sentence.Paragraph(running(lasting(s.Began), phase, doing, answered), planWords(plan), continuesItself, doNotStartAgain),
		Next:    envelope.Next{Action: envelope.ActionCall, Tool: arguments.WaitTool, Arguments: map[string]any{"run_id": s.RunID}},
		Current: &envelope.Current{Phase: phase, Doing: doing, Done: now.Done, Total: now.Total, Since: sentence.Time(now.Since)},
		Trace:   []any{}, History: []any{}, Simulated: c.Spec.Simulated(), Tool: c.Tool,
	}
	e.PlanID = plan
	return withCall(e, c)
}

// lasting says how long something has lasted, or returns "" if that is not known.
func lasting(since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return forSeconds(int(max(0, time.Since(since)).Seconds()))
}

// NotTaken returns the problem of a continuation that does not match what the run waits for.
func NotTaken(c arguments.Call) document.Problem {
	p := document.Problem{Pointer: "/run_id", Reason: arguments.ReasonNotTaken, Got: document.Got(c.Run.RunID)}
	switch s := c.Run; {
	case s.State == patterns.Running:
		p.Want = wantIdle
	case s.State == patterns.Over:
		p.Want = wantOpen
	case WaitKind(s.Ended.Waiting) != string(patterns.ForCaller):
		p.Want = wantForCaller(WaitWords(WaitKind(s.Ended.Waiting)))
	case c.Arguments["turn"] != nil && c.Arguments["turn"] != float64(s.Ended.Waiting.Turn):
		p.Pointer, p.Got = "/turn", document.Got(c.Arguments["turn"])
		p.Want = wantTurn(string(document.Got(float64(s.Ended.Waiting.Turn))))
	case !c.Empty(): // another call continued it at the same time, and it waits again
		p.Want = wantCurrent
	default:
		p.Pointer, p.Got = ijson.Pointer("").Member(s.Ended.Waiting.Argument), document.Got([]any{})
		p.Want = wantAction
	}
	return p
}

// WaitWords says what a run waits for, in a progress line.
func WaitWords(kind string) string {
	switch patterns.WaitingKind(kind) {
	case patterns.ForCaller:
		return waitsForCaller
	case patterns.ForRetry:
		return waitsForLack
	}
	return waitsForPerson
}
