package local_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/store/processtest"
)

// heard is what a serving engine was asked, and how it answers.
type heard struct {
	mu     sync.Mutex
	asked  []local.ReloadRequest
	answer func(local.ReloadRequest) local.ReloadAnswer
}

func (h *heard) reload(r local.ReloadRequest) local.ReloadAnswer {
	h.mu.Lock()
	h.asked = append(h.asked, r)
	h.mu.Unlock()
	if h.answer != nil {
		return h.answer(r)
	}
	return local.ReloadAnswer{OK: true, To: r.To}
}

func (h *heard) requests() []local.ReloadRequest {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.asked)
}

// serving is an engine over a state file that carries on what is ready, and is asked to reload.
func serving(t *testing.T, path string, h *heard) *local.Engine {
	t.Helper()
	e := opened(t, path, nil)
	e.Reload = h.reload
	e.Go()
	return e
}

// asks has a reload asked for, for at most so long as a test waits for anything.
func asks(t *testing.T, e *local.Engine, r local.ReloadRequest) ([]local.ReloadAnswer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return e.Operator().Reload(ctx, r)
}

// hears waits until so many requests came to an engine, the last of which is the one.
func (h *heard) hears(t *testing.T, last string) []local.ReloadRequest {
	t.Helper()
	var list []local.ReloadRequest
	eventually(t, "the request "+last, func() bool {
		list = h.requests()
		return len(list) > 0 && list[len(list)-1].To == last
	})
	return list
}

// eventually polls until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s did not come", what)
		case <-tick.C:
		}
	}
}

var asksFor = local.ReloadRequest{Path: "/etc/pg.yaml", To: "sha256:new", By: patterns.Note{By: "local:1", Channel: "cli"}, At: time.UnixMicro(1_700_000_000_000_000)}

// A program that serves from the file answers. It ignores what was asked before it began, or with no program to answer.
func TestReloadIsAskedOfAllThatServe(t *testing.T) {
	path := newState(t)
	desk := opened(t, path, nil)
	if _, err := asks(t, desk, asksFor); !errors.Is(err, local.ErrNobodyServes) {
		t.Fatalf("with nobody there: %v", err)
	}
	a := &heard{answer: func(r local.ReloadRequest) local.ReloadAnswer {
		return local.ReloadAnswer{OK: true, From: "sha256:old", To: r.To, Loosens: []string{"more"}, Waiting: []string{"log"}}
	}}
	b := &heard{answer: func(local.ReloadRequest) local.ReloadAnswer { return local.ReloadAnswer{Other: true} }}
	serving(t, path, a)
	serving(t, path, b)
	answers, err := asks(t, desk, asksFor)
	if err != nil || len(answers) != 2 || answers[0].Owner == answers[1].Owner {
		t.Fatalf("%v, answers %+v; want one of each program", err, answers)
	}
	slices.SortFunc(answers, func(x, _ local.ReloadAnswer) int { return len(x.From) - 1 })
	want := []local.ReloadAnswer{{Owner: answers[0].Owner, Other: true},
		{Owner: answers[1].Owner, OK: true, From: "sha256:old", To: "sha256:new", Loosens: []string{"more"}, Waiting: []string{"log"}}}
	if answers[0].OK {
		slices.Reverse(answers)
		want[0].Owner, want[1].Owner = answers[0].Owner, answers[1].Owner
	}
	if asJSON(t, answers) != asJSON(t, want) {
		t.Errorf("answers %s, want %s", asJSON(t, answers), asJSON(t, want))
	}
	if got := a.requests(); len(got) != 1 || asJSON(t, got[0]) != asJSON(t, asksFor) || got[0].Signed() {
		t.Errorf("asked %+v, want %+v", got, asksFor)
	}
	late := &heard{}
	serving(t, path, late)
	next := asksFor
	next.To = "sha256:newer"
	if answers, err := asks(t, desk, next); err != nil || len(answers) != 3 {
		t.Fatalf("%v, answers %+v; want three", err, answers)
	}
	if got := late.requests(); len(got) != 1 || got[0].To != next.To {
		t.Errorf("a later program was asked %+v, want the newer one alone", got)
	}
}

