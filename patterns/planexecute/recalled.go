package planexecute

import (
	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// recalled returns the writes of subtasks that earlier replans removed, then those that this replan removes.
func (p *planLog) recalled() []patterns.RemovedWrite {
	list := p.plan.Writes[:len(p.plan.Writes):len(p.plan.Writes)]
	if !p.recalls {
		return list
	}
	for i, s := range p.plan.Subtasks {
		if !s.MayHaveWritten() {
			continue
		}
		if args, ok := p.sent(i); ok {
			list = append(list, patterns.RemovedWrite{ID: s.ID, Tool: s.Tool, Args: args})
		}
	}
	return list
}

// acted lists the writes that earlier runs of the plan made, or may have made, as rules see them. They count for sums, and a
// rule may require one of them before a later call. Reads are left out: their results may be old.
func (x *execution) acted() []gateway.Entry {
	var list []gateway.Entry
	for _, w := range x.plan.Writes {
		if tool, there := x.Spec.Catalog.Tool(w.Tool); there && tool.Effect != catalog.Read {
			list = append(list, gateway.Entry{Tool: w.Tool, Effect: tool.Effect, Args: w.Args, Status: gateway.InDoubt})
		}
	}
	for i, s := range x.plan.Subtasks {
		tool, there := x.Spec.Catalog.Tool(s.Tool)
		status, known := x.actedAs(s)
		if !there || !known || tool.Effect == catalog.Read {
			continue
		}
		if args, ok := x.sent(i); ok {
			list = append(list, gateway.Entry{Tool: s.Tool, Effect: tool.Effect, Args: args, Status: status, Observation: s.Result})
		}
	}
	return list
}

// actedAs returns what is known of a subtask's call in earlier runs. It returns false if the call was not made, or if this run repeats it.
func (x *execution) actedAs(s patterns.PlannedSubtask) (gateway.EffectStatus, bool) {
	switch {
	case s.Status == patterns.SubtaskCompleted:
		return gateway.Finished, true
	case s.Status == patterns.SubtaskInDoubt, x.recalls && s.Status == patterns.SubtaskSkipped && s.MayHaveWritten():
		return gateway.InDoubt, true
	}
	return "", false
}
