package kinds

import (
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// stop is why a run ends before it did what it was asked.
type stop struct {
	phase  string
	reason string
	with   func(*patterns.Result) // what the result shows besides; may be nil
}

func stopped(phase, reason string) *stop { return &stop{phase: phase, reason: reason} }

// refused is the stop of an intent that was not accepted; it is noted.
func (l *log) refused(phase, rawName string, r *document.Refusal, raw any) *stop {
	l.judged = append(l.judged, unread(phase, intentOf(rawName), r, raw))
	return &stop{phase, r.Reason, func(result *patterns.Result) {
		result.Problems, result.Raw, result.RawName = r.Problems, raw, rawName
	}}
}

// notAdmitted is the stop of a call that the gate refused; it is noted.
func (l *log) notAdmitted(phase string, p gateway.Proposal, s *gateway.Stop) *stop {
	l.judged = append(l.judged, barred(phase, p, s))
	return &stop{phase, s.Reason, func(result *patterns.Result) {
		if result.Problems, result.Need = s.Problems, s.Need; s.Block != nil {
			result.Blocked = patterns.BlockOf(p.Tool, p.Args, *s.Block)
		}
	}}
}

// notLet is the stop of a call that the gate refused as it was proposed: where that was the caller's, with the nearest one that the
// policy would not block.
func (l *log) notLet(phase string, p gateway.Proposal, s *gateway.Stop) *stop {
	if s.Block == nil || !l.byCaller {
		return l.notAdmitted(phase, p, s)
	}
	args, argument := l.gate.Nearest(p, *s.Block)
	return l.notAdmitted(phase, p, s).showing(func(r *patterns.Result) { r.Blocked.Nearest, r.Blocked.Argument = args, argument })
}

// log is what one run remembers: values only, rebuilt when the run is replayed.
type log struct {
	run  patterns.Run
	spec patterns.Spec
	task patterns.Task
	gate *gateway.Gate
	// tools are what a proposer may choose from; the same in every question of the run.
	tools []catalog.Tool

	start    time.Time
	deadline time.Time     // moves by the time that people took
	waited   time.Duration // what people took

	byCaller bool              // the newest intent was the caller's, or the next is to be
	queue    []document.Intent // the caller's proposals that are not taken yet
	batch    []document.Intent // the newest that the caller handed in at once
	taken    int               // of batch
	proposed []any             // all of the caller's that were accepted, in order
	handed   []any             // the newest batch that came by a turn
	turn     int               // the turn that would be waited for
	refusals int               // at this turn
	refusal  *stop             // the newest of them

	inputs   patterns.Inputs // the pattern's own; of planning the plan's
	words    string          // of who declared the pattern, for every question
	wordless bool            // they would be too long

	asked  bool // the model was asked
	usage  patterns.Usage
	models []patterns.ModelUsage // of it, by model
	filled []document.Filled
	said   []string          // progress words for what was decided since the last effect
	judged []patterns.Judged // what got no intent since then
	total  int               // calls that are planned; 0: not known

	soFar func() patterns.Result // the run as it stands, for who looks at it while it waits for a settlement
	// planned are the calls of the run's plan and limits notes the limits of its kind, for rules and results; nil: there are none.
	planned func() []gateway.PlannedCall
	limits  func(map[string]patterns.Spent)
	rested  time.Time // until then the time that does not count is counted off

	trace, history []any
}

// begin opens a run's log.
func begin(run patterns.Run, spec patterns.Spec, task patterns.Task, gate gateway.Config) *log {
	gate.Catalog, gate.Execution, gate.Budget, gate.Reviewer = spec.Catalog, spec.Execution, spec.Budget, spec.Reviewer
	now := run.Now()
	var l *log
	gate.Facts = func() gateway.Facts { return l.facts() }
	l = &log{
		run: run, spec: spec, task: task, gate: gateway.NewGate(gate), tools: spec.Offers(),
		start: now, deadline: now.Add(spec.Budget.MaxTime), trace: []any{}, history: []any{},
		byCaller: task.Caller != nil, turn: 1,
	}
	l.accept(task.Caller)
	l.instruct(task.Inputs)
	return l
}

// effect is an effect of a phase, with the words that wait to be said.
func (l *log) effect(phase, doing string) patterns.Effect {
	e := patterns.Effect{Phase: phase, Doing: doing, Deadline: l.deadline, Said: l.said, Judged: l.judged, Total: l.total}
	l.said, l.judged = nil, nil
	return e
}

// say keeps words of progress for the next effect.
func (l *log) say(words string) { l.said = append(l.said, words) }

// propose gets the next intent: the caller's, in order, or a model's answer to the question.
func (l *log) propose(phase string, q patterns.Question) (document.Intent, *stop) {
	if len(l.queue) > 0 {
		return l.callers(phase, q.Ask)
	}
	l.byCaller = false
	text, s := l.ask(phase, q.Ask.Choosing(), q)
	if s != nil {
		return document.Intent{}, s
	}
	return document.ReadReply(text), nil
}

// ask asks the model within the run's budgets and returns the reply's text, which is never blank.
func (l *log) ask(phase, doing string, q patterns.Question) (string, *stop) {
	q, s := l.asOwned(phase, q)
	if s != nil {
		return "", s
	}
	budget := l.spec.Budget
	if !budget.MaxLLMCalls.Allows(l.usage.Requests + 1) {
		return "", stopped(phase, "max_llm_calls")
	}
	q.JSON = q.Canonical()
	if s := l.unaffordable(phase, q, Estimate{}); s != nil {
		return "", s
	}
	q.MaxRequests, q.RulesMayWrite, q.Declared = -1, l.spec.RulesMayWrite, l.spec.Declared
	if q.Ask == patterns.AskAnswer || q.Ask == patterns.AskAction {
		q.Answer = l.spec.Answer
	}
	if budget.MaxLLMCalls.Named() {
		q.MaxRequests = int(budget.MaxLLMCalls) - l.usage.Requests
	}
	out := patterns.AskModel(l.run, l.effect(phase, doing), q)
	l.charge(out)
	if out.State != patterns.OK {
		return "", modelStop(phase, out)
	}
	text, _ := out.Output.(string)
	if ijson.Blank(text) {
		return "", stopped(phase, "llm_empty")
	}
	return text, nil
}

func modelStop(phase string, out patterns.Outcome) *stop {
	if cut := cutReason(out); cut != "" {
		return stopped(phase, cut)
	}
	if interrupted(out) { // this process ended with the question, time and again
		return stopped(phase, "llm_unreachable")
	}
	about, _ := out.Output.(map[string]any)
	return &stop{phase, out.Reason, func(r *patterns.Result) {
		r.Say, _ = about["say"].(string)
		candidates, _ := about["candidates"].([]any)
		for _, c := range candidates {
			r.Problems = append(r.Problems, document.Problem{Reason: "candidate", Got: document.Got(c), Want: "one of the allowed names that the goal means"})
		}
	}}
}

// called makes a permitted call, again where its tool declares so, finds out what became of it and notes it in the ledger.
// The outcome is known under the first attempt's key.
func (l *log) called(e patterns.Effect, p gateway.Permit) (_ patterns.Outcome, attempts int) {
	since := l.run.Now()
	if begins(p) {
		share := l.left()
		e.Share, e.SoFar = &share, l.soFar
	}
	out, attempts := l.attempts(l.run, e, p)
	known, out := l.found(made{p, out}, e, since)
	l.note(p, known)
	l.spend(p, out)
	return out, attempts
}

// shownAttempts is how often a call was made, where a row says so.
func shownAttempts(n int) int {
	if n < 2 {
		return 0
	}
	return n
}

// note enters a call into the ledger; one that was not tried leaves no row.
func (l *log) note(p gateway.Permit, out patterns.Outcome) {
	if out.State == patterns.Canceled || out.Order == 0 {
		l.gate.Release(p)
		return
	}
	l.gate.Note(p, gateway.Entry{
		Key: out.Key, Status: effectStatus(p, out), Observation: out.Output, Order: out.Order, Duplicate: out.Duplicate && out.State == patterns.OK,
		Unfit: out.State != patterns.OK && out.Reason == patterns.ReasonBadResult,
		At:    out.Sent(), RunID: l.run.ID(),
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

// wait adds time that a person took to the run's deadline: it does not count.
func (l *log) wait(since time.Time) { l.rest(since, l.run.Now()) }

// rest adds time that does not count to the run's deadline; what was added before is not added again.
func (l *log) rest(since, until time.Time) {
	if since.Before(l.rested) {
		since = l.rested
	}
	took := max(0, until.Sub(since))
	l.waited += took
	l.deadline = l.deadline.Add(took)
	l.rested = since.Add(took)
}

// end makes the result of what the log holds.
func (l *log) end(s *stop) patterns.Result {
	r := patterns.Result{
		StopReason: patterns.Success, Trace: l.trace, History: l.history, Ledger: l.gate.Ledger(), Usage: l.usage, Models: l.models,
		Filled: l.filled, ByCall: l.byCaller, Asked: l.asked, Budget: l.budget(),
		Proposed: l.proposed, Taken: len(l.proposed) - len(l.queue), Handed: l.handed, Judged: l.judged,
	}
	if s == nil {
		return r
	}
	r.StopReason, r.Phase = s.reason, s.phase
	if s.with != nil {
		s.with(&r)
	}
	return r
}

// budget are the limits in force, with what was used of them.
func (l *log) budget() map[string]patterns.Spent {
	spent := l.spent()
	if l.limits != nil {
		l.limits(spent)
	}
	return spent
}

// spent are the limits that every kind has.
func (l *log) spent() map[string]patterns.Spent {
	b := l.spec.Budget
	spent := map[string]patterns.Spent{
		"max_seconds": {Limit: patterns.Seconds(b.MaxTime), Used: patterns.Seconds(l.run.Now().Sub(l.start) - l.waited)},
	}
	limited(spent, "max_tool_calls", b.MaxToolCalls, l.gate.Tried())
	limited(spent, "max_llm_calls", b.MaxLLMCalls, l.usage.Requests)
	limited(spent, "max_tokens", b.MaxTokens, l.usage.InputTokens+l.usage.OutputTokens)
	limitedUSD(spent, b.MaxCost, l.usage.CostUSD)
	return spent
}

// limited notes a limit that is in force.
func limited(spent map[string]patterns.Spent, name string, limit gateway.Limit, used int) {
	if limit.Named() {
		spent[name] = patterns.Spent{Limit: float64(limit), Used: float64(used)}
	}
}

// callReason is the stop reason of a permitted call that did not end well, in a family's words.
func callReason(family gateway.Family, p gateway.Permit, out patterns.Outcome) string {
	if _, blocked := isBlocked(out); blocked {
		return out.Reason
	}
	switch out.Reason {
	case patterns.ReasonDeadline, patterns.ReasonCanceled:
		return cutReason(out)
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
	if mayHaveActed(p, out) {
		return "in_doubt:" + p.As()
	}
	return family.Reason("timeout", p.As())
}

// status is an observation's member status; nil where it has none.
func status(observation any) any {
	obj, _ := observation.(map[string]any)
	return obj["status"]
}

// showing is the stop with more to show.
func (s *stop) showing(more func(*patterns.Result)) *stop {
	first := s.with
	s.with = func(r *patterns.Result) {
		if first != nil {
			first(r)
		}
		more(r)
	}
	return s
}
