package local

import (
	"cmp"
	"errors"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

func (f *file) park(r *run, l *execution.Life, rest patterns.Ended) error {
	w := rest.Waiting
	summary := ""
	if r.Job.Present != nil {
		summary = r.tail.Public(ijson.Cut(r.Job.Present(rest, nil).Summary, maxSummary))
	}
	step := l.Parked(w, summary)
	if len(step.Children) > 0 {
		r.Record.Append(patterns.NoteEvent, "", f.journal.Now(), journal.NoteBody{What: execution.NoteRest, Note: patterns.Note{Channel: "engine", Reason: w.Child}})
	}
	err := r.tail.Rest(func(head store.Head) []store.Step {
		step.Head = head
		return []store.Step{step}
	})
	if err != nil {
		return err
	}
	f.rests(r, l, patterns.Parked, rest)
	f.scheduler.nudge()
	return nil
}

func (f *file) finish(r *run, l *execution.Life, rest patterns.Ended) error {
	status := "stopped"
	if rest.Result.OK() {
		status = "ok"
	}
	return f.finishAs(r, l, rest, status, l.Summary())
}

func (f *file) finishAs(r *run, l *execution.Life, rest patterns.Ended, status, summary string) error {
	result, below := rest.Result, l.HasChildren()
	summary = r.tail.Public(ijson.Cut(summary, maxSummary))
	err := r.tail.Rest(func(head store.Head) []store.Step {
		steps := []store.Step{store.End{N: r.N, Head: head, Ended: rest.Ended.UnixMicro(), Status: status, StopReason: result.StopReason, Phase: result.Phase, Summary: summary}}
		if below || r.Job.Parent != nil {
			steps = append(steps, leavesBehind(r.N, r.parentOf())...)
		}
		return append(steps, r.tail.Forget()...)
	})
	if err != nil {
		return err
	}
	f.rests(r, l, patterns.Over, rest)
	if below {
		f.dropChildren(r.RunID)
	}
	if r.Job.Parent != nil { // who rests with it is ready
		f.scheduler.nudge()
	}
	return nil
}

// rests tells that a life came to rest.
func (f *file) rests(r *run, l *execution.Life, state patterns.RunState, rest patterns.Ended) {
	f.mu.Lock()
	r.state, r.rest, r.life = state, rest, nil
	delete(f.outcomes, r.RunID)
	f.mu.Unlock()
	changed, attended := f.gone(r, l)
	f.tell(changed, attended)
}

func (f *file) broke(r *run, l *execution.Life, rest patterns.Ended, cause error) execution.AtRest {
	handedOver := errors.Is(cause, execution.ErrHandedOver)
	elsewhere := handedOver || errors.Is(cause, store.ErrFenced)
	replayed, unwritten := errors.Is(cause, execution.ErrUnspent), unrecorded(cause)
	switch {
	case r.tail.Abandon(cause, elsewhere || replayed || unwritten): // the run was never stored
		f.gone(r, l)
		return execution.AtRest{Ended: rest}
	case elsewhere: // another process carries out the run
		if handedOver {
			r.Record.Append(patterns.NoteEvent, "", f.journal.Now(), journal.NoteBody{What: execution.NoteDetach, Note: patterns.Note{Channel: "engine"}})
			r.Record.Flush(false, nil)
		}
		if l.Left() { // another process can take the run before this one ends
			f.release(r)
		}
		f.lost(r, l)
		return execution.AtRest{Ended: l.Running()}
	case replayed: // the run is replayed and then sees the change
		f.later(r, l, true, nil)
		return execution.AtRest{Ended: l.Running(), Replayed: true}
	case unwritten:
		rest.Waiting = retry(&patterns.Lacking{Cause: "journal"}, f.journal.Now())
		rest.Waiting.Phase = rest.Phase
		f.later(r, l, false, rest.Waiting)
		return execution.AtRest{Ended: rest}
	}
	f.lose(r, l, rest, cause)
	return execution.AtRest{Ended: rest, Fault: cause}
}

// lose ends a run by a fault of ours.
func (f *file) lose(r *run, l *execution.Life, rest patterns.Ended, fault error) {
	phase, summary := cmp.Or(rest.Phase, l.Current().Phase), l.Summary()
	end := journal.EndBody{Status: "stopped", StopReason: "internal_error", Phase: phase}
	if r.Job.Present != nil {
		shown := r.Job.Present(rest, fault)
		end.Envelope, summary = shown.Envelope, shown.Summary
	}
	rest.Ended = r.Record.Append(patterns.EndEvent, "", f.journal.Now(), end).At
	rest.Result = patterns.Result{StopReason: end.StopReason, Phase: phase}
	if err := f.finishAs(r, l, rest, end.Status, summary); err != nil {
		f.later(r, l, false, rest.Waiting)
	}
}
