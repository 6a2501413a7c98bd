package planexecute

import (
	"slices"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// unmade has it found out what became of a subtask's newest call, where the attempt that was to follow is not made.
func (x *execution) unmade(i int) {
	if d, open := x.again[i]; open && x.plan.Subtasks[i].Status != patterns.SubtaskPending {
		delete(x.again, i)
		x.doubts[i] = d
	}
}

// late has calls looked up whose further attempts the run's time, a kill switch or a budget keeps from being made. Their subtasks
// stay pending, so that a later run makes the same act again, unless it turns out to be done. Who takes a run back does not wait.
func (x *execution) late() {
	if x.cut == "" && x.spent == "" || x.cut == "cancelled" {
		return
	}
	for i := range x.plan.Subtasks {
		d, open := x.again[i]
		if open && x.plan.Subtasks[i].Status == patterns.SubtaskPending && d.call.Permit.Reconciles() {
			delete(x.again, i)
			d.late = true
			x.doubts[i] = d
		}
	}
}

// settleDoubts finds out, in plan order, what became of calls of which nobody knows it.
func (x *execution) settleDoubts() bool {
	if len(x.doubts) == 0 {
		return false
	}
	for i := range x.plan.Subtasks {
		d, open := x.doubts[i]
		if !open {
			continue
		}
		if d.late {
			known := x.LookUp(d.call, d.e)
			delete(x.doubts, i)
			x.foundOut(i, d, known, known)
			continue
		}
		known, out := x.FindOut(d.call, d.e, x.Run.Now())
		delete(x.doubts, i)
		if d.over {
			x.foundOut(i, d, known, out)
			continue
		}
		x.settled(i, d.row, d.call.Permit, known, out)
	}
	return true
}

// foundOut takes what became of a subtask's newest call, where the attempt after it was not made. Why it was not stays the
// subtask's reason, unless the act was done, nobody knows, or the reason was the doubt itself.
func (x *execution) foundOut(i int, d doubted, known, out patterns.Outcome) {
	p, s := d.call.Permit, &x.plan.Subtasks[i]
	x.Note(p, known)
	if x.unknown[i] = step.DoubtOf(p, out); x.first[i].Key == known.Key {
		x.first[i] = known
	}
	if cut := step.CutReason(out); cut != "" {
		x.cutBy(cut)
	}
	if step.MayHaveActed(p, known) {
		if d.late {
			return
		}
		s.Once = x.once[i]
		x.doubt(i, "in_doubt:"+p.As())
		x.fault(i)
		return
	}
	reason := step.CallReason(gateway.ExecutorFamily, p, out)
	if out.State == patterns.OK {
		_, reason = faultOf(p.Tool(), out)
	}
	switch {
	case reason == "":
		x.unfault(i)
		x.ready = slices.DeleteFunc(x.ready, func(rank int) bool { return x.order[rank] == i }) // the attempt that was due
		x.complete(i, "tool", out.Output, out.Bytes)
	case s.StopReason == "in_doubt:"+p.As(): // it is not
		s.StopReason = reason
	}
}

// unfault takes it back that a subtask failed.
func (x *execution) unfault(i int) {
	if x.faulty[i] {
		x.faulty[i] = false
		x.faults--
	}
}
