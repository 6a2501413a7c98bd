package planexecute

import (
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// execution carries a plan out: subtasks run as soon as what they wait for is completed and a slot is free, in the order
// of their levels, then of their places.
//
//	         ┌────────────── next: retries that are due, then the first ready one ◀─────────┐
//	         ▼                                                                               │ a body ended
//	Flow: attempt ──▶ completed | retry after a pause | failed | skipped | in doubt ─────────┘
//	         │ nothing runs, nothing can start
//	         ▼
//	doubts settled ─▶ failed: stop, or one replan ─▶ the caller's work: the run waits ─▶ the end
type execution struct {
	*planLog
	*schedule
	done      map[string]bool       // completed by this run
	rows      []rankedRow           // of the trace
	cut       string                // the run's own end came: max_seconds or cancelled
	spent     string                // a budget that is used up, when there was work for it
	began     int                   // subtasks, without the caller's
	underWay  step.Estimate         // what they were estimated at
	over      *step.Stop            // of a question for which no budget is left
	asking    int                   // requests that questions under way may cost
	undecided int                   // calls that a person is asked about
	turns     int                   // of the caller that have passed
	before    []patterns.AttemptRow // the plan's trace without this run's rows
	kept      int                   // rows that were stored before the run waited
	refused   []document.Problem    // of the caller's newest results, where they did not fit
	shares    *envelope             // what a person approved as a whole; nil: nobody was asked
}

// rankedRow is a trace row with its subtask's place in the order of execution.
type rankedRow struct {
	patterns.AttemptRow
	rank int
}

// carryOut executes the plan and stores how far it came.
func (x *execution) carryOut() patterns.Result {
	if stop := x.open(); stop != nil {
		return x.unopened(stop)
	}
	x.SoFar = x.standing
	x.Run.Shows(x.standing)
	stop := x.approved()
	if stop == nil {
		stop = x.work()
	}
	if x.plan == nil { // it was lost to another
		return x.result(stop)
	}
	text := ""
	if stop == nil || stop.Reason == patterns.SuccessPartial {
		text, stop = x.finalText(stop)
	}
	return x.close(stop, text)
}

// open gets the plan and checks all that can be checked before anything of it runs.
func (x *execution) open() *step.Stop {
	if stop := x.own(); stop != nil {
		return stop
	}
	x.done = map[string]bool{}
	if x.plan.Completed() && !x.plan.Unfinished() && (x.plan.Answered || !x.Task.Finalize) {
		return step.Stopped(patterns.PhaseExecute, "plan_complete").Showing(x.withResults)
	}
	if stop := x.callable(); stop != nil {
		return stop
	}
	for i := range x.plan.Subtasks { // a new run has retries of its own
		if s := &x.plan.Subtasks[i]; s.Status == patterns.SubtaskFailed {
			s.Status, s.StopReason = patterns.SubtaskPending, "" // how often it ran in its last run is still true
		}
	}
	x.before = x.plan.Trace
	x.schedule = newSchedule(x.plan, x.graph)
	x.Total = x.calls()
	x.Gate.Remember(x.acted())
	return nil
}

// calls are how many subtasks with a catalog tool are not finished.
func (x *execution) calls() int {
	n := 0
	for _, s := range x.plan.Subtasks {
		if s.Status == patterns.SubtaskPending && s.Tool != planning.CallerExecutor && s.Tool != planning.ModelExecutor {
			n++
		}
	}
	return n
}

// unopened is what a run came to that carried nothing out. That its tools may not be called is kept with the plan.
func (x *execution) unopened(s *step.Stop) patterns.Result {
	if x.held && strings.HasPrefix(s.Reason, string(gateway.ExecutorFamily)) {
		x.plan.Last = &patterns.PlanRun{RunID: x.Run.ID(), Status: "stopped", StopReason: s.Reason}
		if conflict := x.commit(patterns.PhaseExecute, false); conflict != nil {
			return x.result(conflict)
		}
		return x.account(s)
	}
	x.giveBack(patterns.PhaseExecute)
	return x.result(s)
}

// own gets the plan that is to be carried out: a stored one, or the caller's, which is stored first, unless the results that
// come with it do not fit it.
func (x *execution) own() *step.Stop {
	if x.call.PlanID != "" {
		if stop := x.load(patterns.PhaseExecute, false); stop != nil {
			return stop
		}
		return x.misfit()
	}
	limits := x.call
	limits.Strategy, limits.MaxSubtasks, limits.MaxDepth = planning.Flat, x.Spec.Budget.MaxSubtasks, x.Spec.Budget.MaxDepth
	doc, stop := x.document(patterns.PhasePlan, patterns.Question{Ask: patterns.AskSubtasks}, func(in document.Intent) planning.Rules {
		limits.Strategy = planning.StrategyOf(in)
		r := x.rules("invalid_plan", limits.Strategy)
		r.Min, r.Max, r.MaxDepth, r.TakesGoal = x.Spec.Budget.MinSubtasks, limits.MaxSubtasks, limits.MaxDepth, true
		return r
	})
	if stop != nil {
		return x.refusedPlan(stop)
	}
	x.Task.Goal = doc.Goal
	x.take(x.newPlan(doc, limits))
	if stop := x.misfit(); stop != nil {
		return stop
	}
	return x.create(patterns.PhasePlan, true)
}

// misfit is the stop of results that do not fit the plan; nil: they do.
func (x *execution) misfit() *step.Stop {
	if problems := judgeResults(x.call.Results, *x.plan, x.graph); len(problems) > 0 {
		return x.unfit(problems)
	}
	return nil
}

// callable checks every subtask that is not finished against what may be called now: the plan may be older than the
// configuration.
func (x *execution) callable() *step.Stop {
	var problems []document.Problem
	at := ijson.Pointer("/plan/subtasks")
	for i, s := range x.plan.Subtasks {
		if s.Status == patterns.SubtaskCompleted || s.Status == patterns.SubtaskSkipped || s.Status == patterns.SubtaskInDoubt || s.Tool == planning.CallerExecutor {
			continue
		}
		what, place, want := x.barredFrom(s)
		if what == "" {
			continue
		}
		reason := gateway.ExecutorFamily.Reason(what, s.Tool)
		problems = append(problems, document.Problem{Pointer: at.Index(i) + place, Reason: reason, Got: document.Got(s.Tool), Want: want})
	}
	if len(problems) == 0 {
		return nil
	}
	return step.Stopped(patterns.PhaseExecute, problems[0].Reason).Showing(func(r *patterns.Result) { r.Problems = document.CapProblems(problems) })
}

// barredFrom says why a subtask's tool may not be called as the plan has it; "" it may.
func (x *execution) barredFrom(s patterns.PlannedSubtask) (what string, place ijson.Pointer, want string) {
	const toolAt = "/tool"
	if s.Tool == planning.ModelExecutor {
		if !x.Spec.LLM {
			return "denied", toolAt, "a tool, or caller: no language model is configured"
		}
		return "", "", ""
	}
	tool, there := x.Spec.Catalog.Tool(s.Tool)
	switch {
	case !slices.Contains(x.Spec.Execution, s.Tool):
		return "denied", toolAt, "a tool of the execution allowlist"
	case !there:
		return "missing", toolAt, "a tool that the catalog has"
	case planning.HasReferences(s.Args): // judged with what they refer to
		return "", "", ""
	}
	if wrong := tool.Check(tool.Filled(argsOf(s))); len(wrong) > 0 {
		return "bad_args", "/args" + wrong[0].Pointer, wrong[0].Want
	}
	return "", "", ""
}

func argsOf(s patterns.PlannedSubtask) map[string]any {
	if s.Args == nil {
		return map[string]any{}
	}
	return s.Args
}

// work goes on until nothing more can be done, and says how the run ends; nil is success.
func (x *execution) work() *step.Stop {
	x.enter(x.call.Results)
	for {
		x.Run.Flow(x.next)
		x.quiet()
		if x.settleDoubts() {
			continue
		}
		if x.stopsHere() == nil && x.unresolved() {
			continue
		}
		stop := x.stopsHere()
		switch {
		case stop != nil && x.plansAnew():
			failed, _ := x.firstFailed()
			if stop = x.replanFailed(failed); stop != nil {
				return stop
			}
		case stop != nil:
			return stop
		case len(x.forCaller()) > 0:
			if stop := x.await(); stop != nil {
				return stop
			}
		default:
			return x.ended()
		}
	}
}

// stopsHere says why nothing more is begun although there may be work; nil: nothing stands against it.
func (x *execution) stopsHere() *step.Stop {
	if x.cut != "" {
		return step.Stopped(patterns.PhaseExecute, x.cut)
	}
	if i, failed := x.firstFailed(); failed {
		return x.failure(i)
	}
	if x.spent != "" && x.mayBegin() { // what it was spent for may turn out to be done
		if x.over != nil && x.over.Reason == x.spent {
			return x.over
		}
		return step.Stopped(patterns.PhaseExecute, x.spent)
	}
	return nil
}

// plansAnew reports whether what failed is a reason for another plan, rather than for a stop. A plan in which a subtask is in
// doubt, of this run or an earlier one, is not replaced by itself: the new one might have the act again, as another act.
func (x *execution) plansAnew() bool {
	return x.cut == "" && x.faults > 0 && x.wantsReplan() && !x.plan.Has(patterns.SubtaskInDoubt)
}

// wantsReplan reports whether the call wants another plan where a subtask fails, and there is who makes it.
func (x *execution) wantsReplan() bool {
	return x.call.OnFailure == patterns.ReplanOnFailure && x.Spec.LLM
}

// firstFailed is the first subtask in the order of execution that failed or is in doubt in this run.
func (x *execution) firstFailed() (int, bool) {
	for _, i := range x.order {
		if x.faulty[i] {
			return i, true
		}
	}
	return 0, false
}

// failure is the stop for a subtask that failed.
func (x *execution) failure(i int) *step.Stop {
	s := x.plan.Subtasks[i]
	reason := "subtask_failed:"
	switch {
	case s.Status == patterns.SubtaskInDoubt:
		return step.Stopped(patterns.PhaseExecute, "in_doubt:"+s.ID)
	case x.wantsReplan() && x.plan.Has(patterns.SubtaskInDoubt): // why there is no other plan
		return step.Stopped(patterns.PhaseExecute, "in_doubt:"+x.plan.FirstOf(x.graph, patterns.SubtaskInDoubt))
	case x.call.OnFailure == patterns.ReplanOnFailure: // there is no model to plan anew, and that is all it says then
	case x.attempts[i] > 1:
		reason = "max_retries:"
	case s.StopReason == "subtask_timeout":
		reason = "subtask_timeout:"
	}
	x.made.Failed = s.ID
	return step.Stopped(patterns.PhaseExecute, reason+s.ID)
}

// ended says how a plan ends of which nothing is left to run.
func (x *execution) ended() *step.Stop {
	rows := x.plan.Rows(x.graph, nil)
	critical := func(status patterns.SubtaskStatus) bool {
		return slices.ContainsFunc(rows, func(r patterns.SubtaskRow) bool { return r.Critical && r.Status == status })
	}
	skipped, doubt, completed := x.plan.IDs(patterns.SubtaskSkipped), x.plan.IDs(patterns.SubtaskInDoubt), x.plan.IDs(patterns.SubtaskCompleted)
	if len(skipped) > 0 {
		x.made.Failed = skipped[0]
	}
	switch {
	case len(doubt) > 0:
		return step.Stopped(patterns.PhaseExecute, "in_doubt:"+doubt[0])
	case len(completed) == len(rows) && x.plan.Unfinished():
		return step.Stopped("", patterns.IterationPending)
	case len(completed) == len(rows):
		return nil
	case critical(patterns.SubtaskSkipped):
		return step.Stopped(patterns.PhaseExecute, "critical_subtask_failed")
	case critical(patterns.SubtaskBlocked):
		return step.Stopped(patterns.PhaseExecute, "blocked_dependencies")
	case len(completed) == 0 && len(skipped) > 0:
		return step.Stopped(patterns.PhaseExecute, "subtask_failed:"+skipped[0])
	}
	return step.Stopped("", patterns.SuccessPartial)
}

// finalText asks for a final text after success, if the call wants one.
func (x *execution) finalText(s *step.Stop) (string, *step.Stop) {
	if !x.Task.Finalize {
		return "", s
	}
	results := map[string]any{}
	for _, row := range x.plan.Subtasks {
		if row.Status == patterns.SubtaskCompleted {
			results[row.ID] = patterns.Clipped(row.Result)
		}
	}
	answer, fault := x.Answer(map[string]any{"goal": x.plan.Goal, "subtask_results": results})
	if fault != nil {
		return "", fault.Showing(func(r *patterns.Result) { x.made.Resumable = x.resumable(true) })
	}
	return answer.Text, s
}
