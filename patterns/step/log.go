package step

import (
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Stop is why a run ends before it did what it was asked.
type Stop struct {
	Phase  string
	Reason string
	With   func(*patterns.Result) // what the result shows besides; may be nil
}

func Stopped(phase, reason string) *Stop { return &Stop{Phase: phase, Reason: reason} }

// Refused is the stop of an intent that was not accepted; it is noted.
func (l *Log) Refused(phase, rawName string, r *document.Refusal, raw any) *Stop {
	l.NewJudged = append(l.NewJudged, unread(phase, intentOf(rawName), r, raw))
	return &Stop{phase, r.Reason, func(result *patterns.Result) {
		result.Problems, result.Raw, result.RawName = r.Problems, raw, rawName
	}}
}

// NotAdmitted is the stop of a call that the gate refused; it is noted.
func (l *Log) NotAdmitted(phase string, p gateway.Proposal, s *gateway.Stop) *Stop {
	l.NewJudged = append(l.NewJudged, Barred(phase, p, s))
	return &Stop{phase, s.Reason, func(result *patterns.Result) {
		if result.Problems, result.Need = s.Problems, s.Need; s.Block != nil {
			result.Blocked = patterns.BlockOf(p.Tool, p.Args, *s.Block)
		}
	}}
}

// notLet is the stop of a call that the gate refused as it was proposed: where that was the caller's, with the nearest one that the
// policy would not block.
func (l *Log) notLet(phase string, p gateway.Proposal, s *gateway.Stop) *Stop {
	if s.Block == nil || !l.ByCaller {
		return l.NotAdmitted(phase, p, s)
	}
	args, argument := l.Gate.Nearest(p, *s.Block)
	return l.NotAdmitted(phase, p, s).Showing(func(r *patterns.Result) { r.Blocked.Nearest, r.Blocked.Argument = args, argument })
}

// Log is what one run remembers: values only, rebuilt when the run is replayed.
type Log struct {
	Run  patterns.Run
	Spec patterns.Spec
	Task patterns.Task
	Gate *gateway.Gate
	// tools are what a proposer may choose from; the same in every question of the run.
	Tools []catalog.Tool

	Start    time.Time
	Deadline time.Time     // moves by the time that people took
	waited   time.Duration // what people took

	ByCaller bool              // the newest intent was the caller's, or the next is to be
	Queue    []document.Intent // the caller's proposals that are not taken yet
	batch    []document.Intent // the newest that the caller handed in at once
	taken    int               // of batch
	proposed []any             // all of the caller's that were accepted, in order
	handed   []any             // the newest batch that came by a turn
	turn     int               // the turn that would be waited for
	refusals int               // at this turn
	refusal  *Stop             // the newest of them

	inputs   patterns.Inputs // the pattern's own; of planning the plan's
	words    string          // of who declared the pattern, for every question
	wordless bool            // they would be too long

	asked     bool // the model was asked
	Usage     patterns.Usage
	Models    []patterns.ModelUsage // of it, by model
	Filled    []document.Filled
	Said      []string          // progress words for what was decided since the last effect
	NewJudged []patterns.Judged // what got no intent since then
	Total     int               // calls that are planned; 0: not known

	SoFar func() patterns.Result // the run as it stands, for who looks at it while it waits for a settlement
	// planned are the calls of the run's plan and limits notes the limits of its kind, for rules and results; nil: there are none.
	Planned func() []gateway.PlannedCall
	Limits  func(map[string]patterns.Spent)
	rested  time.Time // until then the time that does not count is counted off

	Trace, History []any
}

// Begin opens a run's log.
func Begin(run patterns.Run, spec patterns.Spec, task patterns.Task, gate gateway.Config) *Log {
	gate.Catalog, gate.Execution, gate.Budget, gate.Reviewer = spec.Catalog, spec.Execution, spec.Budget, spec.Reviewer
	now := run.Now()
	var l *Log
	gate.Facts = func() gateway.Facts { return l.facts() }
	l = &Log{
		Run: run, Spec: spec, Task: task, Gate: gateway.NewGate(gate), Tools: spec.Offers(),
		Start: now, Deadline: now.Add(spec.Budget.MaxTime), Trace: []any{}, History: []any{},
		ByCaller: task.Caller != nil, turn: 1,
	}
	l.accept(task.Caller)
	l.Instruct(task.Inputs)
	return l
}

// Effect is an effect of a phase, with the words that wait to be said.
func (l *Log) Effect(phase, doing string) patterns.Effect {
	e := patterns.Effect{Phase: phase, Doing: doing, Deadline: l.Deadline, Said: l.Said, Judged: l.NewJudged, Total: l.Total}
	l.Said, l.NewJudged = nil, nil
	return e
}

// Say keeps words of progress for the next effect.
func (l *Log) Say(words string) { l.Said = append(l.Said, words) }

// propose gets the next intent: the caller's, in order, or a model's answer to the question.
func (l *Log) propose(phase string, q patterns.Question) (document.Intent, *Stop) {
	if len(l.Queue) > 0 {
		return l.callers(phase, q.Ask)
	}
	l.ByCaller = false
	text, s := l.ask(phase, q.Ask.Choosing(), q)
	if s != nil {
		return document.Intent{}, s
	}
	return document.ReadReply(text), nil
}

// ask asks the model within the run's budgets and returns the reply's text, which is never blank.
func (l *Log) ask(phase, doing string, q patterns.Question) (string, *Stop) {
	q, s := l.AsDeclared(phase, q)
	if s != nil {
		return "", s
	}
	budget := l.Spec.Budget
	if !budget.MaxLLMCalls.Allows(l.Usage.Requests + 1) {
		return "", Stopped(phase, "max_llm_calls")
	}
	q.JSON = q.Canonical()
	if s := l.Unaffordable(phase, q, Estimate{}); s != nil {
		return "", s
	}
	q.MaxRequests, q.RulesMayWrite, q.Declared = -1, l.Spec.RulesMayWrite, l.Spec.Declared
	if q.Ask == patterns.AskAnswer || q.Ask == patterns.AskAction {
		q.Answer = l.Spec.Answer
	}
	if budget.MaxLLMCalls.Named() {
		q.MaxRequests = int(budget.MaxLLMCalls) - l.Usage.Requests
	}
	out := patterns.AskModel(l.Run, l.Effect(phase, doing), q)
	l.Charge(out)
	if out.State != patterns.OK {
		return "", modelStop(phase, out)
	}
	text, _ := out.Output.(string)
	if ijson.Blank(text) {
		return "", Stopped(phase, "llm_empty")
	}
	return text, nil
}

func modelStop(phase string, out patterns.Outcome) *Stop {
	if cut := CutReason(out); cut != "" {
		return Stopped(phase, cut)
	}
	if Interrupted(out) { // this process ended with the question, time and again
		return Stopped(phase, "llm_unreachable")
	}
	about, _ := out.Output.(map[string]any)
	return &Stop{phase, out.Reason, func(r *patterns.Result) {
		r.Say, _ = about["say"].(string)
		candidates, _ := about["candidates"].([]any)
		for _, c := range candidates {
			r.Problems = append(r.Problems, document.Problem{Reason: "candidate", Got: document.Got(c), Want: "one of the allowed names that the goal means"})
		}
	}}
}

// Perform makes a permitted call, again where its tool declares so, finds out what became of it and notes it in the ledger.
// The outcome is known under the first attempt's key.
func (l *Log) Perform(e patterns.Effect, p gateway.Permit) (_ patterns.Outcome, attempts int) {
	since := l.Run.Now()
	if BeginsRun(p) {
		share := l.ShareLeft()
		e.Share, e.SoFar = &share, l.SoFar
	}
	out, attempts := l.attempts(l.Run, e, p)
	known, out := l.FindOut(Made{p, out}, e, since)
	l.Note(p, known)
	l.spend(p, out)
	return out, attempts
}

// ShownAttempts is how often a call was made, where a row says so.
func ShownAttempts(n int) int {
	if n < 2 {
		return 0
	}
	return n
}

// Note enters a call into the ledger; one that was not tried leaves no row.
func (l *Log) Note(p gateway.Permit, out patterns.Outcome) {
	if out.State == patterns.Canceled || out.Order == 0 {
		l.Gate.Release(p)
		return
	}
	l.Gate.Note(p, gateway.Entry{
		Key: out.Key, Status: effectStatus(p, out), Observation: out.Output, Order: out.Order, Duplicate: out.Duplicate && out.State == patterns.OK,
		Unfit: out.State != patterns.OK && out.Reason == patterns.ReasonBadResult,
		At:    out.Sent(), RunID: l.Run.ID(),
	})
}

// effectStatus says what is known about a call. What may have happened is in doubt unless it only read.
func effectStatus(p gateway.Permit, out patterns.Outcome) gateway.EffectStatus {
	switch {
	case out.State == patterns.OK, out.Reason == patterns.ReasonBadResult: // it answered, if not what it should
		return gateway.Finished
	case out.State == patterns.Unknown && p.Effect() != catalog.Read:
		return gateway.InDoubt
	}
	return gateway.Failed
}

// Wait adds time that a person took to the run's deadline: it does not count.
func (l *Log) Wait(since time.Time) { l.Rest(since, l.Run.Now()) }

// Rest adds time that does not count to the run's deadline; what was added before is not added again.
func (l *Log) Rest(since, until time.Time) {
	if since.Before(l.rested) {
		since = l.rested
	}
	took := max(0, until.Sub(since))
	l.waited += took
	l.Deadline = l.Deadline.Add(took)
	l.rested = since.Add(took)
}

// End makes the result of what the log holds.
func (l *Log) End(s *Stop) patterns.Result {
	r := patterns.Result{
		StopReason: patterns.Success, Trace: l.Trace, History: l.History, Ledger: l.Gate.Ledger(), Usage: l.Usage, Models: l.Models,
		Filled: l.Filled, ByCall: l.ByCaller, Asked: l.asked, Budget: l.budget(),
		Proposed: l.proposed, Taken: len(l.proposed) - len(l.Queue), Handed: l.handed, Judged: l.NewJudged,
	}
	if s == nil {
		return r
	}
	r.StopReason, r.Phase = s.Reason, s.Phase
	if s.With != nil {
		s.With(&r)
	}
	return r
}

// budget are the limits in force, with what was used of them.
func (l *Log) budget() map[string]patterns.Spent {
	spent := l.spent()
	if l.Limits != nil {
		l.Limits(spent)
	}
	return spent
}

// spent are the limits that every kind has.
func (l *Log) spent() map[string]patterns.Spent {
	b := l.Spec.Budget
	spent := map[string]patterns.Spent{
		"max_seconds": {Limit: patterns.Seconds(b.MaxTime), Used: patterns.Seconds(l.Run.Now().Sub(l.Start) - l.waited)},
	}
	Limited(spent, "max_tool_calls", b.MaxToolCalls, l.Gate.Tried())
	Limited(spent, "max_llm_calls", b.MaxLLMCalls, l.Usage.Requests)
	Limited(spent, "max_tokens", b.MaxTokens, l.Usage.InputTokens+l.Usage.OutputTokens)
	limitedUSD(spent, b.MaxCost, l.Usage.CostUSD)
	return spent
}

// Limited notes a limit that is in force.
func Limited(spent map[string]patterns.Spent, name string, limit gateway.Limit, used int) {
	if limit.Named() {
		spent[name] = patterns.Spent{Limit: float64(limit), Used: float64(used)}
	}
}

// CallReason is the stop reason of a permitted call that did not end well, in a family's words.
func CallReason(family gateway.Family, p gateway.Permit, out patterns.Outcome) string {
	if _, blocked := IsBlocked(out); blocked {
		return out.Reason
	}
	switch out.Reason {
	case patterns.ReasonDeadline, patterns.ReasonCanceled:
		return CutReason(out)
	case gateway.ApprovalExpired, gateway.ApprovalConsumed, gateway.ApprovalInvalid:
		return out.Reason
	case patterns.ReasonKillSwitch:
		return patterns.ReasonKillSwitch
	case patterns.ReasonOnceReused:
		return blockedBy + patterns.ReasonOnceReused
	case patterns.ReasonStale:
		return blockedBy + gateway.NoRuleMatched
	case patterns.ReasonInterrupted, patterns.ReasonBrokenReply:
		return "in_doubt:" + p.As()
	case patterns.ReasonUnavailable:
		return family.Reason("unavailable", p.As())
	case patterns.ReasonTimeout:
		return timeoutReason(family, p, out)
	case patterns.ReasonBadResult:
		if family == gateway.RouteFamily {
			return "route_bad_observation"
		}
		return family.Reason("bad_result", p.As())
	}
	return family.Reason("error", p.As())
}

// blockedBy begins the reason of a call that is refused as by a policy.
const blockedBy = "policy_block:"

// timeoutReason is the stop reason of a call that took too long. One that may have acted is in doubt, but in families that
// have a word of their own for that.
func timeoutReason(family gateway.Family, p gateway.Permit, out patterns.Outcome) string {
	switch family {
	case gateway.WorkerFamily:
		return "task_timeout"
	case gateway.ExecutorFamily:
		return "subtask_timeout"
	}
	if MayHaveActed(p, out) {
		return "in_doubt:" + p.As()
	}
	return family.Reason("timeout", p.As())
}

// Status is an observation's member status; nil where it has none.
func Status(observation any) any {
	obj, _ := observation.(map[string]any)
	return obj["status"]
}

// Showing is the stop with more to show.
func (s *Stop) Showing(more func(*patterns.Result)) *Stop {
	first := s.With
	s.With = func(r *patterns.Result) {
		if first != nil {
			first(r)
		}
		more(r)
	}
	return s
}
