package patterns

import (
	"patterngate/gateway"
)

// Call makes one gated call of one tool, without an intent and without a model (spec/surface.md section 2, kind call).
func Call(run Run, spec Spec, task Task) Result {
	l := begin(run, spec, task, gateway.Config{Family: gateway.ToolFamily, Calls: []gateway.CallBudget{
		{Limit: spec.Budget.MaxToolCalls, Reason: "max_tool_calls"},
	}})
	l.byCaller = true
	l.soFar = func() Result { return l.end(nil) }
	permit, human, refused := l.admitted(PhaseCall, gateway.Proposal{Tool: spec.Tool, Args: task.Args, Attempt: 1})
	if refused != nil {
		result := l.end(refused)
		result.Human = human
		return result
	}
	out := l.called(l.effect(PhaseCall, spec.Tool), permit)
	if out.State != OK {
		result := l.end(stopped(PhaseCall, callReason(gateway.ToolFamily, permit, out)))
		result.Human = human
		return result
	}
	result := l.end(nil)
	result.Observation, result.Human = out.Output, human
	return result
}
