package planexecute

import (
	"slices"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// unmade has the run find out what a subtask's newest call did, if the attempt after it is not made.
func (x *execution) unmade(i int) {
	if d, open := x.again[i]; open && x.plan.Subtasks[i].Status != patterns.SubtaskPending {
		delete(x.again, i)
		x.doubts[i] = d
	}
}

// late has calls looked up if the run's time, a kill switch or a budget prevents further attempts. Their subtasks stay pending,
// so a later run makes the same act again unless it was done. A cancelled run does not look up calls.
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

// settleDoubts finds out, in plan order, what the calls in doubt did. It reports whether there were any.
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

// foundOut handles what a subtask's newest call did, if the attempt after it was not made. The subtask keeps its stop reason,
// unless the act was done, its outcome is unknown or the reason was the doubt itself.
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
	case s.StopReason == "in_doubt:"+p.As(): // it is no longer in doubt
		s.StopReason = reason
	}
}

// unfault removes the mark that a subtask failed.
func (x *execution) unfault(i int) {
	if x.faulty[i] {
		x.faulty[i] = false
		x.faults--
	}
}
