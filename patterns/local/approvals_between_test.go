package local_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// outsider is a program of the same user that reads and writes the state file by itself.
type outsider struct {
	t  *testing.T
	db *sql.DB
}

func newOutsider(t *testing.T, path string) outsider {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)") // other engines write at the same time
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return outsider{t, db}
}

// approvedBefore is the question of a run that was approved, with a key where that is said, when the process that put it went.
func approvedBefore(t *testing.T, path string, job patterns.Job, by signer, signed bool) patterns.Asked {
	t.Helper()
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	d := say(q, gateway.ChooseApprove, nil)
	if signed {
		if err := e.Approvals().Enroll(by.enrolled(by)); err != nil {
			t.Fatal(err)
		}
		d = by.decides(d)
	}
	if _, err := e.Approvals().Decide(d); err != nil {
		t.Fatal(err)
	}
	e.Close()
	return q
}

// writes changes the file. It may be called from any goroutine.
func (o outsider) writes(statement string, args ...any) {
	if _, err := o.db.Exec(statement, args...); err != nil {
		o.t.Errorf("%s: %v", statement, err)
	}
}

// counts is the number that a query finds.
func (o outsider) counts(query string, args ...any) (n int) {
	if err := o.db.QueryRow(query, args...).Scan(&n); err != nil {
		o.t.Errorf("%s: %v", query, err)
	}
	return n
}

// hooked is an engine that tells of every boundary.
func hooked(t *testing.T, path string, source patterns.Source, hook func(string)) *local.Engine {
	t.Helper()
	e, err := local.Open(local.Options{Path: path, Source: source, Config: "sha256:test", Snapshot: []byte("{}"), Hook: hook})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// What is committed at a boundary is what a crash leaves there. At every one, an approval and the record of its run say the
// same: it is asked, decided, heard and spent in the transaction that writes that, and no other.
func TestApprovalsMoveWithTheirRecord(t *testing.T) {
	t.Parallel()
	for name, choice := range map[string]gateway.Choice{"approve": gateway.ChooseApprove, "edit": gateway.ChooseEdit, "reject": gateway.ChooseReject} {
		t.Run(name, func(t *testing.T) {
			path, job := newState(t), inbox(t, "")
			opened(t, path, nil).Close() // makes the file
			file := newOutsider(t, path)
			var mu sync.Mutex
			passed := map[string]int{}
			look := func(string) {
				mu.Lock()
				defer mu.Unlock()
				passed[file.agrees()]++
			}
			e := hooked(t, path, jobs{job.Spec.Name: job}, look)
			q := waits(t, e, job)
			desk := hooked(t, path, nil, look)
			var args map[string]any
			if choice == gateway.ChooseEdit {
				args = object{"user_id": 42.0, "amount_usd": 800.0, "reason": "late"}
			}
			if _, err := desk.Approvals().Decide(say(q, choice, args)); err != nil {
				t.Fatal(err)
			}
			desk.Close()
			e.Go()
			over(t, e, q.Question.Run)
			e.Close()
			mu.Lock()
			defer mu.Unlock()
			want := []string{"", "open", "answered", "taken"}
			if choice != gateway.ChooseReject {
				want = append(want, "spent")
			}
			for _, stage := range want {
				if passed[stage] == 0 {
					t.Errorf("no boundary while it stands %q: %v", stage, passed)
				}
				delete(passed, stage)
			}
			if len(passed) > 0 {
				t.Errorf("boundaries at which the file disagrees with itself: %v", passed)
			}
		})
	}
}

// agrees is how far the one approval of a file is, where its record says the same; else what differs.
func (o outsider) agrees() string {
	tx, err := o.db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err.Error()
	}
	defer tx.Rollback()
	count := func(query string) (n int) {
		if err := tx.QueryRow(query).Scan(&n); err != nil {
			o.t.Errorf("%s: %v", query, err)
		}
		return n
	}
	asked, answered := count("SELECT count(*) FROM events WHERE kind = 'intent' AND key = 'approve#1'"), count("SELECT count(*) FROM events WHERE kind = 'outcome' AND key = 'approve#1'")
	paid := count(`SELECT count(*) FROM events WHERE kind = 'intent' AND key = 'issue_refund#1' AND instr(body, '"grant":"ap_') > 0`)
	var state, run string
	var spent bool
	err = tx.QueryRow("SELECT a.state, a.consumed IS NOT NULL, r.state FROM approvals a JOIN runs r ON r.n = a.n").Scan(&state, &spent, &run)
	if err != nil {
		state = ""
	}
	got := fmt.Sprintf("%s: run %s, %d asked, %d answered, %d paid, spent %t", state, run, asked, answered, paid, spent)
	stages := map[string]bool{
		"": asked+answered+paid == 0, "open": asked == 1 && answered+paid == 0 && !spent,
		"answered": asked == 1 && answered+paid == 0 && !spent && run != "parked", "taken": asked == 1 && answered == 1 && spent == (paid == 1),
	}
	switch {
	case !stages[state]:
		return got
	case state == "taken" && spent:
		return "spent"
	}
	return state
}

