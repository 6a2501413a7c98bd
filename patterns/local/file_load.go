package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// row is a run's row in the state file. Times are microseconds since 1970; 0 for none.
type row struct {
	n                                  int64
	pattern, principal, client, config string
	began                              int64
	state, owner                       string
	epoch, wake                        int64
	canceled                           bool
	length                             int64
	head                               []byte
	waitingKind                        string
	turn                               int
	waitsKey                           string
	expires, ended                     int64
	status, stopReason, phase, summary string
	parent                             int64 // 0: nobody's call began it

	damage error // why its record could not be read whole, though the file can be
}

func (r *row) id() string { return journal.RunID(r.n) }

// readRows reads rows by one of the queries of rowColumns.
func readRows(s *session, each func(*row) bool, query string, args ...any) error {
	enough := errors.New("enough")
	err := s.each(func(scan func(...any) error) error {
		r := &row{}
		err := scan(&r.n, &r.pattern, &r.principal, &r.client, &r.config, &r.began, &r.state, &r.owner, &r.epoch, &r.wake, &r.canceled,
			&r.length, &r.head, &r.waitingKind, &r.turn, &r.waitsKey, &r.expires, &r.ended, &r.status, &r.stopReason, &r.phase, &r.summary, &r.parent)
		if err == nil && !each(r) {
			err = enough
		}
		return err
	}, query, args...)
	if errors.Is(err, enough) {
		return nil
	}
	return err
}

// read reads a run's row and record in one state of the file. The row is nil where there is no such run.
func (f *file) read(n int64) (r *row, events []patterns.Event, err error) {
	err = f.journal.view(func(s *session) error {
		if err := readRows(s, func(found *row) bool { r = found; return false }, selectRow, n); err != nil || r == nil {
			return err
		}
		if events, err = readEvents(s, n); sqliteCode(err) == codeCorrupt || !unrecorded(err) {
			r.damage, err = err, nil
		}
		return err
	})
	return r, events, err
}

// whole checks that what was read is the run's whole record, as far as that is known. Its error is errBroken.
func (r *row) whole(stored []patterns.Event) error {
	err := r.damage
	if err == nil {
		err = patterns.VerifyChain(r.id(), stored, r.length)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return nil
}

func readEvents(s *session, n int64) (events []patterns.Event, err error) {
	err = s.each(func(scan func(...any) error) error {
		var e patterns.Event
		err := scan(&e.Seq, &e.At, &e.Kind, &e.Key, (*json.RawMessage)(&e.Body), &e.Hash)
		events = append(events, e)
		return err
	}, selectEvents, n)
	return events, err
}

// loaded is a run of the state file that fits its record and can be carried on here.
type loaded struct {
	*row
	run     *run
	history *history
	dry     *rehearsal
	events  []journal.Event
	last    patterns.Event
	hidden  *hidden // values that are kept out of the record

	answered []int64 // approvals whose answers were entered
}

// errBroken is returned for a record whose chain or length is broken: nothing is appended to it.
var errBroken = errors.New("local: the record is broken")

// load verifies a run's record, makes its job again and replays it dry. Its error is errBroken, [*patterns.Lacking],
// [ErrMismatch] with what was loaded, or the journal's.
func (f *file) load(r *row, stored []patterns.Event) (*loaded, error) {
	if r.state == "broken" {
		return nil, errBroken
	}
	if err := r.whole(stored); err != nil {
		return nil, err
	}
	open, hidden, lost, err := f.reveal(r.n, stored)
	if err != nil {
		return nil, err
	}
	events, err := decodeEvents(open)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	h := remembered(events)
	if s := h.start; s.Pattern != r.pattern || s.Principal != r.principal || s.Config != r.config || s.ParentNumber() != r.parent {
		return nil, fmt.Errorf("%w: its row does not say what its first event says", errBroken)
	}
	if lost && r.state == "ended" {
		return &loaded{row: r, history: h, events: events, last: stored[len(stored)-1], hidden: hidden}, errRedacted
	}
	job, err := f.job(r, h)
	if err != nil {
		return &loaded{row: r, history: h, events: events, last: stored[len(stored)-1], hidden: hidden}, err
	}
	if own, err := newRedactor(job.Redact); err == nil && !slices.Equal(job.Redact, f.Settings().Redact) { // begun under another configuration
		hidden.redactor = hidden.with(own)
		hidden.learn(open)
	}
	last := stored[len(stored)-1]
	record := &Record{seq: int(last.Seq), at: time.UnixMicro(last.At)}
	hidden.inherits(f.inherited(r.parent))
	record.file = &tail{file: f, id: r.id(), n: r.n, parent: r.parent, epoch: r.epoch + 1, head: last.Hash, hidden: hidden}
	l := &loaded{row: r, history: h, events: events, last: last, hidden: hidden}
	l.run = &run{engine: f.Engine, id: r.id(), job: job, record: record, began: h.began, state: patterns.Running}
	l.run.idle = patterns.Current{Since: h.began, Done: h.answered}
	l.dry, err = l.run.rehearse(h)
	l.run.idle.Phase = h.phase
	return l, err
}

// job makes a run's job again.
func (f *file) job(r *row, h *history) (patterns.Job, error) {
	if f.options.Source == nil {
		return patterns.Job{}, &patterns.Lacking{Cause: "config_missing", Needs: []string{r.config}}
	}
	job, err := f.options.Source.Job(patterns.Begun{
		RunID: r.id(), Pattern: r.pattern, Principal: r.principal, Client: r.client, Config: r.config, Arguments: h.start.Arguments,
		Parent: h.start.Parent,
	})
	job.Principal, job.Client, job.Config = r.principal, r.client, r.config
	job.ClientVersion, job.Era = h.start.ClientVersion, h.start.Era
	job.Earlier = h.start.Earlier()
	return job.Begun(h.start.Parent), err
}

// errRedacted is returned for a run that ended and whose values are gone with that: it is shown as the record keeps it.
var errRedacted = errors.New("local: values were redacted")

// reveal puts redacted values back.
func (f *file) reveal(n int64, events []patterns.Event) (open []patterns.Event, h *hidden, lost bool, err error) {
	err = f.journal.view(func(s *session) error {
		open, h, lost, err = f.hiding().reveal(s, n, events)
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

// ledgerOf are the calls of a record, for runs whose code does not fit it any more. The attempts at one act are one call, under
// the first one's name.
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
