//go:build unix

package local_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"patterngate/patterns/local"
	"patterngate/patterns/store/processtest"
)

// killed are the runs of the child that is killed, and of who goes on with them.
var killed = map[string]func(*planner){
	"create": func(p *planner) { p.create("new", false) },
	"work":   func(p *planner) { p.load(false); p.commit(1, "half", true); p.commit(2, "done", false) },
	"look":   func(p *planner) { p.look() },
}

// A child works on the plan and kills itself at the boundary of the journal that the file beside says.
var _ = processtest.Role("plan", func(path string, ready func()) error {
	text, err := os.ReadFile(path + ".at")
	if err != nil {
		return err
	}
	at, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	var counting atomic.Bool
	hook := func(string) {
		if counting.Load() {
			if at--; at < 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
	}
	e, err := local.Open(local.Options{Path: path, Config: "sha256:test", Snapshot: []byte("{}"), Hook: hook})
	if err != nil {
		return err
	}
	e.Runs(performing(killed))
	if err := e.Approvals().OfferSignIn([32]byte{}, time.Now()); err != nil { // by then the opening is written
		return err
	}
	counting.Store(true)
	job := shelf{t: childTest{}}.job("work")
	job.Arguments = object{"job": 1.0}
	if _, err = e.Start(context.Background(), job); err != nil {
		return err
	}
	return errors.New("it was not killed")
})

// Wherever a process dies that changes a plan, another one goes on, and each change is stored once.
func TestKilledInAChangeOfAPlan(t *testing.T) {
	t.Parallel()
	const boundaries = 8 // before and after: claim, two commits, end
	for at := range boundaries {
		place(t, at, func(t *testing.T) {
			path := newState(t)
			s := inFile(t, path, &begun{}, killed)
			s.expect("create", "create ok")
			s.begun.add(s.job("work"))
			if err := os.WriteFile(path+".at", fmt.Append(nil, at), 0o600); err != nil {
				t.Fatal(err)
			}
			c := processtest.SpawnAlone(t, "plan", path)
			var died *exec.ExitError
			if err := c.Wait(); !errors.As(err, &died) || died.ExitCode() != -1 {
				t.Fatalf("the child ended with %v, want it killed", err)
			}
			if ids := s.RunIDs(mine); len(ids) == 1 && at == 0 { // it was not entered
				s.expect("look", "load ok v1 new")
				return
			}
			id := s.RunIDs(mine)[0]
			if got := s.ended(id); got != "load ok v1 new; commit ok; commit ok" {
				t.Errorf("it said %s", got)
			}
			s.expect("look", "load ok v3 done")
			s.intact(t, id)
			if state, err := s.Plan(mine, "plan", aPlan); err != nil || state.Holder != "" {
				t.Errorf("Plan: %+v, %v", state, err)
			}
		})
	}
}
