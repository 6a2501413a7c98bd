package local_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/reference"
)

func TestKeysVouchForKeys(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	approvals := e.Approvals()
	anna, ben, mallory := newSigner("a"), newSigner("b"), newSigner("m")
	enroll := func(k gateway.PublicKey, want error) {
		t.Helper()
		if err := approvals.Enroll(k); !errors.Is(err, want) {
			t.Errorf("Enroll(%s) = %v, want %v", k.ID, err, want)
		}
	}
	remove := func(id string, by gateway.SignedAct, want error) {
		t.Helper()
		if err := approvals.RemoveKey(id, by); !errors.Is(err, want) {
			t.Errorf("RemoveKey(%s) by %s = %v, want %v", id, by.Key, err, want)
		}
	}
	first := anna.enrolled(anna)
	enroll(first, nil)
	enroll(first, patterns.ErrForged) // once
	enroll(mallory.enrolled(mallory), patterns.ErrForged)
	second := ben.enrolled(anna)
	tampered := second
	tampered.Name = "the boss"
	enroll(tampered, patterns.ErrForged)
	enroll(second, nil)
	keys, err := approvals.Keys()
	if ids := keys.Keys(); err != nil || len(ids) != 2 || ids[0].ID != anna.KeyID() || ids[1].Vouched.Key != anna.KeyID() {
		t.Errorf("Keys() = %+v, %v", ids, err)
	}
	subject := func(id string) map[string]any { return object{"id": id} }
	remove("0000000000000000", ben.does(gateway.ActRemove, subject("0000000000000000")), patterns.ErrNoKey)
	remove(anna.KeyID(), gateway.SignedAct{}, patterns.ErrUnsigned)
	remove(anna.KeyID(), mallory.does(gateway.ActRemove, subject(anna.KeyID())), patterns.ErrForged)
	remove(anna.KeyID(), ben.does(gateway.ActRemove, subject(ben.KeyID())), patterns.ErrForged)
	remove(anna.KeyID(), ben.does(gateway.ActSeize, subject(anna.KeyID())), patterns.ErrForged)
	gone := ben.does(gateway.ActRemove, subject(anna.KeyID()))
	remove(anna.KeyID(), gone, nil)
	remove(anna.KeyID(), gone, patterns.ErrNoKey)
	remove(ben.KeyID(), anna.does(gateway.ActRemove, subject(ben.KeyID())), patterns.ErrKeyRemoved)

	// An old key decides nothing any more.
	q := waits(t, e, job)
	if _, err := approvals.Decide(anna.decides(say(q, gateway.ChooseApprove, nil))); !errors.Is(err, patterns.ErrKeyRemoved) {
		t.Errorf("Decide by a removed key = %v, want that it was removed", err)
	}
	got, err := approvals.Decide(ben.decides(say(q, gateway.ChooseApprove, nil)))
	if err != nil || got.Given.Assurance != gateway.SignedAssurance {
		t.Errorf("Decide by the other key = %+v, %v", got.Given, err)
	}
	e.Go()
	if r := over(t, e, q.Question.Run).Result; !r.OK() {
		t.Errorf("the run ended %s", r.StopReason)
	}
}

