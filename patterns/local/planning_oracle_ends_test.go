package local_test

import (
	"cmp"
	"slices"
)

// replan asks the model for the rest of the plan after failures; "" is: the run goes on.
func (r *oracleRun) replan() (reason, phase string) {
	first := r.firstOf("failed")
	switch {
	case !r.LLM:
		return "subtask_failed:" + first.ID, "execute"
	case r.Replans >= r.MaxReplans:
		return "max_replans", "replan"
	}
	if reason := r.noQuestion(); reason != "" {
		return reason, "replan"
	}
	r.asked++
	q := r.question(first.ID)
	r.requests = append(r.requests, q)
	f := r.fates.replan(q)
	if r.now = min(r.now+f.After, r.Time); r.now == r.Time {
		return "max_seconds", "replan"
	}
	r.tokens += perQuestion
	r.times = append(r.times, r.now)
	if f.Cause == "" {
		f.Cause = r.revise(f.Plan)
	}
	if f.Cause != "" {
		return f.Cause, "replan"
	}
	r.failing, r.budget = false, ""
	return r.denied(), "execute"
}

// question is what a model is asked for what remains of a plan.
func (p *oraclePlan) question(failed string) object {
	done, rest, used := []any{}, []any{}, []string{}
	for _, s := range p.Subs {
		used = append(used, s.ID)
		if s.Status == "completed" {
			done = append(done, object{"id": s.ID, "description": s.Desc, "result": s.Result})
		} else {
			rest = append(rest, object{"id": s.ID, "description": s.Desc, "status": p.status(s)})
		}
	}
	for _, r := range p.Removed {
		used = append(used, r.ID)
	}
	slices.Sort(used)
	return object{"goal": p.Goal, "completed": done, "remaining": rest, "failed_subtask": failed, "used_ids": used}
}

// revise takes a replan in, or says why not; then nothing has changed.
func (p *oraclePlan) revise(n *revised) (fault string) {
	done := len(p.ids(p.are("completed")))
	switch {
	case n.Fault == "non_json":
	case len(n.Subs) == 0 && (!n.Complete || len(p.ids(p.are("pending", "failed"))) > 0):
		n.Fault = "empty"
	case done+len(n.Subs) > p.MaxSubtasks:
		n.Fault = "max_subtasks"
	}
	if n.Fault != "" {
		return "invalid_replan:" + n.Fault
	}
	p.Revision++
	p.Replans++
	var stay []*oracleSub
	var gone []oracleTomb
	for _, s := range p.Subs {
		if s.Status == "completed" {
			stay = append(stay, s)
			continue
		}
		t := oracleTomb{ID: s.ID, Desc: s.Desc, Status: p.status(s), Revision: p.Revision}
		if t.Status == "failed" || t.Status == "skipped" {
			t.Stop = s.Stop
		}
		gone = append(gone, t)
	}
	p.Removed = append(p.Removed, gone...)
	p.Subs = stay
	n.Complete = n.Complete || p.Complete // what was complete stays so
	p.appended(n)
	return ""
}

// appended adds new subtasks.
func (p *oraclePlan) appended(n *revised) {
	for _, s := range n.Subs {
		fresh := *s
		fresh.Status = "pending"
		p.Subs = append(p.Subs, &fresh)
	}
	if p.Strategy == "iterative" {
		p.Complete = n.Complete
	}
	p.Answered, p.Answer = false, ""
}

func (r *oracleRun) firstOf(status string) *oracleSub {
	for _, s := range r.order() {
		if r.status(s) == status {
			return s
		}
	}
	return nil
}

// unresolved fails what would be the caller's turn now but refers to nothing.
func (r *oracleRun) unresolved() (some bool) {
	if r.failing || r.budget != "" || r.slotsWork() {
		return false
	}
	for _, s := range r.order() {
		if s.Tool != "caller" || !r.ready(s) {
			continue
		}
		if _, cause := r.arguments(s); cause != "" {
			r.tried[s.ID], s.Attempts, some = 1, 1, true
			row := r.newRow(s, 1)
			row.Stop = cause
			r.trace = append(r.trace, row)
			r.fail(s, cause)
		}
	}
	return some
}

// slotsWork reports whether something is ready for a slot.
func (r *oracleRun) slotsWork() bool {
	return slices.ContainsFunc(r.Subs, func(s *oracleSub) bool { return s.Tool != "caller" && r.ready(s) })
}