// A program that dies is not waited for, and the answer of one that is gone is not another's.
func TestReloadDoesNotWaitForTheDead(t *testing.T) {
	path := newState(t)
	desk := opened(t, path, nil)
	answered, hold := &heard{}, make(chan struct{})
	slow := &heard{answer: func(local.ReloadRequest) local.ReloadAnswer {
		<-hold
		return local.ReloadAnswer{OK: true, Text: "late"}
	}}
	gone := serving(t, path, answered)
	serving(t, path, slow)
	c := processtest.Spawn(t, "mute", path) // serves, and never answers
	type result struct {
		answers []local.ReloadAnswer
		err     error
	}
	done := make(chan result, 1)
	go func() {
		answers, err := desk.Operator().Reload(t.Context(), asksFor)
		done <- result{answers, err}
	}()
	answered.hears(t, asksFor.To)
	slow.hears(t, asksFor.To)
	gone.Close()
	c.Kill(t)
	close(hold)
	r := <-done
	if r.err != nil || len(r.answers) != 2 || !slices.ContainsFunc(r.answers, func(a local.ReloadAnswer) bool { return a.Text == "late" }) {
		t.Errorf("%v, answers %+v; want those of the quick one and of the slow one", r.err, r.answers)
	}
}

// A child serves from the file and never answers a reload.
var _ = processtest.Role("mute", func(path string, ready func()) error {
	e, err := local.Open(local.Options{Path: path, Config: "sha256:test", Snapshot: []byte("{}")})
	if err != nil {
		return err
	}
	e.Go()
	ready()
	select {}
})

