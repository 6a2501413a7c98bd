package kinds

import (
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// Call makes the one call that its caller asks for, of the tool in spec.Tool. The call passes the same gate as any other:
// allowlist, arguments, policy, people, budgets and record (spec/config.md section 7, kind call). There is no intent and no
// model.
func Call(run patterns.Run, spec patterns.Spec, task patterns.Task) patterns.Result {
	c := newSingle(run, spec, task)
	return c.result(c.make())
}

func newSingle(run patterns.Run, spec patterns.Spec, task patterns.Task) *single {
	c := &single{Log: step.Begin(run, spec, task, gateway.Config{Family: gateway.ToolFamily, SplitLoops: true, Calls: []gateway.CallBudget{
		{Limit: spec.Budget.MaxToolCalls, Reason: "max_tool_calls"},
	}})}
	c.Total, c.ByCaller = 1, true // the arguments are always the caller's
	c.SoFar = func() patterns.Result { return c.result(nil) }
	return c
}

// single is the state of a run of [Call].
type single struct {
	*step.Log
	observation any
}

// make admits the call, makes it and keeps what it returned. It adds one trace row in every case.
func (c *single) make() *step.Stop {
	args := c.Task.Args
	if args == nil {
		args = map[string]any{}
	}
	row := patterns.CallRow{Tool: c.Spec.Tool, ArgsHash: ijson.ArgsHash(args)}
	failed := func(s *step.Stop) *step.Stop {
		row.StopReason = s.Reason
		c.Trace = append(c.Trace, row)
		return s
	}
	made, refused := c.Call(patterns.PhaseCall, "calling "+c.Spec.Tool, gateway.Proposal{Tool: c.Spec.Tool, Args: args, Attempt: 1})
	if row.HumanApproval = made.Human; refused != nil {
		return failed(refused)
	}
	permit, out := made.Permit, made.Out
	row.ArgsHash, row.Attempts = permit.Hash(), step.ShownAttempts(made.Attempts)
	if out.State != patterns.OK {
		return failed(step.Stopped(patterns.PhaseCall, step.CallReason(gateway.ToolFamily, permit, out)))
	}
	row.OK = true
	row.ObservationError, _ = gateway.Reported(out.Output)
	c.Trace = append(c.Trace, row)
	c.observation = patterns.Shown(out.Output, out.Bytes)
	return nil
}

func (c *single) result(s *step.Stop) patterns.Result {
	r := c.End(s)
	r.Observation = c.observation
	return r
}
