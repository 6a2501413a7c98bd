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

// execution executes a plan. A subtask starts when all subtasks that it waits for are completed and a slot is free. Subtasks
// start in the order of their levels, then of their places.
//
//	         ┌────────────── next: retries that are due, then the first ready one ◀──────────┐
//	         ▼                                                                               │ a body ended
//	Flow: attempt ──▶ completed | retry after a pause | failed | skipped | in doubt ─────────┘
//	         │ nothing runs, nothing can start
//	         ▼
//	doubts settled ─▶ failed: stop, or one replan ─▶ the caller's work: the run waits ─▶ the end
type execution struct {
	*planLog
	*schedule
	done      map[string]bool       // completed by this run
	rows      []rankedRow           // rows of the trace
	cut       string                // the stop reason if the run ended: max_seconds, cancelled or kill_switch
	spent     string                // a budget that was used up while there was work for it
	began     int                   // subtasks that began, without the caller's
	underWay  step.Estimate         // the estimate of the questions that are being asked
	over      *step.Stop            // the stop of a question for which no budget is left
	asking    int                   // requests that the questions being asked may cost
	undecided int                   // calls that are being judged, or that a person is asked about
	turns     int                   // the caller's turns that have passed
	before    []patterns.AttemptRow // the plan's trace without this run's rows
	kept      int                   // rows that were stored before the run waited
	refused   []document.Problem    // what was wrong with the caller's newest results
	shares    *envelope             // what a person approved as a whole; nil if no person was asked
}

// rankedRow is a trace row with the place of its subtask in the order of execution.
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
	if x.plan == nil { // another run took the plan over
		return x.result(stop)
	}
	text := ""
	if stop == nil || stop.Reason == patterns.SuccessPartial {
		text, stop = x.finalText(stop)
	}
	return x.close(stop, text)
}

// open gets the plan and makes all checks that are possible before anything of it runs.
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
			s.Status, s.StopReason = patterns.SubtaskPending, "" // how often it ran in its last run stays true
		}
	}
	x.before = x.plan.Trace
	x.schedule = newSchedule(x.plan, x.graph)
	x.Total = x.calls()
	x.Gate.Remember(x.acted())
	return nil
}

// calls returns how many unfinished subtasks have a catalog tool.
func (x *execution) calls() int {
	n := 0
	for _, s := range x.plan.Subtasks {
		if s.Status == patterns.SubtaskPending && s.Tool != planning.CallerExecutor && s.Tool != planning.ModelExecutor {
			n++
		}
	}
	return n
}

// unopened returns the result of a run that executed nothing. If a tool may not be called, the plan stores that.
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

// own gets the plan to execute: a stored plan, or the caller's plan. A plan of the caller is stored first, unless the results
// that come with it do not fit.
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

// misfit returns the stop of results that do not fit the plan, or nil if they fit.
func (x *execution) misfit() *step.Stop {
	if problems := judgeResults(x.call.Results, *x.plan, x.graph); len(problems) > 0 {
		return x.unfit(problems)
	}
	return nil
}

// callable checks whether the tools of all unfinished subtasks may be called now. The plan may be older than the configuration.
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

// barredFrom returns why a subtask's tool may not be called with the plan's arguments, or "" if it may.
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
	case planning.HasReferences(s.Args): // judged later, with the values they refer to
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

// work executes until nothing more can be done, and returns why the run ends. Nil means success.
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

// stopsHere returns why nothing more begins, although there may be work. It returns nil if nothing prevents more work.
func (x *execution) stopsHere() *step.Stop {
	if x.cut != "" {
		return step.Stopped(patterns.PhaseExecute, x.cut)
	}
	if i, failed := x.firstFailed(); failed {
		return x.failure(i)
	}
	if x.spent != "" && x.mayBegin() { // the work that spent it may turn out to be done
		if x.over != nil && x.over.Reason == x.spent {
			return x.over
		}
		return step.Stopped(patterns.PhaseExecute, x.spent)
	}
	return nil
}

// plansAnew reports whether a failure leads to another plan and not to a stop. A plan with a subtask in doubt, of this run or an
// earlier one, is not replaced automatically. The new plan might repeat the act as another act.
func (x *execution) plansAnew() bool {
	return x.cut == "" && x.faults > 0 && x.wantsReplan() && !x.plan.Has(patterns.SubtaskInDoubt)
}

// wantsReplan reports whether the call asks for another plan after a failure, and a model is there to make it.
func (x *execution) wantsReplan() bool {
	return x.call.OnFailure == patterns.ReplanOnFailure && x.Spec.LLM
}

// firstFailed returns the first subtask, in order of execution, that failed or is in doubt in this run.
func (x *execution) firstFailed() (int, bool) {
	for _, i := range x.order {
		if x.faulty[i] {
			return i, true
		}
	}
	return 0, false
}

// failure returns the stop for a subtask that failed.
func (x *execution) failure(i int) *step.Stop {
	s := x.plan.Subtasks[i]
	reason := "subtask_failed:"
	switch {
	case s.Status == patterns.SubtaskInDoubt:
		return step.Stopped(patterns.PhaseExecute, "in_doubt:"+s.ID)
	case x.wantsReplan() && x.plan.Has(patterns.SubtaskInDoubt): // the reason why there is no other plan
		return step.Stopped(patterns.PhaseExecute, "in_doubt:"+x.plan.FirstOf(x.graph, patterns.SubtaskInDoubt))
	case x.call.OnFailure == patterns.ReplanOnFailure: // no model is there to make another plan, so the reason stays subtask_failed
	case x.attempts[i] > 1:
		reason = "max_retries:"
	case s.StopReason == "subtask_timeout":
		reason = "subtask_timeout:"
	}
	x.made.Failed = s.ID
	return step.Stopped(patterns.PhaseExecute, reason+s.ID)
}

// ended returns how a plan ends when nothing is left to run.
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
