package memory

import (
	"bytes"
	"fmt"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// step takes one step of a change. The error is a [*store.Refused] if the step does not hold, or [store.ErrFenced].
func (t *tables) step(of store.Step) error {
	switch s := of.(type) {
	case store.Begin:
		return t.begin(s)
	case store.AddConfigs:
		t.addConfigs(s)
	case store.SetLength:
		t.onRun(s.N, func(r *run) bool { return !s.Resting || r.State == "parked" || r.State == "ended" }, func(r *run) { r.reach(s.Head) })
	case store.Park:
		t.park(s)
	case store.End:
		t.end(s)
	case store.Take:
		is := func(r *run) bool { return r.State == s.State && r.Epoch == s.Epoch && r.Canceled == s.Canceled }
		return must(s, t.onRun(s.N, is, func(r *run) {
			r.State, r.Owner, r.Epoch = "running", s.Owner, r.Epoch+1
			r.wake()
		}))
	case store.GiveUp:
		t.onRun(s.N, func(r *run) bool { return r.State == "running" && r.Owner == s.Owner && r.Epoch == s.Epoch }, (*run).giveUp)
	case store.Release:
		for _, r := range t.unfinished {
			if r.State == "running" && r.Owner == s.Owner {
				t.put(r, (*run).giveUp)
			}
		}
	case store.Seize:
		return must(s, t.onRun(s.N, running, func(r *run) {
			if r.giveUp(); s.Owner != "" {
				r.State, r.Owner = "running", s.Owner
			}
		}))
	case store.Recall:
		return must(s, t.onRun(s.N, running, func(r *run) { r.Canceled = true }))
	case store.CancelResting:
		is := func(r *run) bool {
			return (r.State == "ready" || r.State == "parked") && !r.Canceled && r.Epoch == s.Epoch
		}
		return must(s, t.onRun(s.N, is, (*run).cancel))
	case store.DropChildren:
		for _, r := range t.byParent[s.Parent] {
			t.cancel(r)
		}
	case store.DropChild:
		if r := t.runs[s.N]; r != nil && r.Parent == s.Parent {
			t.cancel(r)
		}
	case store.DropOrphans:
		for _, r := range t.unfinished {
			if above := t.runs[r.Parent]; r.Parent != 0 && (above == nil || !isUnfinished(above.State)) {
				t.cancel(r)
			}
		}
	default:
		return t.stepAtRest(of)
	}
	return nil
}

// stepAtRest takes a step on a run that no process has, or on what was hidden or kept of runs.
func (t *tables) stepAtRest(of store.Step) error {
	switch s := of.(type) {
	case store.Wake:
		t.onRun(s.N, parked, func(r *run) { r.State, r.Epoch, r.Wake = "ready", r.Epoch+1, 0 })
	case store.Settle:
		return must(s, t.onRun(s.N, parkedUnder(s.Epoch), func(r *run) {
			r.State, r.Epoch = "ready", r.Epoch+1
			r.wake()
			r.reach(s.Head)
		}))
	case store.Noted:
		return must(s, t.onRun(s.N, parkedUnder(s.Epoch), func(r *run) {
			r.Epoch++
			r.reach(s.Head)
		}))
	case store.AddEvent:
		r := t.runs[s.N]
		if r == nil || r.length() != s.Event.Seq-1 {
			return store.Refuse(s)
		}
		return t.addEvent(r, s.Event)
	case store.Lack:
		t.onRun(s.N, func(r *run) bool { return r.State == "ready" && r.Epoch == s.Epoch }, func(r *run) { r.WaitingKind = "retry" })
	case store.Break:
		t.onRun(s.N, func(r *run) bool { return r.State != "broken" }, func(r *run) {
			r.State, r.Owner, r.Wake, r.Epoch = "broken", "", 0, r.Epoch+1
			r.Status, r.StopReason, r.Summary, r.Ended = "stopped", "record_broken", s.Summary, s.Ended
		})
	case store.Deliver:
		t.onRun(s.N, func(r *run) bool { return r.Principal == s.Principal && r.State == "ended" }, func(r *run) { r.delivered = true })
	case store.Bury:
		t.bury(s)
	case store.AddHidden:
		t.onRun(s.N, whatever, func(r *run) { r.hide(s.Values) })
	case store.DropHidden:
		if above := t.runs[s.Parent]; s.Parent == 0 || above == nil || !isUnfinished(above.State) {
			t.dropHidden(s.N, s.Itself)
		}
	case store.DropHiddenOf:
		t.onRun(s.N, whatever, func(r *run) { r.hidden = nil })
		if s.Below {
			t.dropHidden(s.N, false)
		}
	case store.RunIs:
		if now, _ := t.Stands(s.N); now != s {
			return store.Refuse(s)
		}
	default:
		return t.stepBeside(of)
	}
	return nil
}

// stepBeside takes a step that is about calls, plans, kill switches or reloads.
func (t *tables) stepBeside(of store.Step) error {
	switch s := of.(type) {
	case store.TakeKey, store.AdoptKey, store.KeyDone, store.KeepOutcome, store.FreeKey:
		return t.stepOfKey(s)
	case store.SetSettled:
		t.calls.settle(t, s)
	case store.WindowHolds:
		holds, err := s.Judge(t)
		return refuse(s, holds, err)
	case store.PlanIs:
		p := t.plans[s.N]
		is := p != nil && !s.Missing && p.Version == s.Version && p.Run == s.Run && p.Under == s.Under && bytes.Equal(p.Sum, s.Sum)
		return must(s, is || p == nil && s.Missing)
	case store.AddPlan:
		if t.plans[s.Plan.N] != nil {
			return store.Refuse(s)
		}
		t.setPlan(s.Plan)
	case store.HoldPlan:
		if p := t.plans[s.N]; p != nil {
			held := *p
			held.Run, held.Under = s.Run, s.Under
			puts(t, t.plans, s.N, new(&held))
		}
	case store.SetPlan:
		if p := t.plans[s.Plan.N]; p != nil {
			next := s.Plan
			next.Principal, next.Pattern, next.Created = p.Principal, p.Pattern, p.Created
			t.setPlan(next)
		}
	case store.SetSwitch:
		t.setSwitch(s.Switch)
	case store.ClearSwitch:
		return must(s, t.clearSwitch(s.Tool, s.Pattern))
	case store.AddReload:
		t.addReload(s)
	case store.AddReloadAnswer:
		t.addReloadAnswer(s)
	default:
		return t.stepOfQuestion(of)
	}
	return nil
}

// stepOfQuestion takes a step that is about questions, approver keys or sign-ins.
func (t *tables) stepOfQuestion(of store.Step) error {
	switch s := of.(type) {
	case store.AddQuestion:
		t.addQuestion(s)
	case store.CloseQuestion:
		q := t.questions[s.Approval]
		if q != nil && q.Run == s.Run && q.State == "answered" {
			return store.Refuse(s)
		}
		t.onQuestion(s.Approval, s.Run, "open", func(q *question) { q.State = s.State })
	case store.AnswerQuestion:
		return must(s, t.answer(s))
	case store.HearAnswer:
		return must(s, t.onQuestion(s.Approval, s.Run, "answered", func(q *question) { q.State, q.Args = "taken", nil }))
	case store.SpendApproval:
		return must(s, t.spend(s))
	case store.CountRefused:
		q := t.questions[s.Approval]
		return must(s, q != nil && q.Refused < s.Most && t.onQuestion(s.Approval, q.Run, q.State, func(q *question) { q.Refused++ }))
	case store.KeysAre:
		now, _ := t.Keys()
		return must(s, now.Mark == s.Mark)
	case store.AddKey:
		t.setKeys(append(t.keys[:len(t.keys):len(t.keys)], s.Key))
	case store.DropKey:
		t.dropKey(s)
	case store.UseAct:
		used := t.acts[s.Nonce]
		puts(t, t.acts, s.Nonce, new(true))
		return must(s, !used)
	case store.AddSignIn:
		for token, until := range t.signIns {
			if until <= s.Now {
				puts(t, t.signIns, token, nil)
			}
		}
		if _, there := t.signIns[string(s.Token)]; !there {
			puts(t, t.signIns, string(s.Token), new(s.Until))
		}
	case store.UseSignIn:
		until, there := t.signIns[string(s.Token)]
		if there && until > s.Now {
			puts(t, t.signIns, string(s.Token), nil)
			return nil
		}
		return store.Refuse(s)
	default:
		return fmt.Errorf("%w: a step of type %T is not known", patterns.ErrJournal, of)
	}
	return nil
}

// must refuses a step that does not hold.
func must(s store.Step, holds bool) error { return refuse(s, holds, nil) }

func refuse(s store.Step, holds bool, err error) error {
	if err == nil && !holds {
		return store.Refuse(s)
	}
	return err
}
