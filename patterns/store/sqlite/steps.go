package sqlite

import (
	"errors"
	"fmt"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// step takes one step of a change, on the writer and in its transaction. The error is a [*store.Refused] if the step does not hold, or
// [store.ErrFenced]. Any other error comes from the file.
func (j *Store) step(of store.Step) error {
	switch s := of.(type) {
	case store.Begin:
		return j.begin(s)
	case store.AddConfigs:
		return j.addConfigs(s)
	case store.SetLength:
		return j.setLength(s)
	case store.Park:
		return j.park(s)
	case store.End:
		return j.exec(updateEnded, s.Events, s.Hash, s.Newest, s.Ended, s.Status, s.StopReason, s.Phase, s.Summary, s.N)
	case store.Take:
		return j.must(s, updateTaken, orNoText(s.Owner), s.N, s.State, s.Epoch, s.Canceled)
	case store.GiveUp:
		return j.exec(updateGivenUp, s.N, s.Owner, s.Epoch)
	case store.Release:
		return j.exec(updateReleased, s.Owner)
	case store.Seize:
		if s.Owner != "" {
			return j.must(s, updateSeizedFor, s.Owner, s.N)
		}
		return j.must(s, updateSeized, s.N)
	case store.Recall:
		return j.must(s, updateRecalled, s.N)
	case store.CancelResting:
		return j.must(s, updateCanceled, s.N, s.Epoch)
	case store.DropChildren:
		return j.exec(updateUnneeded, s.Parent)
	case store.DropChild:
		return j.exec(updateDropped, s.N, s.Parent)
	case store.DropOrphans:
		return j.exec(updateOrphaned)
	case store.Wake:
		return j.exec(updateDecided, s.N)
	case store.Settle:
		return j.must(s, updateSettled, s.Events, s.Hash, s.Newest, s.N, s.Epoch)
	case store.Noted:
		return j.must(s, updateNoted, s.Events, s.Hash, s.Newest, s.N, s.Epoch)
	case store.AddEvent:
		return j.addEvent(s)
	case store.Lack:
		return j.exec(updateLacking, s.N, s.Epoch)
	case store.Break:
		return j.exec(updateBroken, s.Summary, s.Ended, s.N)
	case store.Deliver:
		return j.exec(updateDelivered, s.N, s.Principal)
	case store.Bury:
		return j.bury(s)
	case store.AddHidden:
		return j.addHidden(s)
	case store.DropHidden:
		return j.dropHidden(s)
	case store.DropHiddenOf:
		return j.dropHiddenOf(s)
	case store.RunIs:
		return j.runIs(s)
	}
	return j.stepBeside(of)
}

// stepBeside takes a step that is not about the row of a run.
func (j *Store) stepBeside(of store.Step) error {
	switch s := of.(type) {
	case store.AddQuestion:
		return j.exec(insertApproval, s.Approval, s.Run, s.Seq, s.Rule, s.Digest, s.Since, s.Expires, s.Shown, s.Schema)
	case store.CloseQuestion:
		return j.closeQuestion(s)
	case store.AnswerQuestion:
		return j.must(s, updateAnswered, s.Answer, orNoBytes(s.Args), s.Signature, s.Channel, s.Approval, s.Digest, s.Now)
	case store.HearAnswer:
		return j.must(s, updateHeard, s.Approval, s.Run)
	case store.SpendApproval:
		return j.spendApproval(s)
	case store.CountRefused:
		return j.must(s, updateRefused, s.Approval, s.Most)
	case store.KeysAre:
		return j.keysAre(s)
	case store.AddKey:
		k := s.Key
		return j.exec(insertKey, k.ID, k.Name, []byte(k.Public), k.Enrolled.Unix(), k.Vouched.Key, k.Vouched.Nonce, k.Vouched.Signature)
	case store.DropKey:
		return j.exec(updateKey, s.By.At.Unix(), s.By.Key, s.By.Nonce, s.By.Signature, s.ID)
	case store.UseAct:
		return j.must(s, insertAct, s.Nonce, s.At)
	case store.AddSignIn:
		if err := j.exec(deleteSignIns, s.Now); err != nil {
			return err
		}
		return j.exec(insertSignIn, s.Token, s.Until)
	case store.UseSignIn:
		return j.must(s, deleteSignIn, s.Token, s.Now)
	case store.SetSwitch:
		o := s.Switch
		return j.exec(insertSwitch, o.Tool, o.Pattern, o.Reason, o.By, o.Channel, o.Assurance, o.At.UnixMicro())
	case store.ClearSwitch:
		return j.must(s, deleteSwitch, s.Tool, s.Pattern)
	case store.AddReload:
		return j.addReload(s)
	case store.AddReloadAnswer:
		return j.exec(insertReloadAnswer, s.N, s.Owner, s.At, s.Body)
	}
	return j.stepOfCall(of)
}

// stepOfCall takes a step that is about calls or stored plans.
func (j *Store) stepOfCall(of store.Step) error {
	switch s := of.(type) {
	case store.TakeKey:
		return j.takeKey(s)
	case store.AdoptKey:
		return j.must(s, updateAdopted, s.Run, s.Act, s.Tool, s.Once, s.FromRun, s.FromAct)
	case store.KeyDone:
		return j.keyDone(s)
	case store.KeepOutcome:
		return j.exec(updateActed, s.Body, s.Tool, s.Once, s.Run, s.Act)
	case store.FreeKey:
		return j.exec(deleteActed, s.Tool, s.Once, s.Run, s.Act, s.Settled, s.Effect)
	case store.SetSettled:
		return j.exec(upsertSettled, s.Run, s.Once, string(s.State), s.Attempt)
	case store.WindowHolds:
		holds, err := s.Judge(j.writer)
		if err == nil && !holds {
			return store.Refuse(s)
		}
		return err
	case store.PlanIs:
		return j.planIs(s)
	case store.AddPlan:
		p := s.Plan
		return j.must(s, insertPlan, p.N, p.Principal, p.Pattern, p.Version, p.Revision, p.Created, p.Changed, orNull(p.Run), p.Sum, p.Body)
	case store.HoldPlan:
		return j.exec(updateHolder, orNull(s.Run), orNull(s.Under), s.N)
	case store.SetPlan:
		p := s.Plan
		return j.exec(updatePlan, p.Version, p.Revision, p.Changed, orNull(p.Run), orNull(p.Under), p.Sum, p.Body, p.N)
	}
	return fmt.Errorf("%w: a step of type %T is not known", patterns.ErrJournal, of)
}

// exec executes one statement.
func (j *Store) exec(query string, args ...any) error {
	_, err := j.writer.Exec(query, args...)
	return err
}

// must executes one statement. It refuses the step if the statement changes nothing.
func (j *Store) must(s store.Step, query string, args ...any) error {
	changed, err := j.writer.Exec(query, args...)
	if err == nil && changed == 0 {
		return store.Refuse(s)
	}
	return err
}

// orNull returns nil for 0, so that the file stores NULL.
func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// orNoText returns nil for "", so that the file stores NULL.
func orNoText(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// orNoBytes returns an untyped nil for nil bytes, so that the file stores NULL.
func orNoBytes(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// stopped reports whether a kill switch forbids one of the effects that a change begins.
func (j *Store) stopped(begins []store.Begins) (bool, error) {
	if len(begins) == 0 {
		return false, nil
	}
	list, err := j.writer.Switches()
	if err != nil || len(list) == 0 {
		return false, err
	}
	for _, b := range begins {
		if b.StoppedBy(list) {
			return true, nil
		}
	}
	return false, nil
}

// isRefusal reports whether an error concerns only one change.
func isRefusal(err error) bool {
	return store.IsRefused(err) || errors.Is(err, store.ErrFenced)
}
