package execution

import (
	"fmt"
	"runtime/debug"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Carry executes a run until it ends or waits, and then stores its state. A branch that cannot continue unwinds its
// goroutine, so the rest of carry is deferred.
func (l *Life) Carry() {
	var result patterns.Result
	defer close(l.done)
	defer l.Host.Announce(l.RunID)
	defer l.cancel()
	defer func() { l.conclude(result) }()
	l.baton.Lock()
	defer l.baton.Unlock()
	defer l.contain()
	root := &branch{Life: l, keys: newKeys(""), at: l.Began, newest: l.Began}
	result = l.Code(root, l.Job.Spec, l.Job.Asked())
	l.judged(result.Judged, root.keys)
}

// conclude records the result of a life: the run's end, its wait, or the error that stopped it.
func (l *Life) conclude(result patterns.Result) {
	rest := patterns.Ended{
		RunID: l.RunID, Result: result, Phase: l.phase, Calls: l.budget.calls, Requests: l.budget.asked,
		Began: l.Began, Ended: l.Backing.Now(), Waited: l.clock.rested(),
	}
	l.baton.Lock()
	err := l.ending.cause
	if err == nil && l.ending.left {
		err = ErrHandedOver
	}
	l.ending.over = true
	l.baton.Unlock()
	switch {
	case err != nil:
	case len(l.ending.parked) > 0:
		w := l.ending.firstParked()
		rest.Result, rest.Waiting, rest.Ended = patterns.Result{}, w, w.Since
		err = l.Host.Park(l, rest)
	default:
		rest.Ended = l.recordEnd(rest)
		err = l.Host.Finish(l, rest)
	}
	if l.rest.Ended = rest; err != nil {
		rest.Result = patterns.Result{}
		l.rest = l.Host.Broke(l, rest, err)
	}
}

// recordEnd records the end of the run and returns its time.
func (l *Life) recordEnd(rest patterns.Ended) time.Time {
	status := "stopped"
	if rest.Result.OK() {
		status = "ok"
	}
	end := journal.EndBody{Status: status, StopReason: rest.Result.StopReason, Phase: rest.Result.Phase, Usage: rest.Result.Usage, Model: answeredBy(l.Job, rest.Result)}
	if present := l.Job.Present; present != nil && l.Backing.keepsResult() {
		shown := present(rest, nil)
		end.Envelope, l.summary = shown.Envelope, shown.Summary
	}
	return l.Record.Append(patterns.EndEvent, "", l.Backing.Now(), end).At
}

// contain recovers a panic of pattern code. The panic then ends the run, not the process.
func (l *Life) contain() {
	if r := recover(); r != nil {
		l.stop(&patterns.Fault{RunID: l.RunID, Cause: fmt.Errorf(codePanicked, r, debug.Stack())})
	}
}

// Parked returns the step that stores the run as one that waits, but for the head of its record. w is the wait that is
// shown.
func (l *Life) Parked(w *patterns.Waiting, summary string) store.Park {
	step := store.Park{N: l.N, Kind: string(w.Kind), Turn: w.Turn, Key: w.Key, Phase: w.Phase, Summary: summary, Children: l.ending.onChildren}
	if until := l.ending.earliest(true); !until.IsZero() {
		step.Wake = until.UnixMicro()
	}
	if until := l.ending.earliest(false); !until.IsZero() {
		step.Expires = until.UnixMicro()
	}
	for _, p := range l.ending.parked {
		if ap, ok := journal.ApprovalNumber(p.Approval); ok && p.Kind == patterns.ForApproval {
			step.Questions = append(step.Questions, ap)
		}
	}
	return step
}