// Where nobody answers in time, that is the error, with the answers that there are.
func TestReloadInTime(t *testing.T) {
	path := newState(t)
	desk := opened(t, path, nil)
	serving(t, path, &heard{})
	c := processtest.Spawn(t, "mute", path)
	defer c.Kill(t)
	ctx, cancel := context.WithCancel(t.Context())
	var answers []local.ReloadAnswer
	done := make(chan error, 1)
	go func() {
		var err error
		answers, err = desk.Operator().Reload(ctx, asksFor)
		done <- err
	}()
	eventually(t, "an answer", func() bool { return desk.Count(t, "SELECT count(*) FROM reload_answers") == 1 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || len(answers) > 1 {
		t.Errorf("%v, answers %+v; want that it was given up", err, answers)
	}
}

// What is signed comes signed to who judges it. What somebody wrote into the file, or brings a second time, comes unsigned;
// what does not count is not asked.
func TestReloadSigned(t *testing.T) {
	path, anna := newState(t), newSigner("a")
	desk, h := opened(t, path, nil), &heard{}
	serving(t, path, h)
	if err := desk.Approvals().Enroll(anna.enrolled(anna)); err != nil {
		t.Fatal(err)
	}
	subject := local.ReloadSubject(asksFor.Path, asksFor.To)
	signed := anna.does(gateway.ActReload, subject)
	for name, tt := range map[string]struct {
		act  gateway.SignedAct
		want error
	}{
		"another file":  {anna.does(gateway.ActReload, local.ReloadSubject("/tmp/pg.yaml", asksFor.To)), patterns.ErrForged},
		"another hash":  {anna.does(gateway.ActReload, local.ReloadSubject(asksFor.Path, "sha256:other")), patterns.ErrForged},
		"another act":   {anna.does(gateway.ActSwitchOff, subject), patterns.ErrForged},
		"another key":   {newSigner("m").does(gateway.ActReload, subject), patterns.ErrForged},
		"not by itself": {gateway.SignedAct{Act: signed.Act, Signature: anna.Sign([]byte("x"))}, patterns.ErrForged},
	} {
		r := asksFor
		r.Act = tt.act
		if _, err := asks(t, desk, r); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	if got := h.requests(); len(got) > 0 {
		t.Fatalf("asked all the same: %+v", got)
	}
	r := asksFor
	r.Act = signed
	if _, err := asks(t, desk, r); err != nil {
		t.Fatal(err)
	}
	if _, err := asks(t, desk, r); !errors.Is(err, patterns.ErrUsed) {
		t.Errorf("the same act again: %v, want it used", err)
	}
	ring, err := desk.Approvals().Keys()
	if err != nil {
		t.Fatal(err)
	}
	if got := h.requests(); len(got) != 1 || !got[0].Signed() || ring.Check(got[0].Act, time.Now()) != nil || asJSON(t, got[0].Act.Subject) != asJSON(t, subject) {
		t.Fatalf("asked %+v, want it signed by the key", got)
	}
	const row = "INSERT INTO reloads (at, path, hash, asked, by, channel, act, signature) "
	for n, forge := range []string{
		row + "SELECT at, path, hash, 1, by, channel, act, signature FROM reloads WHERE hash = ?",            // brought again
		row + "SELECT at, path, hash, 1, by, channel, NULL, 'x' FROM reloads WHERE hash = ?",                 // without an act
		row + "SELECT at, path, hash, 1, by, channel, CAST('{' AS BLOB), 'y' FROM reloads WHERE hash = ?",    // that is none
		row + "SELECT at, path, hash, 1, by, channel, CAST('null' AS BLOB), 'z' FROM reloads WHERE hash = ?", // nor that
	} {
		desk.Alter(t, forge+" ORDER BY n LIMIT 1", asksFor.To)
		eventually(t, "the forged request", func() bool { return len(h.requests()) == n+2 })
		if got := h.requests()[n+1]; got.Signed() {
			t.Errorf("%s: it comes signed: %+v", forge, got)
		}
	}
	desk.Alter(t, "INSERT INTO reload_answers (n, owner, at, body) SELECT max(n) + 1, 'nobody', 1, '{' FROM reloads") // of the next
	r = asksFor
	answers, err := asks(t, desk, r)
	if err != nil || !slices.ContainsFunc(answers, func(a local.ReloadAnswer) bool { return a.OK && a.Owner != "nobody" }) {
		t.Errorf("%v, answers %+v; want the program's beside a forged one", err, answers)
	}
}

// What one program did by itself is in the file, asks nobody for anything, and hides no request.
func TestReloadByItselfIsOnlyTold(t *testing.T) {
	path := newState(t)
	desk, mine, other := opened(t, path, nil), &heard{}, &heard{}
	e := serving(t, path, mine)
	serving(t, path, other)
	bySignal := local.ReloadRequest{Path: asksFor.Path, By: patterns.Note{By: "local", Channel: "signal"}, At: time.Now()}
	e.Reloaded(bySignal, local.ReloadAnswer{OK: true, From: "sha256:old", To: "sha256:new"})
	if n := desk.Count(t, "SELECT count(*) FROM reloads JOIN reload_answers USING (n) WHERE channel = 'signal' AND body LIKE '%sha256:old%'"); n != 1 {
		t.Errorf("%d rows tell of it, want one", n)
	}
	if answers, err := asks(t, desk, asksFor); err != nil || len(answers) != 2 {
		t.Fatalf("%v, answers %+v", err, answers)
	}
	for _, h := range []*heard{mine, other} {
		if got := h.requests(); len(got) != 1 || got[0].To != asksFor.To {
			t.Errorf("asked %+v, want the one request", got)
		}
	}
}

// However many are asked for at once, none is lost.
func TestManyReloads(t *testing.T) {
	path, h := newState(t), &heard{}
	desk := opened(t, path, nil)
	serving(t, path, h)
	desk.Alter(t, `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 40)
		INSERT INTO reloads (at, path, hash, asked, by, channel, signature) SELECT i, '/p', 'sha256:' || i, 1, 'me', 'cli', '' FROM c`)
	got := h.hears(t, "sha256:40")
	for i, r := range got {
		if want := "sha256:" + strconv.Itoa(i+1); r.To != want || len(got) != 40 {
			t.Fatalf("request %d of %d is %s, want %s of 40", i, len(got), r.To, want)
		}
	}
}
