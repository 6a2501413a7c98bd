package kinds

import (
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// CallRow is the trace row of a single call.
type CallRow struct {
	Tool             string `json:"tool"`
	ArgsHash         string `json:"args_hash"`
	OK               bool   `json:"ok"`
	Attempts         int    `json:"attempts,omitempty"` // where the call was made again
	ObservationError string `json:"observation_error,omitempty"`
	StopReason       string `json:"stop_reason,omitempty"`

	HumanApproval *patterns.HumanApproval `json:"human_approval,omitempty"` // where a person was asked
}

// Call makes the one call that its caller wants, of the tool that its Spec names, through the same gate as any other (spec/
// config.md section 7, kind call): allowlist, arguments, policy, people, budgets, record. There is no intent and no model.
func Call(run patterns.Run, spec patterns.Spec, task patterns.Task) patterns.Result {
	c := newSingle(run, spec, task)
	return c.result(c.make())
}

func newSingle(run patterns.Run, spec patterns.Spec, task patterns.Task) *single {
	c := &single{log: begin(run, spec, task, gateway.Config{Family: gateway.ToolFamily, SplitLoops: true, Calls: []gateway.CallBudget{
		{Limit: spec.Budget.MaxToolCalls, Reason: "max_tool_calls"},
	}})}
	c.total, c.byCaller = 1, true // its arguments are nobody else's
	c.soFar = func() patterns.Result { return c.result(nil) }
	return c
}

// single is the log of one single call.
type single struct {
	*log
	observation any
}

// make admits the call, makes it and keeps what it returned: one trace row whatever happens.
func (c *single) make() *stop {
	args := c.task.Args
	if args == nil {
		args = map[string]any{}
	}
	row := CallRow{Tool: c.spec.Tool, ArgsHash: ijson.ArgsHash(args)}
	failed := func(s *stop) *stop {
		row.StopReason = s.reason
		c.trace = append(c.trace, row)
		return s
	}
	made, refused := c.through(patterns.PhaseCall, "calling "+c.spec.Tool, gateway.Proposal{Tool: c.spec.Tool, Args: args, Attempt: 1})
	if row.HumanApproval = made.human; refused != nil {
		return failed(refused)
	}
	permit, out := made.permit, made.out
	row.ArgsHash, row.Attempts = permit.Hash(), shownAttempts(made.attempts)
	if out.State != patterns.OK {
		return failed(stopped(patterns.PhaseCall, callReason(gateway.ToolFamily, permit, out)))
	}
	row.OK = true
	row.ObservationError, _ = gateway.Reported(out.Output)
	c.trace = append(c.trace, row)
	c.observation = patterns.Shown(out.Output, out.Bytes)
	return nil
}

func (c *single) result(s *stop) patterns.Result {
	r := c.end(s)
	r.Observation = c.observation
	return r
}
