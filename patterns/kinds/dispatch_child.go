package kinds

import "patterngate/patterns"

// share returns what a task's child run may use of what the run has left. It returns nil if the task's worker is not a pattern.
func (o *orchestration) share(i int) *patterns.Share {
	if !o.isPattern(i) {
		return nil
	}
	_, each := o.shares()
	return &each
}

// shares returns how many tasks begin child runs, and what each may use. The tasks run at the same time. What one leaves does
// not go to another, so it does not matter which is faster.
func (o *orchestration) shares() (n int, each patterns.Share) {
	for i := range o.plan {
		if o.isPattern(i) {
			n++
		}
	}
	left := o.ShareLeft()
	left.Calls = patterns.Rest(o.Spec.Budget.MaxToolCalls, len(o.plan)) // the tasks' own calls
	return n, left.Among(n)
}

// isPattern reports whether a task's worker is a pattern.
func (o *orchestration) isPattern(i int) bool {
	tool, _ := o.Spec.Catalog.Tool(o.plan[i].Worker)
	return tool.Pattern != ""
}

// child returns the id of the child run that the task's newest attempt began, or "" if none did.
func (e ending) child() string {
	id := ""
	for _, c := range e.calls {
		if c.Out.Child != "" {
			id = c.Out.Child
		}
	}
	return id
}
