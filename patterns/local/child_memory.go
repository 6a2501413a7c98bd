package local

import (
	"context"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/execution"
)

// child implements keeper. In memory a child run never waits for a person or the caller, and lives no longer than its
// parent.
func (e *inMemory) child(ctx context.Context, parent *run, c *execution.ChildCall) (execution.ChildRest, error) {
	r, err := e.childOf(parent, c)
	if err != nil {
		return execution.ChildRest{Lacking: err}, nil
	}
	if _, err := e.begin(r); err != nil {
		return execution.ChildRest{}, err
	}
	l := r.live(nil, c.Progress())
	c.Carry(l)
	select {
	case <-l.Done():
		return e.childNow(parent, c)
	case <-ctx.Done():
		return execution.ChildRest{}, ctx.Err()
	}
}

// childNow implements keeper.
func (e *inMemory) childNow(_ *run, c *execution.ChildCall) (rest execution.ChildRest, _ error) {
	l := c.Life()
	if l == nil {
		return rest, nil
	}
	rest.Learn(execution.Remember(l.Record.Events()), execution.ModelOf(l.Job))
	rest.Over, rest.Ended, rest.Spec = l.Rest().Ended.Waiting == nil, l.Rest().Ended, l.Job.Spec
	if l.Rest().Fault != nil {
		rest.Ended.Result = patterns.Result{StopReason: "internal_error"}
	}
	return rest, nil
}

// childRested implements keeper.
func (e *inMemory) childRested(string) (time.Duration, error) { return 0, nil }

// source implements keeper.
func (e *inMemory) source() patterns.Source { return e.Source }

// dropChildren cancels the child runs of a run that is over.
func (e *inMemory) dropChildren(r *run) {
	e.mu.Lock()
	var list []*run
	if s := e.shelves[r.Job.Principal]; s != nil {
		for _, child := range s.begun {
			if p := child.Job.Parent; p != nil && p.RunID == r.RunID && child.state != patterns.Over {
				list = append(list, child)
			}
		}
	}
	e.mu.Unlock()
	for _, child := range list {
		_ = e.cancelRun(r.Job.Principal, child.RunID, parentOver(r.Job.Principal)) // it may have ended at the same moment
	}
}

// parentOver returns the note for a child run that is cancelled because its call is over.
func parentOver(principal string) patterns.Note {
	return patterns.Note{By: principal, Channel: "engine", Reason: callOver}
}
