//go:build unix

package local_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/store/processtest"
)

// tilled is a house whose leaf is received beside the state file, and may be sent again.
func tilled(t testing.TB, path string, asks bool) *house {
	h := desk(t, func(own *catalog.Tool) {
		own.Idempotent = true
		own.Do = func(_ context.Context, c catalog.Call) (any, error) {
			f, err := os.OpenFile(path+".till", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			if _, err := fmt.Fprintf(f, "%s %v\n", c.Key, c.Args["n"]); err != nil {
				return nil, err
			}
			return object{"id": "1"}, nil
		}
	})
	if asks {
		h.asks()
	}
	return h
}

// A process has the hall pay by way of the desk, decides what a person is asked, and kills itself at the boundary that the file
// beside says.
var _ = processtest.Role("house", func(path string, _ func()) error {
	text, err := os.ReadFile(path + ".at")
	if err != nil {
		return err
	}
	asks, place, _ := strings.Cut(string(text), " ")
	at, err := strconv.Atoi(place)
	if err != nil {
		return err
	}
	var passed atomic.Int64
	hook := func(string) {
		if passed.Add(1) == int64(at) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	h := tilled(childTest{}, path, asks == "true")
	e, err := local.Open(local.Options{Path: path, Config: "sha256:test", Snapshot: []byte("{}"), Source: h, Hook: hook})
	if err != nil {
		return err
	}
	e.Go()
	ended, err := e.Start(context.Background(), h.job("hall"))
	if err != nil {
		return err
	}
	if w := ended.Waiting; w != nil && w.Kind == patterns.ForApproval {
		q, err := e.Approvals().Approval(w.Approval)
		if err != nil {
			return err
		}
		if _, err := e.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
			return err
		}
		for s, ok := e.Run(mine, ended.RunID); ok && s.State != patterns.Over; s, ok = e.Run(mine, ended.RunID) {
			e.Wait(context.Background(), mine, ended.RunID, s.Mark())
		}
	}
	e.Close()
	return nil
})

// Wherever the process of a run and its child runs dies, nothing acts twice, and all of them come to the end that they would have
// come to.
func TestChildRunsKilled(t *testing.T) {
	t.Parallel()
	for name, boundaries := range map[bool]int{false: 60, true: 80} {
		t.Run(fmt.Sprintf("asks %t", name), func(t *testing.T) {
			t.Parallel()
			killed := 0
			for at := range boundaries {
				place(t, at, func(t *testing.T) {
					path := newState(t)
					if err := os.WriteFile(path+".at", fmt.Append(nil, name, " ", at+1), 0o600); err != nil {
						t.Fatal(err)
					}
					if err := processtest.SpawnAlone(t, "house", path).Wait(); err != nil {
						killed++
					}
					h := tilled(t, path, name)
					e := port{opened(t, path, h), &begun{}}
					e.Go()
					goOnToTheEnd(t, e, h)
					if sum, acts := receivedAt(t, path); acts > 1 || sum > 1 {
						t.Errorf("%v was paid in %d acts", sum, acts)
					}
				})
			}
			t.Logf("%d of %d died", killed, boundaries)
			if killed == 0 {
				t.Error("no process died")
			}
		})
	}
}

// goOnToTheEnd has all runs of a house come to their end, and checks that they came there as they would have uninterrupted.
func goOnToTheEnd(t *testing.T, e port, h *house) {
	t.Helper()
	for _, id := range e.RunIDs(mine) {
		if s, _ := e.Run(mine, id); s.Parent != nil {
			continue
		}
		s := e.decided(t, id)
		if !s.Ended.Result.OK() {
			t.Errorf("the hall ended with %s", asJSON(t, s.Ended.Result))
		}
	}
	for _, id := range e.RunIDs(mine) {
		s := e.until(t, id, patterns.Over)
		events := e.intact(t, id)
		job, err := h.Job(patterns.Begun{Pattern: s.Pattern, Caller: patterns.Caller{Principal: mine}, Arguments: s.Arguments})
		if err != nil {
			t.Fatal(err)
		}
		again, err := local.ReplayStored(events, job)
		if err != nil || asJSON(t, again.Result) != asJSON(t, s.Ended.Result) {
			t.Errorf("%s replays, %v, as %s\nwant %s", s.Pattern, err, asJSON(t, again.Result), asJSON(t, s.Ended.Result))
		}
	}
	if n := len(e.RunIDs(mine)); n != 0 && n != 3 {
		t.Errorf("there are %d runs, want the hall's, the desk's and the leaf's", n)
	}
}

// decided waits until a run is over, approving what it asks meanwhile.
func (p port) decided(t *testing.T, id string) patterns.Snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		s, ok := p.Run(mine, id)
		if !ok || s.State == patterns.Over || ctx.Err() != nil {
			if !ok || s.State != patterns.Over {
				t.Fatalf("run %s: %t, %s, %+v", id, ok, s.State, s.Ended.Waiting)
			}
			return s
		}
		if w := s.Ended.Waiting; s.State == patterns.Parked && w.Kind == patterns.ForApproval {
			if q, err := p.Approvals().Approval(w.Approval); err == nil && q.State == patterns.AskedOpen {
				if _, err := p.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err != nil {
					t.Fatal(err)
				}
			}
		}
		p.Wait(ctx, mine, id, s.Mark())
	}
}
