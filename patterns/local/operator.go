package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/decisions"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Operator is what the owner of a state file may do with the runs of all principals: what commands stand on. It is of an
// engine over a state file only.
type Operator struct{ file *file }

// Operator returns the owner's view of the engine's runs.
func (e *Engine) Operator() Operator { return Operator{e.file} }

// KillSwitches are those that are on.
func (o Operator) KillSwitches() ([]patterns.Switch, error) { return o.file.KillSwitches() }

// KillSwitch turns a switch on or off, as [patterns.Switches] has it.
func (o Operator) KillSwitch(on bool, s patterns.Switch, act gateway.SignedAct) error {
	return o.file.KillSwitch(on, s, act)
}

// Settlement says whether a call in doubt happened.
type Settlement struct {
	By       patterns.Note
	Happened bool
	Result   json.RawMessage // what the call returned, one JSON document; nil where that is not known
	Comment  string
	// Act is [gateway.ActSettle] about [Settlement.Subject], needed where an approver key is enrolled.
	Act gateway.SignedAct
}

// Subject is what is signed of a settlement.
func (s Settlement) Subject(run, effect string) map[string]any {
	v := map[string]any{"run": run, "effect": effect, "happened": s.Happened}
	if s.Result != nil {
		sum := sha256.Sum256(s.Result)
		v["result"] = "sha256:" + hex.EncodeToString(sum[:])
	}
	return v
}

// SeizeSubject is what is signed of a run that is taken from its owner.
func SeizeSubject(run string) map[string]any { return map[string]any{"run": run} }

// Tombstone is what stays of a pruned run.
type Tombstone struct {
	RunID, Pattern, StopReason string
	Began, Ended               time.Time
	Head                       patterns.Head
}

// AmbiguousError is returned for the beginning of an id that several runs have.
type AmbiguousError = journal.AmbiguousError

// Find is the id of the one run that begins so: 4 digits or more, with or without run_. Its error is
// [patterns.ErrNoRun] or an [*AmbiguousError].
func (o Operator) Find(beginning string) (string, error) {
	low, high, ok := journal.Bounds(strings.TrimPrefix(beginning, "run_"))
	if !ok {
		return "", patterns.ErrNoRun
	}
	var ids []string
	err := o.file.journal.View(func(s store.Reader) error {
		list, err := s.Between(low, high)
		for _, n := range list {
			ids = append(ids, journal.RunID(n))
		}
		return err
	})
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", patterns.ErrNoRun
	case len(ids) > 1:
		return "", &journal.AmbiguousError{IDs: ids}
	}
	return ids[0], nil
}

// Run returns the present state of a run.
func (o Operator) Run(id string) (patterns.Snapshot, bool) {
	n, _ := journal.RunNumber(id)
	r, events, err := o.file.read(n)
	if err != nil || r == nil {
		return patterns.Snapshot{}, false
	}
	return o.file.show(r, events), true
}

// Record is a run's record with the length that was kept at its last rest (0: none yet), even where it is broken.
func (o Operator) Record(id string) (events []patterns.Event, kept int64, err error) {
	n, _ := journal.RunNumber(id)
	r, events, err := o.file.read(n)
	if err == nil && r == nil {
		err = patterns.ErrNoRun
	}
	if err != nil {
		return nil, 0, err
	}
	return events, r.Length, nil
}

// Kept returns a run's record and what its row keeps beside it, both from one state of the file. A concurrent write is in both or in
// neither.
func (o Operator) Kept(id string) (events []patterns.Event, kept patterns.Kept, err error) {
	n, _ := journal.RunNumber(id)
	r, events, err := o.file.read(n)
	switch {
	case err != nil:
		return nil, kept, err
	case r == nil:
		return nil, kept, patterns.ErrNoRun
	}
	kept = patterns.Kept{
		State: r.State, Pattern: r.Pattern, Principal: r.Principal, Config: r.Config, Began: r.Began, Ended: r.Ended,
		Status: r.Status, StopReason: r.StopReason, Phase: r.Phase, Summary: r.Summary, Head: patterns.Head{Events: r.Length, Hash: r.Head},
	}
	if r.Parent != 0 {
		kept.Parent = journal.RunID(r.Parent)
	}
	return events, kept, nil
}

var _ patterns.Owner = Operator{}

// Changed implements [patterns.Owner]. What other processes write is noticed, too.
func (o Operator) Changed(ctx context.Context, since uint64) ([]string, uint64) {
	if ctx.Err() == nil {
		defer o.file.scheduler.lookOn()()
	}
	return o.file.waiters.follow(ctx, since)
}

// List is a page of all principals' runs, tombstones not among them.
func (o Operator) List(f patterns.Filter) (patterns.Page, error) { return o.file.List(f) }

// Plan implements [patterns.Owner].
func (o Operator) Plan(id string) (patterns.PlanState, error) {
	return o.file.planOf(id, func(*store.Plan) bool { return true })
}

// Check reads the whole file and says what is wrong with it.
func (o Operator) Check() error { return o.file.journal.Check() }

