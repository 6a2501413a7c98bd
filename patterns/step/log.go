package step

import (
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Stop says why a run ends before it did what it was asked to do. A nil *Stop means that the run continues or succeeded.
type Stop struct {
	Phase  string
	Reason string
	With   func(*patterns.Result) // adds details to the result; may be nil
}

// Stopped returns a stop without details.
func Stopped(phase, reason string) *Stop { return &Stop{Phase: phase, Reason: reason} }

// Refused records that an intent was not accepted and returns the stop for it. rawName is the intent's name in results, such as
// raw_plan.
func (l *Log) Refused(phase, rawName string, r *document.Refusal, raw any) *Stop {
	l.NewJudged = append(l.NewJudged, unread(phase, intentOf(rawName), r, raw))
	return &Stop{phase, r.Reason, func(result *patterns.Result) {
		result.Problems, result.Raw, result.RawName = r.Problems, raw, rawName
	}}
}

// NotAdmitted records that the gate refused a call and returns the stop for it.
func (l *Log) NotAdmitted(phase string, p gateway.Proposal, s *gateway.Stop) *Stop {
	l.NewJudged = append(l.NewJudged, Barred(phase, p, s))
	return &Stop{phase, s.Reason, func(result *patterns.Result) {
		if result.Problems, result.Need = s.Problems, s.Need; s.Block != nil {
			result.Blocked = patterns.BlockOf(p.Tool, p.Args, *s.Block)
		}
	}}
}

// notLet records that the gate refused a proposed call, and returns the stop. If the policy blocked a call of the caller, the
// stop shows the nearest call that the policy would not block.
func (l *Log) notLet(phase string, p gateway.Proposal, s *gateway.Stop) *Stop {
	if s.Block == nil || !l.ByCaller {
		return l.NotAdmitted(phase, p, s)
	}
	args, argument := l.Gate.Nearest(p, *s.Block)
	return l.NotAdmitted(phase, p, s).Showing(func(r *patterns.Result) { r.Blocked.Nearest, r.Blocked.Argument = args, argument })
}

// Log is the state of one run. It holds values only, and is built again when the run is replayed. [Begin] makes one; the zero
// Log is not usable.
type Log struct {
	Run  patterns.Run
	Spec patterns.Spec
	Task patterns.Task
	Gate *gateway.Gate
	// Tools are what a proposer may choose from. They are the same in every question of the run.
	Tools []catalog.Tool

	Start    time.Time
	Deadline time.Time     // moves by the time that people took
	waited   time.Duration // the time that people took

	ByCaller bool              // the newest intent was the caller's, or the next one must be
	Queue    []document.Intent // the caller's proposals that were not taken yet
	batch    []document.Intent // the caller's newest batch
	taken    int               // how many of batch were taken
	proposed []any             // the caller's accepted proposals, in order
	handed   []any             // the newest batch that the run waited for
	turn     int               // the turn that the run would wait for
	refusals int               // refused batches at this turn
	refusal  *Stop             // the newest of these refusals

	inputs   patterns.Inputs // the pattern's own; in planning, the plan's
	words    string          // the owner's instructions, for every question
	wordless bool            // the instructions would be too long

	asked     bool // the model was asked
	Usage     patterns.Usage
	Models    []patterns.ModelUsage // the usage, by model
	Filled    []document.Filled     // arguments that were filled in
	Said      []string              // progress messages since the last effect
	NewJudged []patterns.Judged     // judgments since then of proposals that led to no intent
	Total     int                   // planned calls; 0 if unknown

	SoFar func() patterns.Result // the run's result so far, to show while the run waits
	// Planned returns the calls of the run's plan. Limits adds the limits of the run's kind, for rules and results. Either may
	// be nil.
	Planned func() []gateway.PlannedCall
	Limits  func(map[string]patterns.Spent)
	rested  time.Time // the time excluded so far is counted up to here

	// Trace and History are rows of the result.
	Trace, History []any
}

// Begin returns the log of a run that begins now. It sets the gate's catalog, execution allowlist, budget, reviewer and facts.
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

// Effect returns an effect of a phase. It moves the progress messages and judgments since the last effect into it.
func (l *Log) Effect(phase, doing string) patterns.Effect {
	e := patterns.Effect{Phase: phase, Doing: doing, Deadline: l.Deadline, Said: l.Said, Judged: l.NewJudged, Total: l.Total}
	l.Said, l.NewJudged = nil, nil
	return e
}

// Say adds a progress message to the next effect.
func (l *Log) Say(words string) { l.Said = append(l.Said, words) }

// propose gets the next intent: the caller's next proposal, or a model's answer if none is left.
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

// ask asks the model within the run's budgets. It returns the reply's text, which is never blank.
func (l *Log) ask(phase, doing string, q patterns.Question) (string, *Stop) {
	q, s := l.Completed(phase, q)
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
	q.MaxRequests, q.RulesMayWrite, q.Unmarked = -1, l.Spec.RulesMayWrite, l.Spec.Unmarked
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
	if Interrupted(out) { // the process ended during the question, again and again
		return Stopped(phase, "llm_unreachable")
	}
	about, _ := out.Output.(map[string]any)
	return &Stop{phase, out.Reason, func(r *patterns.Result) {
		r.Say, _ = about["say"].(string)
		candidates, _ := about["candidates"].([]any)
		for _, c := range candidates {
			r.Problems = append(r.Problems, document.Problem{Reason: "candidate", Got: document.Got(c), Want: "a request that names it, if you mean it"})
		}
	}}
}

// Perform makes a permitted call and repeats it as its tool declares. It settles a call in doubt and records the call in the
// ledger. The outcome has the first attempt's key. attempts is how often the call was made.
func (l *Log) Perform(e patterns.Effect, p gateway.Permit) (_ patterns.Outcome, attempts int) {
	since := l.Run.Now()
	c := patterns.CallAct{Permit: p}
	if BeginsRun(p) {
		share := l.ShareLeft()
		c.Share, c.SoFar = &share, l.SoFar
	}
	out, attempts := l.attempts(l.Run, e, c)
	known, out := l.FindOut(MadeCall{p, out}, e, since)
	l.Note(p, known)
	l.spend(p, out)
	return out, attempts
}

// ShownAttempts returns how often a call was made, as rows show it. It returns 0 for fewer than 2 attempts.
func ShownAttempts(n int) int {
	if n < 2 {
		return 0
	}
	return n
}

// Note records a call in the ledger. A call that was not tried gets no row: its reservation is released.
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

// effectStatus returns what is known about a call. A call that may have happened is in doubt, unless its tool only reads.
func effectStatus(p gateway.Permit, out patterns.Outcome) gateway.EffectStatus {
	switch {
	case out.State == patterns.OK, out.Reason == patterns.ReasonBadResult: // the tool answered, even if its result does not fit
		return gateway.Finished
	case out.State == patterns.Unknown && p.Effect() != catalog.Read:
		return gateway.InDoubt
	}
	return gateway.Failed
}

// ExcludeSince adds the time since then to the run's deadline, because it does not count.
func (l *Log) ExcludeSince(since time.Time) { l.ExcludeTime(since, l.Run.Now()) }

// ExcludeTime adds a period to the run's deadline, because it does not count. It skips the part that was added before.
func (l *Log) ExcludeTime(since, until time.Time) {
	if since.Before(l.rested) {
		since = l.rested
	}
	took := max(0, until.Sub(since))
	l.waited += took
	l.Deadline = l.Deadline.Add(took)
	l.rested = since.Add(took)
}

// End returns the run's result. A nil stop means success.
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

// budget returns the limits in force, with what was used of each.
func (l *Log) budget() map[string]patterns.Spent {
	spent := l.spent()
	if l.Limits != nil {
		l.Limits(spent)
	}
	return spent
}

// spent returns the limits that every kind has, with what was used of each.
func (l *Log) spent() map[string]patterns.Spent {
	b := l.Spec.Budget
	spent := map[string]patterns.Spent{
		"max_seconds": {Limit: patterns.Seconds(b.MaxTime), Used: patterns.Seconds(l.Run.Now().Sub(l.Start) - l.waited)},
	}
	AddLimit(spent, "max_tool_calls", b.MaxToolCalls, l.Gate.Tried())
	AddLimit(spent, "max_llm_calls", b.MaxLLMCalls, l.Usage.Requests)
	AddLimit(spent, "max_tokens", b.MaxTokens, l.Usage.InputTokens+l.Usage.OutputTokens)
	limitedUSD(spent, b.MaxCost, l.Usage.CostUSD)
	return spent
}

// AddLimit adds a limit to spent if the limit is set.
func AddLimit(spent map[string]patterns.Spent, name string, limit gateway.Limit, used int) {
	if limit.Named() {
		spent[name] = patterns.Spent{Limit: float64(limit), Used: float64(used)}
	}
}

// CallReason returns the stop reason of a permitted call that did not succeed, in the words of its family.
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

// blockedBy begins the reason of a call that the policy blocks, or that is treated as blocked.
const blockedBy = "policy_block:"

// timeoutReason returns the stop reason of a call that timed out. A call that may have acted is in doubt, except in families
// with their own reason for timeouts.
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

// Status returns the member status of an observation, or nil if there is none.
func Status(observation any) any {
	obj, _ := observation.(map[string]any)
	return obj["status"]
}

// Showing adds details to the stop and returns it.
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
