package planexecute

import (
	"cmp"
	"fmt"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

const (
	maxModelResult = 64 << 10 // bytes of a model's result that are kept
	maxPause       = 30.0     // the longest pause before a retry in seconds, without what is added to it
)

// attempt tries a subtask once, in its branch.
func (x *execution) attempt(branch patterns.Run, i int) {
	s := x.plan.Subtasks[i]
	row := patterns.AttemptRow{Revision: x.plan.Revision, SubtaskID: s.ID, Tool: s.Tool, Attempt: x.attempts[i]}
	if row.Attempt > 1 {
		pause := x.pause[i]
		row.DelaySeconds = &pause
	}
	args, bad := planning.Resolve(argsOf(s), x.resultOf)
	switch {
	case bad != "":
		x.leave(i)
		x.failed(i, row, "bad_reference:"+bad)
	case s.Tool == planning.ModelExecutor:
		x.ask(branch, i, row, args)
	default:
		row.ArgsHash = ijson.ArgsHash(args)
		x.callTool(branch, i, row, args, renewal{})
	}
}

// resultOf returns the result of a completed subtask. It returns false for any other id.
func (p *planLog) resultOf(id string) (any, bool) {
	i, there := p.places[id]
	if !there || p.plan.Subtasks[i].Status != patterns.SubtaskCompleted {
		return nil, false
	}
	return p.plan.Subtasks[i].Result, true
}

// inputs returns the results of completed subtasks that a subtask works with, by their ids.
func (x *execution) inputs(i int, show func(patterns.PlannedSubtask) any) map[string]any {
	v := map[string]any{}
	for _, before := range x.graph.Inputs(i) {
		if s := x.plan.Subtasks[before]; s.Status == patterns.SubtaskCompleted {
			v[s.ID] = show(s)
		}
	}
	return v
}

// workQuestion returns the question for a subtask's result.
func (x *execution) workQuestion(i int, args map[string]any) patterns.Question {
	todo := x.plan.Subtasks[i]
	subtask := map[string]any{"id": todo.ID, "description": todo.Description}
	if len(args) > 0 {
		subtask["args"] = boundedArgs(args, maxModelArgs)
	}
	return patterns.Question{Ask: patterns.AskWork, Prompt: x.Spec.Prompts.Work, MaxRequests: -1, Unmarked: x.Spec.Unmarked, Payload: map[string]any{
		"goal": x.plan.Goal, "subtask": subtask, "inputs": x.inputs(i, func(s patterns.PlannedSubtask) any { return patterns.Clipped(s.Result) }),
	}}
}

// ask has the model work on a subtask.
func (x *execution) ask(branch patterns.Run, i int, row patterns.AttemptRow, args map[string]any) {
	q, s := x.Completed(patterns.PhaseExecute, x.workQuestion(i, args))
	if s != nil {
		x.leave(i)
		x.failed(i, row, s.Reason)
		return
	}
	q.JSON = q.Canonical()
	if limit := x.Spec.Budget.MaxLLMCalls; limit.Named() {
		q.MaxRequests = x.share(int(limit) - x.Usage.Requests - x.asking)
	}
	most := max(q.MaxRequests, 0)
	estimate := step.EstimateOf(q.JSON, x.Spec.Prices.Of(q))
	x.asking, x.underWay = x.asking+most, x.underWay.Plus(estimate)
	out := patterns.AskModel(branch, x.Effect(patterns.PhaseExecute, x.doing(row)), q)
	x.asking, x.underWay = x.asking-most, x.underWay.Minus(estimate)
	x.leave(i)
	x.Charge(out)
	text, _ := out.Output.(string)
	text = ijson.Trim(text)
	switch cut := step.CutReason(out); {
	case cut != "":
		x.interrupt(i, row, out, cut)
	case step.Interrupted(out):
		x.failed(i, row, "llm_unreachable")
	case out.State != patterns.OK:
		x.failed(i, row, out.Reason)
	case text == "":
		x.failed(i, row, "llm_empty")
	default:
		row.OK = true
		x.add(i, row)
		x.complete(i, planning.ModelExecutor, ijson.Cut(text, maxModelResult), len(text))
	}
}

// doing describes an attempt in words, for progress.
func (x *execution) doing(row patterns.AttemptRow) string {
	if row.Attempt > 1 {
		return fmt.Sprintf("%s, %s, attempt %d", row.SubtaskID, row.Tool, row.Attempt)
	}
	return fmt.Sprintf("%s, %s", row.SubtaskID, row.Tool)
}

// renewal says which judgment of a call no longer held, so that the call is judged again. The zero renewal means that the call
// is judged for the first time.
type renewal struct {
	n int // how often it was judged again
	// was is the permit that no longer held, and by what a person decided about it.
	was gateway.Permit
	by  *patterns.HumanApproval
}

// callTool makes a subtask's call if the gate allows it. A person must allow it too, if the policy requires one.
func (x *execution) callTool(branch patterns.Run, i int, row patterns.AttemptRow, args map[string]any, of renewal) {
	call := gateway.Proposal{
		Tool: row.Tool, Args: args, At: ijson.Pointer("/plan/subtasks").Index(i).Member("args"), Attempt: row.Attempt, Again: row.Attempt > 1,
		Of: x.first[i].Key, Weigh: step.Weigh(branch, patterns.PhaseExecute),
	}
	x.undecided++
	permit, human, stop := x.admit(branch, i, call, of)
	x.undecided--
	if human == nil {
		human = of.by
	}
	if stop != nil && step.EndsRun(stop.Reason) {
		x.cutBy(stop.Reason)
	}
	if x.cut != "" { // also if the run ended while a person was asked
		x.leave(i)
		x.attempts[i]--
		return
	}
	if row.HumanApproval = human; stop != nil {
		x.leave(i)
		var r patterns.Result
		if stop.With != nil {
			stop.With(&r)
		}
		row.Problems = r.Problems
		x.failed(i, row, stop.Reason)
		x.unmade(i)
		return
	}
	if before, _ := x.sent(i); x.once[i] != "" && permit.Effect() != catalog.Read && !ijson.Equal(permit.Proposed(), before) {
		x.leave(i)
		x.lost(i, row, "subtask_timeout") // with other arguments it would be another act, and the first may have happened
		x.unmade(i)
		return
	}
	if x.plan.Subtasks[i].Sent = nil; !ijson.Equal(permit.Proposed(), args) {
		x.plan.Subtasks[i].Sent = permit.Proposed()
	}
	row.ArgsHash = permit.Hash()
	e := x.Effect(patterns.PhaseExecute, x.doing(row))
	e.Timeout = x.Spec.Budget.SubtaskTimeout
	x.tools++
	x.Gate.ReserveAgain(permit, x.first[i].Key)
	out := patterns.CallTool(branch, e, patterns.CallAct{
		Permit: permit, Once: x.once[i], Attempt: patterns.Attempt{Of: x.first[i].Key, Before: x.earlier[i], Doubt: x.unknown[i]},
	})
	if step.IsStale(out) {
		x.tools--
		x.Gate.Release(permit)
		x.callTool(branch, i, row, args, renewal{of.n + 1, permit, human})
		return
	}
	out = x.sameAct(i, permit, out)
	x.leave(i)
	if _, again := x.repeats(i, permit, out); step.LeavesDoubt(permit, out) && !again && !step.PatternRetries(permit, out) || step.NeedsLookUp(permit, out) {
		x.once[i] = cmp.Or(out.Once, x.once[i])
		x.Note(permit, out)
		delete(x.again, i) // that was this attempt
		x.doubts[i] = doubted{call: step.MadeCall{Permit: permit, Out: out}, e: e, row: row}
		return
	}
	if out.State == patterns.Canceled {
		x.settled(i, row, permit, out, out)
		x.unmade(i)
		return
	}
	delete(x.again, i)
	if step.LeavesDoubt(permit, out) && !step.PatternRetries(permit, out) {
		x.again[i] = doubted{call: step.MadeCall{Permit: permit, Out: out}, e: e, row: row, over: true}
	}
	x.settled(i, row, permit, out, out)
}

// sameAct returns the outcome of a further attempt under the key of the first, because both are one act. Calls that only read
// keep their own keys.
func (x *execution) sameAct(i int, p gateway.Permit, out patterns.Outcome) patterns.Outcome {
	switch first := x.first[i]; {
	case p.Effect() == catalog.Read, out.State == patterns.Canceled:
		return out
	case first.Key != "":
		out = out.As(first)
	}
	x.first[i] = out
	return out
}

// sent returns the arguments of a subtask's newest call. It returns false if no call could have been sent.
func (p *planLog) sent(i int) (map[string]any, bool) {
	s := p.plan.Subtasks[i]
	if s.Sent != nil {
		return s.Sent, true
	}
	args, bad := planning.Resolve(argsOf(s), p.resultOf)
	return args, bad == ""
}

// admit judges a call, and asks a person about it if one is required. The stop says why the call must not be made.
func (x *execution) admit(branch patterns.Run, i int, call gateway.Proposal, of renewal) (gateway.Permit, *patterns.HumanApproval, *step.Stop) {
	permit, refusal := gateway.Permit{}, step.Stuck()
	switch {
	case of.n == 0:
		permit, refusal = x.Gate.Admit(call)
	case of.n < step.MaxStale:
		permit, refusal = x.Gate.Rejudge(call, of.was, of.by.GivenWith())
		call.Args = of.was.Proposed()
	}
	asks := x.asks(i, permit, refusal)
	switch {
	case asks == nil && refusal != nil:
		return permit, nil, x.NotAdmitted(patterns.PhaseExecute, call, refusal)
	case asks == nil:
		permit, human := x.shared(i, permit)
		return permit, human, nil
	}
	if permit, human, ok := x.covered(i, call, asks); ok {
		return permit, human, nil
	}
	c := step.Consent{Log: x.Log, Run: branch, Phase: patterns.PhaseExecute, Call: call}
	permit, refusal, reason := c.Obtain(*asks)
	for _, s := range c.Took {
		x.ExcludeTime(s.Since, s.Until)
	}
	switch {
	case refusal != nil:
		return permit, c.Human, x.NotAdmitted(patterns.PhaseExecute, c.Call, refusal)
	case reason != "":
		return permit, c.Human, step.Stopped(patterns.PhaseExecute, reason)
	}
	return permit, c.Human, nil
}

// settled handles the outcome of a call of which no more can be found out. known is what is known of a call that the run's end
// cut. For other calls it equals out.
func (x *execution) settled(i int, row patterns.AttemptRow, p gateway.Permit, known, out patterns.Outcome) {
	x.Note(p, known)
	x.unknown[i] = step.DoubtOf(p, out)
	if x.once[i] = cmp.Or(out.Once, x.once[i]); out.State == patterns.Unknown && p.Effect() != catalog.Read {
		x.plan.Subtasks[i].Once = x.once[i]
	}
	if x.first[i].Key != "" && x.first[i].Key == known.Key {
		x.first[i] = known
	}
	cut := step.CutReason(out)
	pause, again := x.repeats(i, p, out)
	switch {
	case cut != "" && known.State == patterns.OK: // it was looked up
		x.cutBy(cut)
		x.observed(i, row, known)
	case cut != "":
		x.interrupt(i, row, known, cut)
	case again:
		x.restBefore(i, row, step.CallReason(gateway.ExecutorFamily, p, out), pause)
	case step.MayHaveActed(p, out) && (!p.Repeatable() || step.LeavesDoubt(p, out) && out.Reason != patterns.ReasonTimeout):
		row.StopReason = "in_doubt:" + p.As()
		if out.Reason == patterns.ReasonTimeout {
			row.StopReason = "subtask_timeout"
		}
		x.add(i, row)
		x.doubt(i, row.StopReason)
		x.fault(i)
	case out.Reason == patterns.ReasonTimeout:
		x.failed(i, row, "subtask_timeout")
	case out.State != patterns.OK:
		reason := out.Reason // for example, of an approval
		if out.State != patterns.Canceled || reason == patterns.ReasonOnceReused {
			reason = step.CallReason(gateway.ExecutorFamily, p, out)
		}
		x.failed(i, row, reason)
	default:
		x.observed(i, row, out)
	}
}

// observed handles a call's observation.
func (x *execution) observed(i int, row patterns.AttemptRow, out patterns.Outcome) {
	text, reason := faultOf(row.Tool, out)
	if reason != "" {
		row.Error = text
		x.failed(i, row, reason)
		return
	}
	row.OK = true
	x.add(i, row)
	x.complete(i, "tool", out.Output, out.Bytes)
}

// faultOf returns why an observation does not complete a subtask, with the observation's own error text. The reason is "" if it
// does.
func faultOf(tool string, out patterns.Outcome) (text, reason string) {
	v, isObject := out.Output.(map[string]any)
	if !isObject {
		return "", gateway.ExecutorFamily.Reason("bad_result", tool)
	}
	text, reported := gateway.Reported(v)
	if v["success"] == false || reported {
		return text, gateway.ExecutorFamily.Reason("reported_error", tool)
	}
	return "", ""
}

// interrupt handles a subtask that the run's end cut short.
func (x *execution) interrupt(i int, row patterns.AttemptRow, out patterns.Outcome, cut string) {
	x.cutBy(cut)
	if out.State == patterns.Canceled { // it did not begin
		x.attempts[i]--
		if row.Tool != planning.ModelExecutor {
			x.tools--
		}
		return
	}
	row.StopReason = cut
	x.add(i, row)
	if x.plan.Subtasks[i].Attempts = x.attempts[i]; out.State == patterns.Unknown && !x.repeatable(row.Tool) {
		x.doubt(i, cut)
	}
}

func (x *execution) repeatable(tool string) bool {
	t, there := x.Spec.Catalog.Tool(tool)
	return !there || t.Repeatable()
}

// doubt marks a subtask that may have acted, with an unknown outcome.
func (x *execution) doubt(i int, why string) {
	s := &x.plan.Subtasks[i]
	s.Status, s.StopReason, s.Attempts = patterns.SubtaskInDoubt, why, x.attempts[i]
}

// failed handles a failed attempt. Another attempt follows, or the subtask ends as the call's failure strategy says.
func (x *execution) failed(i int, row patterns.AttemptRow, reason string) {
	if x.call.OnFailure == patterns.RetryOnFailure && transient(reason) && x.attempts[i] <= x.call.MaxRetries {
		x.restBefore(i, row, reason, x.pauseBefore(x.plan.Subtasks[i].ID, x.attempts[i]))
		return
	}
	x.lost(i, row, reason)
}

// add adds an attempt to the trace.
func (x *execution) add(i int, row patterns.AttemptRow) {
	x.rows = append(x.rows, rankedRow{row, x.rank[i]})
}
