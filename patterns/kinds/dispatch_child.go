package kinds

import "patterngate/patterns"

// share is what a task's child run has of what the run has left; nil: its worker is no pattern.
func (o *orchestration) share(i int) *patterns.Share {
	if !o.isPattern(i) {
		return nil
	}
	_, each := o.shares()
	return &each
}

// shares are how many tasks begin child runs, and what each has: they go on side by side, and what one leaves is no other's, so
// that which is faster does not matter.
func (o *orchestration) shares() (n int, each patterns.Share) {
	for i := range o.plan {
		if o.isPattern(i) {
			n++
		}
	}
	left := o.ShareLeft()
	left.Calls = patterns.Rest(o.Spec.Budget.MaxToolCalls, len(o.plan)) // the tasks' own
	return n, left.Among(n)
}

// isPattern reports whether a task's worker is a pattern.
func (o *orchestration) isPattern(i int) bool {
	tool, _ := o.Spec.Catalog.Tool(o.plan[i].Worker)
	return tool.Pattern != ""
}

// child is the run that the task's newest attempt began; "": none did.
func (e ending) child() string {
	id := ""
	for _, c := range e.calls {
		if c.Out.Child != "" {
			id = c.Out.Child
		}
	}
	return id
}