// With a key enrolled, taking a run from its owner needs its signature, once.
func TestSignedActs(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	anna := newSigner("a")
	if err := e.Approvals().Enroll(anna.enrolled(anna)); err != nil {
		t.Fatal(err)
	}
	g := newGate(t, catalog.Read)
	stuck := g.job(t, 2)
	started := make(chan patterns.Ended, 1)
	go func() {
		ended, _ := e.Start(context.Background(), stuck)
		started <- ended
	}()
	<-g.entered
	defer func() { close(g.open); <-started }()
	ids := e.RunIDs("local:1")
	if len(ids) != 1 {
		t.Fatalf("runs %v", ids)
	}
	desk := opened(t, path, nil).Operator()
	by, subject := patterns.Note{By: "local:1000", Channel: "cli"}, local.SeizeSubject(ids[0])
	for name, tt := range map[string]struct {
		act  gateway.SignedAct
		want error
	}{
		"unsigned":    {gateway.SignedAct{}, patterns.ErrUnsigned},
		"another run": {anna.does(gateway.ActSeize, local.SeizeSubject("run_0000000000000000")), patterns.ErrForged},
		"another act": {anna.does(gateway.ActSettle, subject), patterns.ErrForged},
		"another key": {newSigner("m").does(gateway.ActSeize, subject), patterns.ErrForged},
	} {
		t.Run(name, func(t *testing.T) {
			if err := desk.Seize(ids[0], by, tt.act); !errors.Is(err, tt.want) {
				t.Errorf("Seize = %v, want %v", err, tt.want)
			}
		})
	}
	signed := anna.does(gateway.ActSeize, subject)
	if err := desk.Seize(ids[0], by, signed); err != nil {
		t.Fatal(err)
	}
	if err := desk.Seize(ids[0], by, signed); !errors.Is(err, patterns.ErrUsed) {
		t.Errorf("the same act again = %v, want it used", err)
	}
	events, _, err := desk.Record(ids[0])
	if text := record(events); err != nil || !strings.Contains(text, signed.Signature) || !strings.Contains(text, signed.Nonce) {
		t.Errorf("the record (%v) does not say who signed: %s", err, text)
	}
}

