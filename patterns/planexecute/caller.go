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

// await waits for the caller's work. The run rests meanwhile; what comes is judged as a whole.
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

// keep stores how far the plan came before the run waits: another call may plan anew meanwhile, what was completed stays.
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

// How much the arguments of a subtask may hold that are shown to who works on it, see [ijson.Weight]: a few references can
// make them a thousand times as long as the plan.
const (
	maxWorkArgs  = 1 << 20  // of all that the caller is to do, together
	maxModelArgs = 64 << 10 // of one question to the model
	minArgs      = 2 << 10  // are shown in any case
)

// boundedArgs are arguments, or their marked beginning where they hold too much.
func boundedArgs(args map[string]any, limit int) map[string]any {
	if ijson.Weight(args) <= limit {
		return args
	}
	const head = 1 << 10
	cut, _ := gateway.Bounded(args, ijson.Canonical(args), limit, head).(map[string]any)
	return cut
}

// callersWork is what the run waits for.
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

// unresolved fails the caller's subtasks that are ready and refer to what is not there; true: there was one.
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

// enter takes over the caller's results, which were judged.
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

// judgeResults judges a caller's results as a whole by the plan as it stands. Nil: all are taken.
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
			if !slices.Contains(p.UsedIDs(), id) { // one that was removed is no slip
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

// callersReady are the caller's subtasks for which a result would be taken.
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

// JudgePlanCall judges a call by the stored plan that it names: what of it does not fit (spec/planning-reference.md section
// 15, "invalid_request (against the plan ...)"). Reasons are without invalid_request:. Nil: it fits, as far as an
// argument goes.
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
	for _, name := range slices.Sorted(maps.Keys(task.Inputs)) { // what is left out is the plan's
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

// judgeReplan judges a call for another plan of what remains.
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