// Damage is a fault of a state file outside the records of its runs.
type Damage = store.Damage

// Audit reads the whole file and returns its faults: of pages and indexes, of tables, and of rows that refer to nothing. It reads one
// state of the file while other programs write. It returns an error if the file cannot be read.
func (o Operator) Audit() ([]Damage, error) { return o.file.journal.Audit() }

// Cancel is as [patterns.Runs] has it. A run that no process carries on is ended here; nothing of it is called.
func (o Operator) Cancel(ctx context.Context, id string, by patterns.Note) (patterns.Snapshot, error) {
	n, _ := journal.RunNumber(id)
	r, _, err := o.file.read(n)
	if err == nil && r == nil {
		err = patterns.ErrNoRun
	}
	if err != nil {
		return patterns.Snapshot{}, err
	}
	return o.file.Cancel(ctx, r.Principal, id, by)
}

// Settle says what became of a call in doubt, by its effect key. The run then goes on wherever it is taken.
// [patterns.ErrNotTaken] where the run does not wait for this.
func (o Operator) Settle(id, effect string, s Settlement) error {
	err := o.file.settle(id, effect, s)
	o.file.scheduler.nudge()
	return err
}

// settle implements [Operator.Settle].
func (f *file) settle(id, effect string, s Settlement) error {
	n, _ := journal.RunNumber(id)
	r, stored, err := f.read(n)
	if err != nil {
		return err
	}
	if r == nil {
		return patterns.ErrNoRun
	}
	if r.State != "parked" {
		return patterns.ErrNotTaken
	}
	l, err := f.load(r, stored)
	if err != nil && !isLacking(err) {
		return err
	}
	key := l.history.Doubt(effect)
	if key == "" {
		return patterns.ErrNotTaken
	}
	out := map[string]any{"happened": s.Happened, "by": s.By.By, "channel": s.By.Channel}
	if s.Comment != "" {
		out["comment"] = s.Comment
	}
	if s.Result != nil {
		if out["result"], err = decodeResult(s.Result); err != nil {
			return err
		}
	}
	t := f.back.Continue(r, 0, l.last, l.hidden)
	record := t.Record()
	now := f.journal.Now()
	record.Append(patterns.NoteEvent, "", now, journal.NoteBody{What: execution.NoteSettle, Note: s.By, Act: s.Act})
	last := record.Append(patterns.OutcomeEvent, key, now, journal.OutcomeBody{State: patterns.OK, Output: out, Human: true})
	events := t.Take()
	head := events[len(events)-1].Hash
	subject := s.Subject(id, effect)
	step := store.Settle{N: n, Epoch: r.Epoch, Head: store.Head{Events: int64(last.Seq), Hash: head, Newest: last.At.UnixMicro()}}
	c := &store.Change{Run: n, Events: events, Durable: true}
	err = f.signer().Signed(s.Act, decisions.Wanted{Act: gateway.ActSettle, Subject: subject}, c, append([]store.Step{step}, t.KeepHidden()...)...)
	if store.IsRefused(err) {
		return patterns.ErrNotTaken
	}
	return err
}

// Seize takes a run from an owner that lives but does not move. What that owner has sent cannot be recalled.
// [patterns.ErrNotTaken] where nobody owns it. The act is [gateway.ActSeize] about [SeizeSubject], needed where an approver
// key is enrolled.
func (o Operator) Seize(id string, by patterns.Note, act gateway.SignedAct) error {
	n, _ := journal.RunNumber(id)
	r, events, err := o.file.read(n)
	switch {
	case err != nil:
		return err
	case r == nil:
		return patterns.ErrNoRun
	}
	if err := r.Verify(events); err != nil { // nothing may be appended
		o.file.quarantine(r, err)
		return err
	}
	for range 2 {
		var note []store.Step
		err = o.file.journal.View(func(s store.Reader) error {
			note, err = o.file.back.Note(s, n, journal.NoteBody{What: execution.NoteSeize, Note: by, Act: act})
			return err
		})
		if err != nil {
			break
		}
		steps := append([]store.Step{store.Seize{N: n}}, note...)
		err = o.file.signer().Signed(act, decisions.Wanted{Act: gateway.ActSeize, Subject: SeizeSubject(id)}, &store.Change{Run: n, Durable: true}, steps...)
		if store.RefusedBy[store.Seize](err) {
			err = patterns.ErrNotTaken
		}
		if !store.IsRefused(err) {
			break
		}
	}
	if store.IsRefused(err) { // its owner recorded something each time in between
		err = o.seizeFirst(n, id, by, act)
	}
	o.file.scheduler.nudge()
	return err
}

