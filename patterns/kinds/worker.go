package kinds

import (
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// payload returns what the supervised worker is shown (spec/patterns.md section 5).
func (s *supervision) payload() map[string]any {
	used, decisions := []any{}, []any{}
	var last any
	for i, d := range s.done {
		if name, ok := d.Action["name"]; ok {
			used = append(used, name)
		}
		decisions = append(decisions, d.Supervisor.Decision)
		if i == len(s.done)-1 {
			last = payloadOfAction(d)
		}
	}
	return map[string]any{
		"goal": s.Task.Goal,
		"state_summary": map[string]any{
			"steps_completed": float64(len(s.done)), "tools_used": used, "supervisor_decisions": decisions, "last_step": last,
		},
		"recent_step_summaries": s.recent(3),
		"available_tools":       s.Spec.Offered(s.Tools),
	}
}

// recent summarises the last n steps, without their results.
func (s *supervision) recent(n int) []any {
	rows := []any{}
	for _, d := range s.done[max(0, len(s.done)-n):] {
		rows = append(rows, map[string]any{
			"step": float64(d.Step), "proposed_tool": d.Action["name"], "supervisor_decision": d.Supervisor.Decision,
			"executed_tool": d.Executed["name"], "executed_from": d.ExecutedFrom, "observation_status": step.Status(d.Observation),
		})
	}
	return rows
}

// payloadOfAction returns the part of a history row that the worker is shown.
func payloadOfAction(d patterns.ActionDone) map[string]any {
	row := map[string]any{
		"step": float64(d.Step), "action": d.Action, "supervisor": payloadOfReview(d.Supervisor),
		"executed_action": d.Executed, "executed_from": d.ExecutedFrom, "observation": d.Observation,
	}
	if d.Human != nil {
		row["human_approval"] = d.Human.Payload()
	}
	return row
}

func payloadOfReview(r patterns.Reviewed) map[string]any {
	v := map[string]any{"decision": r.Decision, "reason": r.Reason}
	if r.RevisedAction != nil {
		v["revised_action"] = r.RevisedAction
	}
	if len(r.Revisions) > 0 {
		v["revisions"] = patterns.TextValues(r.Revisions)
	}
	return v
}