// quiet is a moment in which nothing runs, begins or falls due.
func (r *oracleRun) quiet() object {
	r.giveUp()
	if r.failing {
		s := r.firstOf("failed")
		switch {
		case r.tried[s.ID] > 1:
			return r.ends("max_retries:"+s.ID, "execute")
		case s.Stop == "subtask_timeout":
			return r.ends("subtask_timeout:"+s.ID, "execute")
		}
		return r.ends("subtask_failed:"+s.ID, "execute")
	}
	if r.budget != "" {
		return r.ends(r.budget, "execute")
	}
	if r.slotsWork() {
		return r.ends("max_steps", "execute")
	}
	var callers []any
	for _, s := range r.order() {
		if r.ready(s) {
			args, _ := r.arguments(s)
			callers = append(callers, object{"id": s.ID, "description": s.Desc, "inputs": r.inputsOf(s), "args": args, "expect": s.Expect})
		}
	}
	if callers != nil {
		o := r.show(true)
		o["ready_for_caller"] = callers
		return o
	}
	return r.over()
}

// over is: nothing is left to run.
func (r *oracleRun) over() object {
	if len(r.ids(r.are("completed"))) == len(r.Subs) {
		if r.Strategy == "iterative" && !r.Complete {
			return r.ends("iteration_pending", "")
		}
		return r.synthesis("success")
	}
	critical := func(status string) bool {
		return slices.ContainsFunc(r.Subs, func(s *oracleSub) bool { return s.Critical && r.status(s) == status })
	}
	switch {
	case critical("skipped"):
		return r.ends("critical_subtask_failed", "execute")
	case critical("blocked"):
		return r.ends("blocked_dependencies", "execute")
	case len(r.ids(r.are("completed"))) == 0:
		return r.ends("subtask_failed:"+r.firstOf("skipped").ID, "execute")
	}
	return r.synthesis("success_partial")
}

// synthesis asks for the final text, where one is wanted.
func (r *oracleRun) synthesis(reason string) object {
	if !r.Finalize {
		return r.ends(reason, "")
	}
	if reason := r.noQuestion(); reason != "" {
		return r.ends(reason, "finalize")
	}
	r.asked++
	r.requests = append(r.requests, object{"goal": r.Goal, "subtask_results": r.results()})
	f := r.fates.answer()
	if r.now = min(r.now+f.After, r.Time); r.now == r.Time {
		return r.ends("max_seconds", "finalize")
	}
	r.tokens += perQuestion
	switch {
	case f.Cause != "":
		return r.ends(f.Cause, "finalize")
	}
	r.Answered, r.Answer = true, f.Text
	return r.ends(reason, "")
}

func (p *oraclePlan) results() object {
	all := object{}
	for _, s := range p.Subs {
		if s.Status == "completed" {
			all[s.ID] = s.Result
		}
	}
	return all
}

// ends is how the run ended; a phase stands on stops alone.
func (r *oracleRun) ends(reason, phase string) object {
	o := r.show(false)
	o["stop_reason"], o["phase"] = reason, phase
	if phase == "" || reason == "plan_complete" {
		o["answer"] = r.Answer
	}
	if phase == "" {
		if !r.Finalize {
			o["answer"] = ""
		}
		return o
	}
	o["resumable"] = phase == "finalize" || len(r.ids(r.are("pending", "failed"))) > 0
	if len(r.ids(r.are("failed", "skipped"))) > 0 {
		o["open"] = r.ids(func(s *oracleSub) bool { return s.Status != "completed" })
	}
	return o
}

// show is what every result of plan_execute shows.
func (r *oracleRun) show(parked bool) object {
	o := object{"view": r.view(parked), "subtask_results": r.results(), "answer": "", "phase": "", "stop_reason": ""}
	slices.SortStableFunc(r.trace, func(a, b oracleRow) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.place, b.place), cmp.Compare(a.Attempt, b.Attempt))
	})
	o["trace"] = append([]oracleRow{}, r.trace...)
	history := []any{}
	for _, s := range r.Subs {
		if r.done[s.ID] {
			history = append(history, object{"subtask_id": s.ID, "tool": s.Tool, "attempts": s.Attempts, "result": s.Result, "source": s.Source})
		}
	}
	o["history"] = history
	used := object{"max_replans": r.Replans}
	if r.ToolCalls >= 0 {
		used["max_tool_calls"] = r.calls
	}
	if r.LLMCalls >= 0 {
		used["max_llm_calls"] = r.asked
	}
	if r.Tokens >= 0 {
		used["max_tokens"] = r.tokens
	}
	o["budget"] = used
	return o
}

// denied is why nothing may run: every unfinished subtask is checked again before.
func (r *oracleRun) denied() string {
	for _, s := range r.Subs {
		if s.Tool == r.Denied && (s.Status == "pending" || s.Status == "failed") {
			return "executor_denied:" + s.Tool
		}
	}
	return ""
}