// What becomes of an approval after it was heard, and before its call is recorded, counts: it is judged again there, in that
// transaction.
func TestApprovalsThatChangeBeforeTheirCall(t *testing.T) {
	t.Parallel()
	anna, mallory := newSigner("a"), newSigner("m")
	replaced := func(file outsider, q patterns.Asked, d patterns.Decided) {
		file.writes("UPDATE approvals SET answer = ?, signature = ? WHERE ap = ?", d.Object(), d.Signature, local.ApprovalNumber(q.ID))
	}
	tests := map[string]struct {
		signed bool
		change func(desk *local.Engine, file outsider, q patterns.Asked) error
		reason string
	}{
		"the key is removed": {true, func(desk *local.Engine, _ outsider, _ patterns.Asked) error {
			return desk.Approvals().RemoveKey(anna.KeyID(), anna.does(gateway.ActRemove, gateway.RemoveSubject(anna.KeyID())))
		}, gateway.ApprovalInvalid},
		"a key is enrolled": {false, func(desk *local.Engine, _ outsider, _ patterns.Asked) error {
			return desk.Approvals().Enroll(anna.enrolled(anna))
		}, gateway.ApprovalInvalid},
		"another answer": {false, func(_ *local.Engine, file outsider, q patterns.Asked) error {
			replaced(file, q, say(q, gateway.ChooseEdit, object{"user_id": 7.0, "amount_usd": 1900.0, "reason": "late"}))
			return nil
		}, gateway.ApprovalInvalid},
		"a rejection": {false, func(_ *local.Engine, file outsider, q patterns.Asked) error {
			replaced(file, q, say(q, gateway.ChooseReject, nil))
			return nil
		}, gateway.ApprovalInvalid},
		"another signature": {true, func(_ *local.Engine, file outsider, q patterns.Asked) error {
			replaced(file, q, mallory.decides(say(q, gateway.ChooseApprove, nil)))
			return nil
		}, gateway.ApprovalInvalid},
		"no row": {false, func(_ *local.Engine, file outsider, q patterns.Asked) error {
			file.writes("DELETE FROM approvals WHERE ap = ?", local.ApprovalNumber(q.ID))
			return nil
		}, gateway.ApprovalInvalid},
		"another run's row": {false, func(_ *local.Engine, file outsider, q patterns.Asked) error {
			file.writes("UPDATE approvals SET n = n + 1 WHERE ap = ?", local.ApprovalNumber(q.ID))
			return nil
		}, gateway.ApprovalInvalid},
		"spent meanwhile": {false, func(_ *local.Engine, file outsider, q patterns.Asked) error {
			file.writes("UPDATE approvals SET consumed = 'pg_other' WHERE ap = ?", local.ApprovalNumber(q.ID))
			return nil
		}, gateway.ApprovalConsumed},
	}
	for name, tt := range tests {
		for _, moment := range []string{"heard", "recorded"} {
			t.Run(name+"/"+moment, func(t *testing.T) {
				t.Parallel()
				path, job := newState(t), inbox(t, "")
				q := approvedBefore(t, path, job, anna, tt.signed)
				desk, file := opened(t, path, nil), newOutsider(t, path)
				var once sync.Once
				change := func() {
					once.Do(func() {
						if err := tt.change(desk, file, q); err != nil {
							t.Errorf("the change: %v", err)
						}
					})
				}
				next := hooked(t, path, jobs{job.Spec.Name: job}, func(string) {
					if moment == "heard" && file.counts("SELECT count(*) FROM approvals WHERE state = 'taken'") == 1 {
						change()
					}
				})
				next.CarryOn(t, q.Question.Run, func(p patterns.Progress) { // told of the refund when it was let through
					if moment == "recorded" && strings.Contains(p.Line, "issue_refund") {
						change()
					}
				})
				next.Go()
				r := over(t, next, q.Question.Run).Result
				once.Do(func() { t.Error("the moment did not come") })
				if r.StopReason != tt.reason || r.Phase != patterns.PhaseHuman || refunded(r) != 0 {
					t.Errorf("ended %s in phase %s, paid %v; want %s", r.StopReason, r.Phase, refunded(r), tt.reason)
				}
				events, err := next.Events("local:1", q.Question.Run)
				if err != nil || slices.ContainsFunc(events, func(e patterns.Event) bool {
					return e.Kind == patterns.IntentEvent && bytes.Contains(e.Body, []byte(`"grant"`))
				}) {
					t.Errorf("the record (%v) says that it was spent:\n%s", err, record(events))
				}
			})
		}
	}
}
