package server

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/patterns"
	"patterngate/patterns/planexecute"
	"patterngate/server/arguments"
	"patterngate/server/outcome"
)

// checkPlan looks at the stored plan that a call names, before a run begins for it (spec/planning-reference.md section 15,
// Order of checks on a stored plan). It refuses a call that does not fit the plan, and continues a run that waits for
// its caller.
//
// The run itself finds the other faults: there is no such plan, the revision is another, or another run holds the plan.
// In these cases, and if a run must begin or c.Run must continue, answer is nil.
func (t *tool) checkPlan(ctx context.Context, c *arguments.Call) (answer *mcp.CallToolResult, err error) {
	task := c.PlanTask()
	if task.Plan.PlanID == "" {
		return nil, nil
	}
	principal := t.server.principalOf(ctx)
	state, err := t.server.config.Engine.Plan(principal, t.Spec.Plans, task.Plan.PlanID)
	if err != nil { // the run reports why there is no plan
		return nil, nil
	}
	if want := task.Plan.Expected; want != nil && *want != state.Plan.Revision {
		return nil, nil
	}
	switch {
	case state.Holder == "" || state.State == patterns.Parked && task.Plan.Verb != patterns.ExecuteVerb:
		return t.judged(ctx, *c, task, state)
	case state.State == patterns.Parked && state.Verb == patterns.ExecuteVerb:
		return t.parked(ctx, c, task, state)
	}
	return nil, nil
}

// judged refuses a call that does not fit the current plan.
func (t *tool) judged(ctx context.Context, c arguments.Call, task patterns.Task, state patterns.PlanState) (*mcp.CallToolResult, error) {
	if c.Key != "" { // the call may ask for the result of an earlier call with this key; otherwise the run judges
		return nil, nil
	}
	if problems := planexecute.JudgePlanCall(t.Spec, task, state); len(problems) > 0 {
		return t.refuse(ctx, c, problems)
	}
	return nil, nil
}

// parked answers a plan_execute call on a plan whose run waits. If the run waits for its caller, the results in the
// call go to that run. Every other argument has no effect, but must equal what the run began with.
func (t *tool) parked(ctx context.Context, c *arguments.Call, task patterns.Task, state patterns.PlanState) (*mcp.CallToolResult, error) {
	run, known := t.server.config.Engine.Run(t.server.principalOf(ctx), state.Holder)
	if !known || run.State != patterns.Parked || run.Ended.Waiting == nil { // the run has continued in the meantime
		return nil, nil
	}
	r := arguments.Request{Call: *c}
	if r.CompareRun(t.NewCall(run.Arguments)); len(r.Of(arguments.Mismatch)) > 0 {
		return t.refuse(ctx, *c, r.Of(arguments.Mismatch))
	}
	forCaller := outcome.WaitKind(run.Ended.Waiting) == string(patterns.ForCaller)
	if forCaller && task.Plan.Results != nil {
		if problems := planexecute.JudgePlanCall(t.Spec, task, state); len(problems) > 0 {
			return t.refuse(ctx, *c, problems)
		}
		c.Run = &run
		return nil, nil
	}
	looking := *c
	looking.Run = &run
	if task.Plan.Results != nil {
		return t.look(ctx, looking)
	}
	e := t.server.shownBy(run).stateOf(looking, run)
	return t.server.show(ctx, e)
}

// goneOn reports that a continuation came second, so the run no longer waits for it.
func goneOn(c arguments.Call, cause error) bool {
	return c.Run != nil && (errors.Is(cause, patterns.ErrNoRun) || errors.Is(cause, patterns.ErrNotTaken))
}
