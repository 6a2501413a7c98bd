package local

import (
	"errors"
	"fmt"
	"slices"

	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
)

// read reads a run's row and record in one state of the file. The row is nil if there is no such run.
func (f *file) read(n int64) (r *store.Row, events []patterns.Event, err error) {
	err = f.journal.View(func(s store.Reader) error {
		r, events, err = s.Record(n)
		return err
	})
	return r, events, err
}

// loaded is a run of the state file that fits its record and can continue in this process.
type loaded struct {
	*store.Row
	run     *run
	history *execution.History
	dry     *execution.Rehearsal
	events  []journal.Event
	last    patterns.Event
	hidden  *redaction.Values // values that are kept out of the record

	answered []int64 // approvals whose answers the claim records
}

// load verifies a run's record, makes its job again and replays it dry. The error is journal.ErrBroken, [*patterns.Lacking],
// [execution.ErrMismatch], [errRedacted] or an error of the store. Some errors come with what was loaded.
func (f *file) load(r *store.Row, stored []patterns.Event) (*loaded, error) {
	if r.State == "broken" {
		return nil, journal.ErrBroken
	}
	if err := r.Verify(stored); err != nil {
		return nil, err
	}
	open, hidden, lost, err := f.reveal(r.N, stored)
	if err != nil {
		return nil, err
	}
	events, err := execution.Decode(open)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", journal.ErrBroken, err)
	}
	h := execution.Remember(events)
	if s := h.Start; s.Pattern != r.Pattern || s.Principal != r.Principal || s.Config != r.Config || s.ParentNumber() != r.Parent {
		return nil, fmt.Errorf(rowDiffers, journal.ErrBroken)
	}
	if lost && r.State == "ended" {
		return &loaded{Row: r, history: h, events: events, last: stored[len(stored)-1], hidden: hidden}, errRedacted
	}
	job, err := f.job(r, h)
	if err != nil {
		return &loaded{Row: r, history: h, events: events, last: stored[len(stored)-1], hidden: hidden}, err
	}
	if own, err := redaction.Read(job.Redact); err == nil && !slices.Equal(job.Redact, f.Settings().Redact) { // the run began under another configuration
		hidden.Rules = hidden.With(own)
		hidden.Learn(open)
	}
	last := stored[len(stored)-1]
	hidden.Inherits(f.inherited(r.Parent))
	l := &loaded{Row: r, history: h, events: events, last: last, hidden: hidden}
	l.run = f.newRun(r.ID(), job)
	l.run.continues(f.back.Continue(r, r.Epoch+1, last, hidden), h.Began)
	l.run.idle = patterns.Current{Since: h.Began, Done: h.Answered}
	l.dry, err = l.run.Rehearse(h)
	l.run.idle.Phase = h.Phase
	return l, err
}

// job makes a run's job again, from its row and its start event.
func (f *file) job(r *store.Row, h *execution.History) (patterns.Job, error) {
	if f.options.Source == nil {
		return patterns.Job{}, &patterns.Lacking{Cause: "config_missing", Needs: []string{r.Config}}
	}
	job, err := f.options.Source.Job(patterns.Begun{
		RunID: r.ID(), Pattern: r.Pattern, Caller: patterns.Caller{Principal: r.Principal, Client: r.Client}, Config: r.Config, Arguments: h.Start.Arguments,
		Parent: h.Start.Parent,
	})
	job.Principal, job.Client, job.Config = r.Principal, r.Client, r.Config
	job.ClientVersion, job.Era = h.Start.ClientVersion, h.Start.Era
	job.Earlier = h.Start.Earlier()
	return job.Begun(h.Start.Parent), err
}

// errRedacted is returned for an ended run whose redacted values were deleted at its end. Such a run is shown in its recorded form.
var errRedacted = errors.New("local: values were redacted")

// reveal puts redacted values back into the events of a run.
func (f *file) reveal(n int64, events []patterns.Event) (open []patterns.Event, h *redaction.Values, lost bool, err error) {
	err = f.journal.View(func(s store.Reader) error {
		open, h, lost, err = f.hiding().Reveal(s, n, events)
		return err
	})
	return open, h, lost, err
}

// inherited returns the values that the parent run knows. It returns nil if the parent knows none or nothing is hidden here.
func (f *file) inherited(parent int64) *redaction.Values {
	if parent == 0 || f.hiding().None() {
		return nil
	}
	r, stored, err := f.read(parent)
	if err != nil || r == nil {
		return nil
	}
	_, h, _, err := f.reveal(parent, stored)
	if err != nil {
		return nil
	}
	return h
}
