package memory

import (
	"bytes"
	"slices"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// onRun changes a run if there is one for which is returns true.
func (t *tables) onRun(n int64, is func(*run) bool, change func(*run)) bool {
	r := t.runs[n]
	if r == nil || !is(r) {
		return false
	}
	t.put(r, change)
	return true
}

func running(r *run) bool { return r.State == "running" }

func parked(r *run) bool { return r.State == "parked" }

func whatever(*run) bool { return true }

func parkedUnder(epoch int64) func(*run) bool {
	return func(r *run) bool { return r.State == "parked" && r.Epoch == epoch }
}

// reach stores the length of the record.
func (r *run) reach(h store.Head) { r.Length, r.Head, r.newest = h.Events, h.Hash, h.Newest }

// wake forgets what a run waited for.
func (r *run) wake() { r.Wake, r.WaitingKind, r.Turn, r.WaitsKey, r.Expires = 0, "", 0, "", 0 }

func (r *run) giveUp() { r.State, r.Owner, r.Epoch = "ready", "", r.Epoch+1 }

// cancel cancels a run that no process has.
func (r *run) cancel() { r.Canceled, r.State, r.Epoch = true, "ready", r.Epoch+1 }

// cancel cancels a child run that is not needed any more.
func (t *tables) cancel(r *run) {
	switch {
	case r.Canceled || !isUnfinished(r.State):
	case r.State == "running":
		t.put(r, func(r *run) { r.Canceled = true })
	default:
		t.put(r, (*run).cancel)
	}
}

func (t *tables) begin(s store.Begin) error {
	if s.ParentEpoch > 0 {
		if above := t.runs[s.Parent]; above == nil || above.State != "running" || above.Epoch != s.ParentEpoch {
			return store.ErrFenced
		}
		if t.runs[s.N] != nil {
			return &store.Refused{Steps: []store.Step{s}, Joined: s.N}
		}
	}
	if t.runs[s.N] != nil {
		return store.Refuse(s)
	}
	r := &run{newest: s.Newest}
	r.Row = store.Row{
		N: s.N, Pattern: s.Pattern, Principal: s.Principal, Client: s.Client, Config: s.Config, Began: s.Began, State: "running", Owner: s.Owner, Epoch: 1, Parent: s.Parent,
	}
	if s.Equal != nil {
		if err := t.joins(s); err != nil {
			return err
		}
		r.request, r.args = s.Equal.Request, s.Equal.Args
	}
	t.addConfigs(s.Configs)
	t.add(r)
	t.undo = append(t.undo, func() { t.remove(r) })
	return nil
}

// joins refuses a run whose call must join another one, see [store.Equal].
func (t *tables) joins(s store.Begin) error {
	var r *run
	for _, before := range t.byRequest[string(s.Equal.Request)] {
		if r == nil || before.Began >= r.Began {
			r = before
		}
	}
	if r == nil {
		return nil
	}
	over, e := !isUnfinished(r.State), s.Equal
	if e.ByKey {
		if !bytes.Equal(r.args, e.Args) {
			return store.Refuse(s)
		}
		return &store.Refused{Steps: []store.Step{s}, Joined: r.N}
	}
	if p := t.plans[e.Plan]; e.Plan != 0 && p != nil {
		lost := r.Canceled && p.Run != r.N && p.Under != r.N
		if stale := slices.Contains(e.Outdated, r.StopReason) || p.Changed > r.Ended; !over && lost || over && stale {
			return nil
		}
	}
	if !over || r.State == "ended" && !r.delivered && r.Ended > e.Since {
		return &store.Refused{Steps: []store.Step{s}, Joined: r.N}
	}
	return nil
}

func (t *tables) addConfigs(list []store.Config) {
	for _, c := range list {
		if _, there := t.configs[c.Hash]; !there {
			puts(t, t.configs, c.Hash, &c.Body)
		}
	}
}

func (t *tables) park(s store.Park) {
	goesOn := t.goesOn(s)
	t.onRun(s.N, whatever, func(r *run) {
		if r.State = "parked"; r.Canceled || goesOn {
			r.State = "ready"
		}
		r.reach(s.Head)
		r.Owner, r.Wake, r.Expires, r.WaitingKind, r.WaitsKey, r.Turn, r.Phase, r.Summary = "", s.Wake, s.Expires, s.Kind, s.Key, s.Turn, s.Phase, s.Summary
	})
}

// goesOn reports whether a run that is about to wait can continue at once: a question was answered, or a child run changed.
func (t *tables) goesOn(s store.Park) bool {
	for _, ap := range s.Questions {
		if q := t.questions[ap]; q != nil && q.Run == s.N && q.State == "answered" {
			return true
		}
	}
	for _, seen := range s.Children {
		if now, _ := t.Standing(seen.N); now != seen {
			return true
		}
	}
	return false
}

func (t *tables) end(s store.End) {
	t.onRun(s.N, whatever, func(r *run) {
		r.State, r.Owner = "ended", ""
		r.wake()
		r.reach(s.Head)
		r.Ended, r.Status, r.StopReason, r.Phase, r.Summary = s.Ended, s.Status, s.StopReason, s.Phase, s.Summary
	})
}

// addEvent adds an event to the record of a run that no process owns.
func (t *tables) addEvent(r *run, e patterns.Event) error {
	n := len(r.events)
	t.undo = append(t.undo, func() { r.events = r.events[:n] })
	return t.appendTo(r, []patterns.Event{e})
}

func (t *tables) bury(s store.Bury) {
	if s.RunID != "" && !slices.ContainsFunc(t.tombstones, func(b store.Bury) bool { return b.RunID == s.RunID }) {
		was := t.tombstones
		t.undo = append(t.undo, func() { t.tombstones = was })
		t.tombstones = append(was[:len(was):len(was)], s)
	}
	for ap, q := range t.questions {
		if q.Run != s.N {
			continue
		}
		for of := range t.shares {
			if of.approval == ap {
				puts(t, t.shares, of, nil)
			}
		}
		puts(t, t.questions, ap, nil)
	}
	for of := range t.calls.found {
		if of.run == s.N {
			puts(t, t.calls.found, of, nil)
		}
	}
	if r := t.runs[s.N]; r != nil {
		t.remove(r)
		t.undo = append(t.undo, func() { t.add(r); t.index(r) })
	}
}

func (r *run) hide(values []store.HiddenValue) {
	for _, v := range values {
		if !slices.ContainsFunc(r.hidden, func(o store.HiddenValue) bool { return bytes.Equal(o.Hash, v.Hash) }) {
			r.hidden = append(r.hidden[:len(r.hidden):len(r.hidden)], v)
		}
	}
}

// dropHidden deletes the hidden values of those runs below a run that are over, and with itself also those of the run.
func (t *tables) dropHidden(n int64, itself bool) {
	if r := t.runs[n]; itself && r != nil && len(r.hidden) > 0 {
		t.put(r, func(r *run) { r.hidden = nil })
		for ap, q := range t.questions {
			if q.Run == n {
				t.onQuestion(ap, n, q.State, func(q *question) { q.Answer, q.Args, q.Shown = nil, nil, []byte("{}") })
			}
		}
	}
	for _, child := range t.byParent[n] {
		if !isUnfinished(child.State) {
			t.dropHidden(child.N, true)
		}
	}
}