func TestSignInsCountOnce(t *testing.T) {
	e := opened(t, newState(t), nil)
	approvals := e.Approvals()
	token, late := sha256.Sum256([]byte("token")), sha256.Sum256([]byte("late"))
	if err := approvals.OfferSignIn(token, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := approvals.OfferSignIn(late, time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		token [32]byte
		want  bool
	}{{late, false}, {sha256.Sum256([]byte("guess")), false}, {token, true}, {token, false}} {
		if got, err := approvals.SignIn(tt.token); got != tt.want || err != nil {
			t.Errorf("%d: SignIn = %t, %v; want %t", i, got, err, tt.want)
		}
	}
	other := opened(t, noState(t), nil)
	one, err := approvals.StateID()
	two, otherErr := other.Approvals().StateID()
	if err != nil || otherErr != nil || one == two || !strings.HasPrefix(one, "sha256:") {
		t.Errorf("two files are %s and %s (%v, %v)", one, two, err, otherErr)
	}
}

func TestApprovalsAreListed(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	approvals := e.Approvals()
	var ids []string
	for range 5 {
		ids = append([]string{waits(t, e, job).ID}, ids...)
	}
	if _, err := approvals.Decide(say(must(approvals.Approval(ids[4])), gateway.ChooseReject, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Cancel(t.Context(), "local:1", must(approvals.Approval(ids[3])).Question.Run, patterns.Note{By: "local:1"}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		filter patterns.ApprovalFilter
		want   []string
	}{
		"waiting":      {patterns.ApprovalFilter{Limit: 2}, ids[:3]},
		"all":          {patterns.ApprovalFilter{Limit: 2, All: true}, ids},
		"its rule":     {patterns.ApprovalFilter{Rule: must(approvals.Approval(ids[0])).Rule, Limit: 2}, ids[:3]},
		"another rule": {patterns.ApprovalFilter{Rule: "no_such_rule"}, nil},
		"of one run":   {patterns.ApprovalFilter{Run: must(approvals.Approval(ids[1])).Question.Run}, ids[1:2]},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for f := tt.filter; ; {
				page, err := approvals.ListApprovals(f)
				if err != nil || len(page.Rows) > 2 && f.Limit == 2 {
					t.Fatalf("%d rows, %v", len(page.Rows), err)
				}
				for _, q := range page.Rows {
					got = append(got, q.ID)
				}
				if f.Cursor = page.Next; f.Cursor == "" {
					break
				}
				if _, err := approvals.ListApprovals(patterns.ApprovalFilter{Run: "run_0000000000000000", Cursor: page.Next}); !errors.Is(err, patterns.ErrCursor) {
					t.Errorf("the cursor of another list gives %v", err)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("ListApprovals(%+v) = %v, want %v", tt.filter, got, tt.want)
			}
		})
	}
	if n, err := approvals.WaitingApprovals(); n != 3 || err != nil {
		t.Errorf("WaitingApprovals() = %d, %v; want 3", n, err)
	}
	states := []patterns.AskedState{must(approvals.Approval(ids[4])).State, must(approvals.Approval(ids[3])).State}
	if !slices.Equal(states, []patterns.AskedState{patterns.AskedDecided, patterns.AskedOver}) {
		t.Errorf("the decided and the cancelled one are %v", states)
	}
	for _, id := range []string{"", "ap_", "ap_0000000000000000", "run_0000000000000000", strings.ToUpper(ids[0])} {
		if _, err := approvals.Approval(id); !errors.Is(err, patterns.ErrNoApproval) {
			t.Errorf("Approval(%q) = %v", id, err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A key that is enrolled between the decision and the call makes the unsigned decision worthless.
func TestKeyEnrolledAfterTheDecision(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
		t.Fatal(err)
	}
	anna := newSigner("a")
	if err := e.Approvals().Enroll(anna.enrolled(anna)); err != nil {
		t.Fatal(err)
	}
	e.Go()
	if r := over(t, e, q.Question.Run).Result; r.StopReason != gateway.ApprovalInvalid || refunded(r) != 0 {
		t.Errorf("ended %s, paid %v", r.StopReason, refunded(r))
	}
}

// What the configuration keeps out of the record is not in the file on account of a question, and a person sees it all the same.
func TestQuestionsHideWhatTheirRunHides(t *testing.T) {
	path, job := newState(t), inbox(t, "", lookUp, object{"kind": "tool", "name": "issue_refund", "args": object{
		"user_id": 42.0, "amount_usd": 1200.0, "reason": "the-secret-of-anna"}}, final)
	job.Redact = []string{"/args/reason"}
	e := redacting(t, path, jobs{job.Spec.Name: job}, job.Redact)
	e.Go()
	q := waits(t, e, job)
	if q.Question.Args["reason"] != "the-secret-of-anna" {
		t.Errorf("a person sees %v", q.Question.Args)
	}
	args := object{"user_id": 42.0, "amount_usd": 800.0, "reason": "the-secret-of-anna"}
	d := say(q, gateway.ChooseEdit, args)
	d.Comment = "she said the-secret-of-anna"
	if _, err := e.Approvals().Decide(d); err != nil {
		t.Fatal(err)
	}
	if r := over(t, e, q.Question.Run).Result; !r.OK() || refunded(r) != 800 {
		t.Errorf("ended %s, paid %v", r.StopReason, refunded(r))
	}
	e.Close()
	noneIn(t, path, []string{"the-secret-of-anna"})
}

// The words of a question go to lists and notifications: what the configuration hides is in none of them.
func TestWordsOfHiddenValues(t *testing.T) {
	for place, hidden := range map[string]string{"/args/amount_usd": "1200", "/args/reason": "late"} {
		path, job := newState(t), inbox(t, "")
		job.Redact = []string{place}
		e := redacting(t, path, jobs{job.Spec.Name: job}, job.Redact)
		e.Catalog = job.Spec.Catalog
		told := make(chan patterns.Asked, 1)
		e.Asks = func(q patterns.Asked) { told <- q }
		e.Go()
		q := waits(t, e, job)
		for where, phrase := range map[string]string{"the list": q.Phrase, "the notification": (<-told).Phrase} {
			if phrase == "" || strings.Contains(phrase, hidden) || strings.Contains(phrase, "$redacted") {
				t.Errorf("%s hidden: in %s it is said to be %q", place, where, phrase)
			}
		}
	}
}

// Tasks that run side by side ask side by side; each goes on with its own answer.
func TestTasksAskSideBySide(t *testing.T) {
	path, job := newState(t), askingTasks(t)
	e := opened(t, path, jobs{job.Spec.Name: job})
	e.Go()
	ended := begin(t, e, job)
	page, err := e.Approvals().ListApprovals(patterns.ApprovalFilter{Run: ended.RunID})
	if err != nil || len(page.Rows) != 2 {
		t.Fatalf("%d questions, %v; want two", len(page.Rows), err)
	}
	for _, q := range page.Rows {
		choice := gateway.ChooseApprove
		if q.Question.Args["n"] == 2.0 {
			choice = gateway.ChooseReject
		}
		if _, err := e.Approvals().Decide(say(q, choice, nil)); err != nil {
			t.Fatal(err)
		}
	}
	r := over(t, e, ended.RunID).Result
	var got []string
	for _, row := range r.History {
		task := row.(patterns.TaskRow)
		got = append(got, task.TaskID+" "+task.Status+" "+task.StopReason)
	}
	if want := []string{"one done ", "two failed human_rejected", "three done "}; !slices.Equal(got, want) {
		t.Errorf("the tasks ended %q, want %q", got, want)
	}
}

// askingTasks are three, of which the policy puts two to a person.
func askingTasks(t testing.TB) patterns.Job {
	t.Helper()
	schema := must(catalog.CompileSchema([]byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)))
	tools := must(catalog.New(catalog.Tool{Name: "pay", Effect: catalog.Write, Input: schema, Do: func(context.Context, catalog.Call) (any, error) {
		return object{"ok": true}, nil
	}}))
	spec := patterns.Spec{
		Name: "pay_all", Kind: gateway.Orchestrator, Catalog: tools, Policy: []string{"pay"}, Execution: []string{"pay"},
		Budget: gateway.DefaultBudget(gateway.Orchestrator), Aggregate: reference.Operations,
		Approver: patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour},
		Reviewer: gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
			if c.Args["n"] == 3.0 {
				return gateway.Verdict{Decision: gateway.Approve, Reason: "small"}
			}
			return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
		}),
	}
	var list []any
	for i, id := range []string{"one", "two", "three"} {
		list = append(list, object{"id": id, "worker": "pay", "args": object{"n": float64(i + 1)}, "critical": false})
	}
	return patterns.Job{Spec: spec, Model: &script{}, Caller: patterns.Caller{Principal: "local:1"}, Task: patterns.Task{
		Goal: "pay", Caller: patterns.Proposals("plan", object{"kind": "plan", "tasks": list})}}
}

func TestSomebodyCarriesOn(t *testing.T) {
	path := newState(t)
	desk := opened(t, path, nil)
	other := opened(t, path, nil)
	if desk.Operator().Alive() {
		t.Error("nobody carries on, and somebody is said to")
	}
	other.Go()
	if !desk.Operator().Alive() || !other.Operator().Alive() {
		t.Error("somebody carries on, and nobody is said to")
	}
	other.Close()
	if desk.Operator().Alive() {
		t.Error("who carried on has left, and is said to be there")
	}
}

// A run that somebody has cancelled takes no answer any more, even before it has ended.
func TestCancelledRunTakesNoAnswer(t *testing.T) {
	path, job := newState(t), inbox(t, "")
	e := opened(t, path, jobs{job.Spec.Name: job})
	q := waits(t, e, job)
	e.Alter(t, "UPDATE runs SET canceled = 1 WHERE n = ?", local.Number(q.Question.Run))
	if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); !notOpen(patterns.WhyOver)(err) {
		t.Errorf("Decide = %v, want over", err)
	}
	if n, err := e.Approvals().WaitingApprovals(); n != 0 || err != nil {
		t.Errorf("WaitingApprovals() = %d, %v", n, err)
	}
}
