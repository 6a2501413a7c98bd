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
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Operator is the view of the owner of a state file: the runs of all principals. Commands use it. It works only for an engine over
// a state file.
type Operator struct{ file *file }

// Operator returns the owner's view of the engine's runs.
func (e *Engine) Operator() Operator { return Operator{e.file} }

// KillSwitches returns the switches that are on.
func (o Operator) KillSwitches() ([]patterns.Switch, error) { return o.file.KillSwitches() }

// KillSwitch turns a switch on or off, see [patterns.Switches].
func (o Operator) KillSwitch(on bool, s patterns.Switch, act gateway.SignedAct) error {
	return o.file.KillSwitch(on, s, act)
}

// Settlement says whether a call in doubt happened.
type Settlement struct {
	By       patterns.Note
	Happened bool
	Result   json.RawMessage // what the call returned, one JSON document; nil if that is not known
	Comment  string
	// Act is [gateway.ActSettle] about [Settlement.Subject]. It is required if an approver key is enrolled.
	Act gateway.SignedAct
}

// Subject returns the part of a settlement that is signed.
func (s Settlement) Subject(run, effect string) map[string]any {
	v := map[string]any{"run": run, "effect": effect, "happened": s.Happened}
	if s.Result != nil {
		sum := sha256.Sum256(s.Result)
		v["result"] = "sha256:" + hex.EncodeToString(sum[:])
	}
	return v
}

// SeizeSubject returns what is signed when a run is taken from its owner.
func SeizeSubject(run string) map[string]any { return map[string]any{"run": run} }

// Tombstone is what remains of a pruned run.
type Tombstone struct {
	RunID, Pattern, StopReason string
	Began, Ended               time.Time
	Head                       patterns.Head
}

// AmbiguousError is returned for the beginning of an id if several runs match it.
type AmbiguousError = journal.AmbiguousError

// Find returns the id of the one run whose id begins so. The beginning has 4 digits or more, with or without run_. The error is
// [patterns.ErrNoRun], an [*AmbiguousError] or an error of the store.
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

// Run shows the present state of a run.
func (o Operator) Run(id string) (patterns.Snapshot, bool) {
	n, _ := journal.RunNumber(id)
	r, events, err := o.file.read(n)
	if err != nil || r == nil {
		return patterns.Snapshot{}, false
	}
	return o.file.show(r, events), true
}

// Record returns a run's record, even if it is broken, and the length that was kept at its last rest (0: none yet).
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

// Changed implements [patterns.Owner]. It also sees what other processes write.
func (o Operator) Changed(ctx context.Context, since uint64) ([]string, uint64) {
	if ctx.Err() == nil {
		defer o.file.scheduler.lookOn()()
	}
	return o.file.waiters.follow(ctx, since)
}

// List returns a page of the runs of all principals, without tombstones.
func (o Operator) List(f patterns.Filter) (patterns.Page, error) { return o.file.List(f) }

// Plan implements [patterns.Owner].
func (o Operator) Plan(id string) (patterns.PlanState, error) {
	return o.file.planOf(id, func(*store.Plan) bool { return true })
}

// Check reads the whole file and returns what is wrong with it as an error.
func (o Operator) Check() error { return o.file.journal.Check() }

// Damage is a fault of a state file outside the records of its runs.
type Damage = store.Damage

// Audit reads the whole file and returns its faults: of pages and indexes, of tables, and of rows that refer to nothing. It reads one
// state of the file while other programs write. It returns an error if the file cannot be read.
func (o Operator) Audit() ([]Damage, error) { return o.file.journal.Audit() }

// Cancel cancels a run, see [patterns.Runs]. If no process runs it, Cancel ends it here and calls nothing of it.
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

// Settle decides the outcome of a call in doubt, named by its effect key. The run then continues in the process that takes it. The
// error is [patterns.ErrNotTaken] if the run does not wait for this.
func (o Operator) Settle(id, effect string, s Settlement) error {
	err := o.file.settle(id, effect, s)
	o.file.scheduler.nudge()
	return err
}

// Seize takes a run from an owner that is alive but makes no progress. It cannot recall what that owner has sent. The error is
// [patterns.ErrNotTaken] if no owner has the run. The act is [gateway.ActSeize] about [SeizeSubject]. It is required if an approver
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
	if err := r.Verify(events); err != nil { // nothing may be appended to a broken record
		o.file.quarantine(r, err)
		return err
	}
	for try := 1; ; try++ {
		var note []store.Step
		err = o.file.journal.View(func(s store.Reader) error {
			note, err = o.file.noteSteps(s, n, journal.NoteBody{What: noteSeize, Note: by, Act: act})
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
		if err = errTooFast; try == maxTries { // its owner recorded something in the meantime
			break
		}
	}
	o.file.scheduler.nudge()
	return err
}

// Resume continues the run with the given id, or all that are ready if id is "". It returns the runs when they rest, or in their
// present state when ctx ends. For one run the error is [patterns.ErrOver], or [patterns.ErrNotTaken] if it waits or another
// process has it.
func (o Operator) Resume(ctx context.Context, id string) ([]patterns.Snapshot, error) {
	f := o.file
	f.bury(f.owners())
	if id != "" {
		n, _ := journal.RunNumber(id)
		below, err := f.resumeBelow(n) // the run may rest with one of them
		if err != nil {
			return nil, err
		}
		l, err := f.claim(n, nil)
		if err != nil {
			o.rested(ctx, below...)
			return o.unclaimed(id, err)
		}
		return o.rested(ctx, l), nil
	}
	var list []patterns.Snapshot
	for ctx.Err() == nil {
		ready, _, err := f.candidates() // as many as may run at once
		if err != nil {
			return list, err
		}
		var lives []*life
		for _, r := range ready {
			if l, err := f.claim(r.N, nil); err == nil {
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

// rested waits until lives have come to rest, or until ctx ends, and shows their runs.
func (o Operator) rested(ctx context.Context, lives ...*life) (list []patterns.Snapshot) {
	for _, l := range lives {
		s, _ := o.file.Wait(ctx, l.job.Principal, l.id, patterns.Mark{State: patterns.Running})
		list = append(list, s)
	}
	return list
}

// unclaimed shows the one run that could not be continued, with the reason as the error.
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

// Alive reports whether some process continues runs that are ready, this one or another.
func (o Operator) Alive() bool { return o.file.scheduler.serves.Load() || o.file.owner.OthersServe() }

// Prune deletes runs that ended before a time and leaves their tombstones. With dry it only lists them.
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

// bury replaces a run by its tombstone.
func (o Operator) bury(r *store.Row, t Tombstone) error {
	step := store.Bury{
		N: r.N, RunID: t.RunID, Pattern: r.Pattern, Principal: r.Principal, StopReason: r.StopReason, Began: r.Began, Ended: r.Ended,
		Head: store.Head{Events: r.Length, Hash: r.Head},
	}
	return o.file.journal.Do(&store.Change{Durable: true, Steps: []store.Step{step}})
}

// Tombstones lists the tombstones of pruned runs, newest first.
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
