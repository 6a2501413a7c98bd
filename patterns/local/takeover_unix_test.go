//go:build unix

package local_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/store/processtest"
)

// taking is a run of three payments which are written down beside the state file by their keys. The second tells when it
// is there, and waits.
func taking(path string, at func(n int)) (catalog.Tool, error) {
	type number struct {
		N int `json:"n"`
	}
	return catalog.Typed(catalog.Tool{Name: "count", Description: "Counts.", Effect: catalog.Write, Idempotent: true},
		func(_ context.Context, in number, call catalog.Call) (number, error) {
			f, err := os.OpenFile(path+".world", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				return in, err
			}
			if _, err := f.WriteString(call.Key + "\n"); err != nil {
				return in, err
			}
			if at != nil {
				at(in.N)
			}
			return in, f.Close()
		})
}

// A child begins the run, and goes on with it when its input ends.
var _ = processtest.Role("run", func(path string, ready func()) error {
	t := childTest{}
	tool, err := taking(path, func(n int) {
		if n == 1 {
			ready()
		}
	})
	if err != nil {
		return err
	}
	e, err := local.Open(local.Options{Path: path, Config: "sha256:test", Snapshot: []byte("{}")})
	if err != nil {
		return err
	}
	defer e.Close()
	e.Go()
	job := stepsOf(t, tool, 3)
	job.Principal = mine
	_, err = e.Start(context.Background(), job)
	return err
})

// beside is an engine in this process, beside a child that has begun a run and is in its second call.
func beside(t *testing.T) (p port, c *processtest.Child, id, path string) {
	t.Helper()
	path = newState(t)
	tool, err := taking(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	job := stepsOf(t, tool, 3)
	job.Config = "sha256:test"
	e := opened(t, path, configs{"": job, "sha256:test": job})
	e.Go()
	p = port{e, &begun{}}
	c = processtest.Spawn(t, "run", path)
	ids := p.RunIDs(mine)
	if len(ids) != 1 {
		t.Fatalf("runs %q, want the child's", ids)
	}
	if s := p.until(t, ids[0], patterns.Running); s.Current.Phase != patterns.PhaseExecute || s.Current.Doing == "" {
		t.Errorf("another's run is shown as %+v", s.Current)
	}
	return p, c, ids[0], path
}

// paid are the keys of what was done, in order.
func paid(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path + ".world")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}

func TestKilledProcessesRunGoesOn(t *testing.T) {
	t.Parallel()
	p, c, id, path := beside(t)
	killed := time.Now()
	c.Kill(t)
	s := p.until(t, id, patterns.Over)
	t.Logf("ended %v after the kill", time.Since(killed))
	keys := paid(t, path)
	if !s.Ended.Result.OK() || s.Ended.Calls != 3 || len(keys) != 4 || keys[1] != keys[2] {
		t.Errorf("it ended with %s after %d calls, keys %q; want the second repeated as the same act", s.Ended.Result.StopReason, s.Ended.Calls, keys)
	}
	if slices.Sort(keys); len(slices.Compact(keys)) != 3 {
		t.Errorf("acts %q, want 3", keys)
	}
	p.intact(t, id)
}

// A process that does not move keeps its run until a person takes it away; what it does then is written nowhere.
func TestStoppedProcessKeepsItsRunUntilSeized(t *testing.T) {
	p, c, id, path := beside(t)
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if list, err := p.Operator().Resume(t.Context(), id); err == nil || len(list) != 1 || list[0].State != patterns.Running {
		t.Errorf("Resume of a run that lives: %+v, %v; want it left alone", list, err)
	}
	before, _ := p.Events(mine, id)
	if err := p.Operator().Seize(id, patterns.Note{By: mine, Channel: "cli"}, gateway.SignedAct{}); err != nil {
		t.Fatal(err)
	}
	s := p.until(t, id, patterns.Over)
	if !s.Ended.Result.OK() {
		t.Errorf("seized, it ended with %s", s.Ended.Result.StopReason)
	}
	events := p.intact(t, id)
	if note := events[len(before)]; note.Kind != patterns.NoteEvent || !strings.Contains(string(note.Body), `"seize"`) {
		t.Errorf("the record goes on with %s %s, want the note of the seizure", note.Kind, note.Body)
	}
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.End(t) // its tool comes back, its run has changed hands
	if after := p.intact(t, id); len(after) != len(events) {
		t.Errorf("the old owner wrote %d events", len(after)-len(events))
	}
	if keys := paid(t, path); len(keys) != 4 {
		t.Errorf("acts %q, want the second repeated and the third done once", keys)
	}
}

// What a person cancels in another process's run is obeyed there.
func TestCancelReachesAnotherProcess(t *testing.T) {
	t.Parallel()
	p, c, id, path := beside(t)
	done := make(chan patterns.Snapshot)
	go func() {
		s, err := p.Cancel(t.Context(), mine, id, patterns.Note{By: mine})
		if err != nil {
			t.Errorf("Cancel: %v", err)
		}
		done <- s
	}()
	s := <-done // its call is cut
	if s.State != patterns.Over || s.Ended.Result.StopReason != "cancelled" || s.Ended.Calls != 2 {
		t.Errorf("it is %s, %s after %d calls", s.State, s.Ended.Result.StopReason, s.Ended.Calls)
	}
	c.End(t)
	if keys := paid(t, path); len(keys) != 2 {
		t.Errorf("acts %q, want the two that were begun", keys)
	}
	p.intact(t, id)
}
