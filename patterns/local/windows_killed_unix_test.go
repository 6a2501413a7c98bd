//go:build unix

package local_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/store/processtest"
)

// pursed is a run of three payments of 40 under a day's cap of 100, each written down beside the state file as it is received.
func pursed(t testing.TB, path string, kind gateway.Kind) patterns.Job {
	receives := func(_ context.Context, c catalog.Call) (any, error) {
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
	job := spends(t, kind, purse{day: 100}, receives, safely, 40, 39, 38)
	job.Spec.Budget.MaxParallel = 3
	job.Config, job.Arguments = "sha256:test", object{"kind": string(kind)}
	return job
}

// manyKinds makes the runs of pursed again.
type manyKinds struct {
	t    testing.TB
	path string
}

func (k manyKinds) Job(of patterns.Begun) (patterns.Job, error) {
	kind, _ := of.Arguments["kind"].(string)
	return pursed(k.t, k.path, gateway.Kind(kind)), nil
}

// receivedAt is what was received by whom writes it down beside the state file, in how many acts.
func receivedAt(t *testing.T, path string) (sum float64, acts int) {
	t.Helper()
	b, err := os.ReadFile(path + ".till")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	by := map[string]string{}
	for line := range strings.Lines(string(b)) {
		key, n, _ := strings.Cut(strings.TrimSpace(line), " ")
		if before, there := by[key]; there && before != n {
			t.Errorf("%s was sent with %s and %s", key, before, n)
		}
		by[key] = n
	}
	for _, n := range by {
		v, err := strconv.ParseFloat(n, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += v
	}
	return sum, len(by)
}

// A child spends from several runs at once, and kills itself at the boundary that the file beside says.
var _ = processtest.Role("purse", func(path string, _ func()) error {
	text, err := os.ReadFile(path + ".at")
	if err != nil {
		return err
	}
	kind, place, _ := strings.Cut(string(text), " ")
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
	source := manyKinds{childTest{}, path}
	e, err := local.Open(local.Options{Path: path, Config: "sha256:test", Snapshot: []byte("{}"), Source: source, Hook: hook})
	if err != nil {
		return err
	}
	e.Go()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { _, _ = e.Start(context.Background(), pursed(childTest{}, path, gateway.Kind(kind))) })
	}
	all.Wait()
	e.Close()
	return nil
})

// Wherever a process dies that spends from several runs, between a judgment and its intent, or between that and the outcome, who goes
// on spends what is left of the day's cap, and no more; what was judged is not judged again.
func TestKilledUnderACap(t *testing.T) {
	t.Parallel()
	const boundaries = 30 // more than there are where the runs meet little of each other
	for _, kind := range []gateway.Kind{gateway.TaskDecomposition, gateway.Orchestrator, gateway.Planning} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			killed := 0
			for at := range boundaries {
				place(t, at, func(t *testing.T) {
					path := newState(t)
					if err := os.WriteFile(path+".at", fmt.Append(nil, kind, " ", at+1), 0o600); err != nil {
						t.Fatal(err)
					}
					if err := processtest.SpawnAlone(t, "purse", path).Wait(); err != nil {
						killed++
					}
					source := manyKinds{t, path}
					e := port{opened(t, path, source), &begun{}}
					e.Go()
					if sum, _ := receivedAt(t, path); sum > 100 {
						t.Errorf("%v was paid before the process died, want at most 100", sum)
					}
					last, err := e.Engine.Start(t.Context(), pursed(t, path, kind)) // that uses up the rest
					if err != nil {
						t.Fatal(err)
					}
					e.until(t, last.RunID, patterns.Over)
					counted := 0.0
					for _, id := range e.RunIDs(mine) {
						s := e.until(t, id, patterns.Over)
						counted += spent(s.Ended.Result.Ledger)
						again, err := local.ReplayStored(e.intact(t, id), pursed(t, path, kind))
						if a, b := asJSON(t, s.Ended.Result), asJSON(t, again.Result); err != nil || a != b {
							t.Errorf("%s (%v) lived\n%s\nand replayed\n%s", id, err, a, b)
						}
					}
					if sum, acts := receivedAt(t, path); sum > 100 || acts != 2 || counted != sum {
						t.Errorf("%v was paid in %d acts and counts as %v, want two acts of 100 at most", sum, acts, counted)
					}
				})
			}
			if killed == 0 {
				t.Error("no process was killed")
			}
		})
	}
}
