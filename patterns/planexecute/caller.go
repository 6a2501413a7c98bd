package planexecute

import (
	"fmt"
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// await waits for the caller's work and judges what arrives as a whole.
func (x *execution) await() *step.Stop {
	if stop := x.keep(); stop != nil {
		return stop
	}
	asked := x.Run.Now()
	x.parked = true
	w := x.callersWork()
	out := patterns.Await(x.Run, x.Effect(patterns.PhaseExecute, ""), w)
	x.parked = false
	x.ExcludeSince(asked)
	if cut := step.CutReason(out); cut != "" {
		x.cutBy(cut)
		return step.Stopped(patterns.PhaseExecute, cut)
	}
	if out.State != patterns.OK {
		return step.Stopped(patterns.PhaseExecute, "caller_expired")
	}
	sent, _ := out.Output.(map[string]any)
	results, _ := sent["results"].(map[string]any)
	if x.refused = judgeResults(results, *x.plan, x.graph); len(x.refused) == 0 {
		x.turns++
		x.enter(results)
	}
	return nil
}

// keep stores how far the plan came before the run waits. If another call replans during the wait, the completed subtasks stay.
func (x *execution) keep() *step.Stop {
	if x.turns > 0 && len(x.rows) == x.kept {
		return nil
	}
	x.kept = len(x.rows)
	x.plan.Waits = x.Run.ID()
	x.traced()
	stop := x.commit(patterns.PhaseExecute, true)
	if stop == nil {
		x.plan.Waits = ""
	}
	return stop
}

// These limits bound the arguments of a subtask that its worker is shown, see [ijson.Weight]. A few references can make
// arguments a thousand times as long as the plan.
const (
	maxWorkArgs  = 1 << 20  // of all subtasks that wait for the caller, together
	maxModelArgs = 64 << 10 // of one question to the model
	minArgs      = 2 << 10  // shown in any case
)

// boundedArgs returns arguments, or a marked beginning of them if they hold too much.
func boundedArgs(args map[string]any, limit int) map[string]any {
	if ijson.Weight(args) <= limit {
		return args
	}
	const head = 1 << 10
	cut, _ := gateway.Bounded(args, ijson.Canonical(args), limit, head).(map[string]any)
	return cut
}

// callersWork describes the work that the run waits for.
func (x *execution) callersWork() patterns.Waiting {
	w := patterns.Waiting{Phase: patterns.PhaseExecute, Argument: "results", Turn: x.turns + 1, SoFar: x.standing()}
	left := maxWorkArgs
	for _, i := range x.forCaller() {
		s := x.plan.Subtasks[i]
		args, _ := planning.Resolve(argsOf(s), x.resultOf)
		args = boundedArgs(args, max(left, minArgs))
		left -= ijson.Weight(args)
		w.Ready = append(w.Ready, patterns.ReadySubtask{
			ID: s.ID, Description: s.Description, Args: args, Expect: s.Expect,
			Inputs: x.inputs(i, func(s patterns.PlannedSubtask) any { return patterns.Shown(s.Result, s.Bytes) }),
		})
	}
	w.SoFar.Problems = x.refused
	return w
}

// unresolved fails the caller's ready subtasks that refer to missing values. It reports whether there was one.
func (x *execution) unresolved() bool {
	some := false
	for _, i := range x.forCaller() {
		s := x.plan.Subtasks[i]
		if _, bad := planning.Resolve(argsOf(s), x.resultOf); bad != "" {
			x.attempts[i]++
			x.failed(i, patterns.AttemptRow{Revision: x.plan.Revision, SubtaskID: s.ID, Tool: s.Tool, Attempt: x.attempts[i]}, "bad_reference:"+bad)
			some = true
		}
	}
	return some
}

// enter stores results of the caller that were judged before.
func (x *execution) enter(results map[string]any) {
	for _, i := range x.order {
		s := x.plan.Subtasks[i]
		entry, given := results[s.ID].(map[string]any)
		if !given {
			continue
		}
		x.attempts[i]++
		row := patterns.AttemptRow{Revision: x.plan.Revision, SubtaskID: s.ID, Tool: s.Tool, Attempt: x.attempts[i]}
		if entry["status"] != string(patterns.SubtaskCompleted) {
			x.failed(i, row, "caller_failed")
			continue
		}
		row.OK = true
		x.add(i, row)
		result := entry["result"]
		x.complete(i, planning.CallerExecutor, result, len(ijson.Canonical(result)))
	}
}

// judgeResults judges a caller's results as a whole by the plan's present state. It returns nil if all of them fit.
func judgeResults(results map[string]any, p patterns.StoredPlan, g *planning.Graph) []document.Problem {
	const argument = "results"
	var list []document.Problem
	wrong := func(at ijson.Pointer, reason string, got any, want string) {
		list = append(list, document.Problem{Pointer: at, Reason: reason + ":" + argument, Got: document.Got(got), Want: want, Choose: "remove it or give it the right id"})
	}
	for _, id := range slices.Sorted(maps.Keys(results)) {
		at := ijson.Pointer("").Member(argument).Member(id)
		i, there := p.At(id)
		if !there {
			wrong(at, "not_found", id, "the id of a subtask that is waited for")
			if !slices.Contains(p.UsedIDs(), id) { // a removed subtask is not a typing error
				list[len(list)-1].DidYouMean = gateway.Near(id, callersReady(p, g))
			}
			continue
		}
		s := p.Subtasks[i]
		entry, _ := results[id].(map[string]any)
		switch {
		case s.Tool != planning.CallerExecutor:
			wrong(at, "mismatch", s.Tool, "a subtask of tool caller")
		case s.Status != patterns.SubtaskPending && s.Status != patterns.SubtaskFailed:
			wrong(at, "mismatch", string(s.Status), "a subtask that is not finished")
		case !p.AllDone(g.Before(i)):
			wrong(at, "mismatch", string(s.Status), "a subtask that is ready: all that it depends on is completed")
		case entry["status"] == string(patterns.SubtaskCompleted) && s.Expect != nil:
			for _, fault := range planning.FitsExpect(s.Expect, entry["result"]) {
				fault.Pointer, fault.Reason = at.Member("result")+fault.Pointer, "mismatch:"+argument
				list = append(list, fault)
			}
		}
	}
	return document.CapProblems(list)
}

// callersReady returns the ids of the caller's subtasks that can take a result.
func callersReady(p patterns.StoredPlan, g *planning.Graph) []string {
	var ids []string
	for i, s := range p.Subtasks {
		open := s.Status == patterns.SubtaskPending || s.Status == patterns.SubtaskFailed
		if s.Tool == planning.CallerExecutor && open && p.AllDone(g.Before(i)) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// JudgePlanCall judges a call of a planning tool by the stored plan that it names (spec/planning-reference.md section 15,
// "invalid_request (against the plan ...)"). It returns the arguments that do not fit, with reasons without the prefix
// invalid_request:. Nil means that all arguments fit.
func JudgePlanCall(spec patterns.Spec, task patterns.Task, state patterns.PlanState) []document.Problem {
	switch task.Plan.Verb {
	case patterns.DecomposeVerb:
		return judgeRound(task, state.Plan)
	case patterns.ReplanVerb:
		return judgeReplan(task, state.Plan)
	}
	plan := state.Plan
	if state.Result != nil && state.Result.Planned != nil && state.Result.Planned.Stored != nil {
		plan = *state.Result.Planned.Stored
	}
	return judgeResults(task.Plan.Results, plan, planning.NewGraph(plan.ForGate()))
}

// judgeRound judges a call for the next round of a plan.
func judgeRound(task patterns.Task, p patterns.StoredPlan) []document.Problem {
	var list []document.Problem
	wrong := func(name string, got any, want string) {
		list = append(list, document.Problem{Pointer: ijson.Pointer("").Member(name), Reason: "mismatch:" + name, Got: document.Got(got), Want: want})
		if name != "parent_plan_id" { // another plan can be named there
			list[len(list)-1].Choose = "send what the plan was made with, or make another plan"
		}
	}
	if task.Goal != p.Goal {
		wrong("goal", task.Goal, "the plan's own goal")
	}
	for _, name := range slices.Sorted(maps.Keys(task.Inputs)) { // an omitted value is the plan's
		if v := task.Inputs[name]; !ijson.Equal(v, p.Input[name]) {
			wrong(name, v, "what the plan was made with, or nothing")
		}
	}
	if s := task.Plan.Strategy; s != "" && s != planning.Iterative {
		wrong("strategy", string(s), "iterative, or nothing")
	}
	switch {
	case p.Strategy != planning.Iterative:
		wrong("parent_plan_id", p.ID, fmt.Sprintf("an iterative plan; this one is %s", p.Strategy))
	case p.Outstanding(planning.NewGraph(p.ForGate())):
		wrong("parent_plan_id", p.ID, "a plan of which nothing is pending, failed or in doubt")
	}
	return list
}

// judgeReplan judges a call for another plan of the remaining subtasks.
func judgeReplan(task patterns.Task, p patterns.StoredPlan) []document.Problem {
	id := task.Plan.Failed
	if id == "" {
		return nil
	}
	reason, want := "", "the id of a subtask that failed or was skipped"
	if i, there := p.At(id); !there {
		reason = "not_found:failed_subtask"
	} else if p.Subtasks[i].Status == patterns.SubtaskCompleted {
		reason = "mismatch:failed_subtask"
	}
	if reason == "" {
		return nil
	}
	return []document.Problem{{Pointer: "/failed_subtask", Reason: reason, Got: document.Got(id), Want: want}}
}