// seizeFirst takes a run into this process's hands, so that its owner records nothing more, and then notes that and makes the run ready.
func (o Operator) seizeFirst(n int64, id string, by patterns.Note, act gateway.SignedAct) error {
	f := o.file
	me := f.owner.ID()
	err := f.signer().Signed(act, decisions.Wanted{Act: gateway.ActSeize, Subject: SeizeSubject(id)}, &store.Change{Run: n, Durable: true}, store.Seize{N: n, Owner: me})
	if store.RefusedBy[store.Seize](err) {
		return patterns.ErrNotTaken
	}
	if err != nil {
		return err
	}
	var r *store.Row
	var note []store.Step
	err = f.journal.View(func(s store.Reader) error {
		if r, err = s.Row(n); err == nil && r != nil {
			note, err = f.back.Note(s, n, journal.NoteBody{What: execution.NoteSeize, Note: by, Act: act})
		}
		return err
	})
	if r == nil || r.Owner != me {
		return err
	}
	if err != nil { // without the note: the run must not stay in the hands of a process that does not carry it out
		_ = f.journal.Do(&store.Change{Run: n, Epoch: r.Epoch, Durable: true, Steps: []store.Step{store.GiveUp{N: n, Owner: me, Epoch: r.Epoch}}})
		return err
	}
	return f.journal.Do(&store.Change{Run: n, Epoch: r.Epoch, Durable: true, Steps: append(note, store.GiveUp{N: n, Owner: me, Epoch: r.Epoch})})
}

// Resume carries on what is ready here, or the one run, and returns the runs when they rest, or as they stand when ctx
// ends. Its error for one run is [patterns.ErrOver], or [patterns.ErrNotTaken] where it waits or another process has it.
func (o Operator) Resume(ctx context.Context, id string) ([]patterns.Snapshot, error) {
	f := o.file
	f.bury(f.owners())
	if id != "" {
		n, _ := journal.RunNumber(id)
		below, err := f.resumeBelow(n) // it may rest with one of them
		if err != nil {
			return nil, err
		}
		l, err := f.claim(n, nil)
		if err != nil || l == nil { // nil: it was ended
			o.rested(ctx, below...)
			return o.unclaimed(id, err)
		}
		return o.rested(ctx, l), nil
	}
	var list []patterns.Snapshot
	for ctx.Err() == nil {
		ready, _, err := f.candidates() // as many as may be carried on at once
		if err != nil {
			return list, err
		}
		var lives []*lived
		for _, r := range ready {
			if l, err := f.claim(r.N, nil); err == nil && l != nil {
				lives = append(lives, l)
			}
		}
		if len(lives) == 0 {
			break
		}
		list = append(list, o.rested(ctx, lives...)...)
	}
	return list, nil
}

// rested shows lives when they have come to rest, at the latest when ctx ends.
func (o Operator) rested(ctx context.Context, lives ...*lived) (list []patterns.Snapshot) {
	for _, l := range lives {
		s, _ := o.file.Wait(ctx, l.Job.Principal, l.RunID, patterns.Mark{State: patterns.Running})
		list = append(list, s)
	}
	return list
}

// unclaimed shows the one run that was not carried on, and says why.
func (o Operator) unclaimed(id string, cause error) ([]patterns.Snapshot, error) {
	s, ok := o.Run(id)
	switch {
	case !ok:
		return nil, patterns.ErrNoRun
	case s.State == patterns.Over:
		return []patterns.Snapshot{s}, patterns.ErrOver
	}
	return []patterns.Snapshot{s}, cause
}

// Alive reports whether this process or another one continues ready runs.
func (o Operator) Alive() bool { return o.file.scheduler.serves.Load() || o.file.owner.OthersServe() }

// Prune deletes runs that ended before a time but for their tombstones; dry only lists them.
func (o Operator) Prune(before time.Time, dry bool) (list []Tombstone, err error) {
	var old []*store.Row
	err = o.file.journal.View(func(s store.Reader) error {
		old, err = s.Old(before.UnixMicro())
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, r := range old {
		t := Tombstone{
			RunID: r.ID(), Pattern: r.Pattern, StopReason: r.StopReason, Began: time.UnixMicro(r.Began), Ended: time.UnixMicro(r.Ended),
			Head: patterns.Head{Events: r.Length, Hash: r.Head},
		}
		if !dry {
			if err := o.bury(r, t); err != nil {
				return list, err
			}
		}
		list = append(list, t)
	}
	return list, nil
}

// bury leaves a run's tombstone.
func (o Operator) bury(r *store.Row, t Tombstone) error {
	step := store.Bury{
		N: r.N, RunID: t.RunID, Pattern: r.Pattern, Principal: r.Principal, StopReason: r.StopReason, Began: r.Began, Ended: r.Ended,
		Head: store.Head{Events: r.Length, Hash: r.Head},
	}
	return o.file.journal.Do(&store.Change{Durable: true, Steps: []store.Step{step}})
}

// Tombstones lists what stays of pruned runs, newest first.
func (o Operator) Tombstones() (list []Tombstone, err error) {
	var stored []store.Bury
	err = o.file.journal.View(func(s store.Reader) error {
		stored, err = s.Tombstones()
		return err
	})
	for _, b := range stored {
		list = append(list, Tombstone{
			RunID: b.RunID, Pattern: b.Pattern, StopReason: b.StopReason, Began: time.UnixMicro(b.Began), Ended: time.UnixMicro(b.Ended),
			Head: patterns.Head{Events: b.Events, Hash: b.Hash},
		})
	}
	return list, err
}
