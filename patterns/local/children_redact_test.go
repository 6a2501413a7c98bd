package local_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// What one of several runs hides that lie in each other, all do, in both directions; and when the outermost has ended nothing of it is
// left.
func TestChildRunsHideWhatTheirParentsHide(t *testing.T) {
	t.Parallel()
	const card, iban = "4111222233334444", "DE02120300000000202051"
	h := desk(t, func(own *catalog.Tool) {
		own.Do = func(context.Context, catalog.Call) (any, error) { return object{"id": card}, nil }
	})
	h.text = "paid from " + card
	h.says["hall"] = to("desk", fmt.Sprintf(`{"goal":"pay to %s"}`, iban))
	path := newState(t)
	e, err := local.Open(local.Options{
		Path: path, Source: h, Config: "sha256:test", Snapshot: []byte("{}"), Redact: []string{"/result/id", "/input/iban"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	e.Go()
	job := h.job("hall")
	job.Arguments["iban"] = iban
	ended, err := e.Start(t.Context(), job)
	if err != nil || !ended.Result.OK() {
		t.Fatalf("%s, %v", asJSON(t, ended.Result), err)
	}
	if !strings.Contains(ended.Result.Answer, card) {
		t.Errorf("the caller is told %q", ended.Result.Answer)
	}
	for _, id := range e.RunIDs(mine) {
		events, err := e.Events(mine, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range events {
			for _, secret := range []string{card, iban} {
				if strings.Contains(string(event.Body), secret) {
					t.Errorf("event %d (%s) of %s holds it: %s", event.Seq, event.Kind, id, event.Body)
				}
			}
		}
		if s, _ := e.Run(mine, id); s.State != patterns.Over {
			t.Errorf("%s is %s", s.Pattern, s.State)
		}
	}
	e.Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	left := -1
	if err := db.QueryRow("SELECT count(*) FROM redacted").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d values are left, %v", left, err)
	}
}

// With a run that is cancelled while it rests with its child runs they are cancelled too, also where they hide something: until they
// have ended, what they hide is there to carry them on; then it is not.
func TestHidingChildRunsAreCancelled(t *testing.T) {
	t.Parallel()
	const iban = "DE02120300000000202051"
	h := desk(t, nil)
	h.asks()
	h.says["hall"] = to("desk", fmt.Sprintf(`{"goal":"pay to %s"}`, iban))
	e, err := local.Open(local.Options{Path: newState(t), Source: h, Config: "sha256:test", Snapshot: []byte("{}"), Redact: []string{"/input/iban"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	e.Go()
	job := h.job("hall")
	job.Arguments["iban"] = iban
	ended, err := e.Start(t.Context(), job)
	if err != nil || ended.Waiting == nil {
		t.Fatalf("%+v, %v; want it to wait", ended.Result, err)
	}
	p := port{e, &begun{}}
	if n := e.Count(t, "SELECT count(DISTINCT n) FROM redacted"); n < 2 {
		t.Fatalf("%d runs hide something, want the hall and the desk at least", n)
	}
	if _, err := e.Cancel(t.Context(), mine, ended.RunID, patterns.Note{By: mine, Channel: "mcp"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range e.RunIDs(mine) {
		if s := p.until(t, id, patterns.Over); s.Ended.Result.StopReason != "cancelled" {
			t.Errorf("%s ended with %s, want cancelled", s.Pattern, s.Ended.Result.StopReason)
		}
	}
	if n := e.Count(t, "SELECT count(*) FROM redacted"); n != 0 {
		t.Errorf("%d values are left", n)
	}
}
