package local

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
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
	history *history
	dry     *rehearsal
	events  []journal.Event
	last    patterns.Event
	hidden  *redaction.Values // values that are kept out of the record

	answered []int64 // approvals whose answers the claim records
}

// load verifies a run's record, makes its job again and replays it dry. The error is journal.ErrBroken, [*patterns.Lacking],
// [ErrMismatch], [errRedacted] or an error of the store. Some errors come with what was loaded.
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
	events, err := decodeEvents(open)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", journal.ErrBroken, err)
	}
	h := remembered(events)
	if s := h.start; s.Pattern != r.Pattern || s.Principal != r.Principal || s.Config != r.Config || s.ParentNumber() != r.Parent {
		return nil, fmt.Errorf("%w: its row does not say what its first event says", journal.ErrBroken)
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
	record := &Record{seq: int(last.Seq), at: time.UnixMicro(last.At)}
	hidden.Inherits(f.inherited(r.Parent))
	record.file = &tail{file: f, id: r.ID(), n: r.N, parent: r.Parent, epoch: r.Epoch + 1, head: last.Hash, hidden: hidden}
	l := &loaded{Row: r, history: h, events: events, last: last, hidden: hidden}
	l.run = &run{engine: f.Engine, id: r.ID(), job: job, record: record, began: h.began, state: patterns.Running}
	l.run.idle = patterns.Current{Since: h.began, Done: h.answered}
	l.dry, err = l.run.rehearse(h)
	l.run.idle.Phase = h.phase
	return l, err
}

// job makes a run's job again, from its row and its start event.
func (f *file) job(r *store.Row, h *history) (patterns.Job, error) {
	if f.options.Source == nil {
		return patterns.Job{}, &patterns.Lacking{Cause: "config_missing", Needs: []string{r.Config}}
	}
	job, err := f.options.Source.Job(patterns.Begun{
		RunID: r.ID(), Pattern: r.Pattern, Caller: patterns.Caller{Principal: r.Principal, Client: r.Client}, Config: r.Config, Arguments: h.start.Arguments,
		Parent: h.start.Parent,
	})
	job.Principal, job.Client, job.Config = r.Principal, r.Client, r.Config
	job.ClientVersion, job.Era = h.start.ClientVersion, h.start.Era
	job.Earlier = h.start.Earlier()
	return job.Begun(h.start.Parent), err
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

func decodeEvents(stored []patterns.Event) ([]journal.Event, error) {
	events := make([]journal.Event, len(stored))
	for i, e := range stored {
		body, err := journal.Decode(e.Kind, e.Body)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		events[i] = journal.Event{Seq: int(e.Seq), At: time.UnixMicro(e.At), Kind: e.Kind, Key: e.Key, Body: body}
	}
	return events, nil
}

// ledgerOf returns the calls of a record, for runs whose code no longer fits the record. All attempts at one act count as one call,
// which has the key of the first attempt.
func ledgerOf(h *history) []gateway.Entry {
	var list []gateway.Entry
	act := map[string]string{} // by key
	for key, m := range h.past {
		if m.intent == nil || m.intent.Kind != patterns.ToolEffect {
			continue
		}
		e := gateway.Entry{Key: key, Tool: m.intent.Name, Effect: catalog.Effect(m.intent.Effect), Order: m.outcome.Order, Observation: m.outcome.Output}
		e.Duplicate = m.outcome.Duplicate
		if args, err := ijson.Decode(m.intent.Input); err == nil {
			e.Args, _ = args.(map[string]any)
			e.Hash = ijson.ArgsHash(e.Args)
		}
		switch m.outcome.State {
		case patterns.OK:
			e.Status = gateway.Finished
		case patterns.Failed, patterns.Canceled:
			e.Status = gateway.Failed
		default:
			e.Status = gateway.InDoubt
		}
		if e.Effect != catalog.Read && !e.Duplicate && m.intent.Once != "" {
			act[key] = e.Tool + " " + m.intent.Once
		}
		list = append(list, e)
	}
	sortLedger(list)
	var acts []gateway.Entry
	for _, e := range list {
		first := slices.IndexFunc(acts, func(o gateway.Entry) bool { return act[e.Key] != "" && act[o.Key] == act[e.Key] })
		if first < 0 {
			acts = append(acts, e)
			continue
		}
		acts[first].Status, acts[first].Observation = e.Status, e.Observation
	}
	return acts
}
