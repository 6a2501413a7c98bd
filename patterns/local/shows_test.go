package local_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// shower is pattern code of three bodies, of which one calls a gate, and then a turn of the caller. It shows which have ended;
// for who breaks it breaks instead.
func shower(job patterns.Job, tool string, breaks bool) patterns.Pattern {
	return func(run patterns.Run, _ patterns.Spec, _ patterns.Task) patterns.Result {
		done := []any{}
		run.Shows(func() patterns.Result {
			if breaks {
				panic(errors.New("broken"))
			}
			return patterns.Result{Trace: done}
		})
		begun := 0
		run.Flow(func() (string, func(patterns.Run), bool) {
			begun++
			i := begun
			return "work", func(branch patterns.Run) {
				if patterns.Sleep(branch, time.Microsecond); i == 2 {
					calling(job, tool)(branch, i)
				}
				done = append(done, i)
			}, i <= 3
		})
		patterns.Await(run, patterns.Effect{}, patterns.Waiting{Argument: "results", Turn: 1})
		done = append(done, "answered")
		return patterns.Result{StopReason: patterns.Success, Trace: done}
	}
}

// TestShown: who looks at a run sees it as it stands, here and from another process, while it runs and while it waits; others
// see nothing.
func TestShown(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := newGate(t, catalog.Read)
		job := g.job(t, 1)
		change := func(e *local.Engine) { e.Runs(shower(job, g.tool.Name, false)) }
		e := open(t, change)
		shows := func(e port, id string, n int) {
			t.Helper()
			r, ok := e.Shown(mine, id)
			for ok && len(r.Trace) < n { // its last outcome is about to be recorded
				r, ok = e.Shown(mine, id)
			}
			if !ok || len(r.Trace) != n {
				t.Errorf("the run shows %v, %t; want %d bodies that have ended", r.Trace, ok, n)
			}
			if r, ok := e.Shown("local:2", id); ok {
				t.Errorf("another principal is shown %v", r)
			}
		}
		id := e.beginning(t, job)
		<-g.entered
		shows(e, id, 2)
		close(g.open)
		e.until(t, id, patterns.Parked)
		shows(e, id, 3)
		ended, err := e.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: id, Given: object{"results": object{}}})
		if err != nil || len(ended.Result.Trace) != 4 {
			t.Fatalf("Continue gave %+v, %v; want the end", ended, err)
		}
		shows(e, id, 4)
		for _, other := range []string{"", "run_0123456789abcdef", "run_x"} {
			if r, ok := e.Shown(mine, other); ok {
				t.Errorf("run %q shows %v", other, r)
			}
		}
	})
}

// TestShownElsewhere: another process that has the file open shows the run by its record.
func TestShownElsewhere(t *testing.T) {
	g := newGate(t, catalog.Read)
	job, path, source := g.job(t, 1), newState(t), &begun{}
	change := func(e *local.Engine) { e.Runs(shower(job, g.tool.Name, false)) }
	e := openPort(t, path, source, change)
	id := e.beginning(t, job)
	<-g.entered
	e.Shown(mine, id) // what is recorded is written
	other := port{opened(t, path, source), source}
	change(other.Engine)
	if r, ok := other.Shown(mine, id); !ok || len(r.Trace) > 2 {
		t.Errorf("the run shows %v, %t; want at most 2 bodies that have ended", r.Trace, ok)
	}
	close(g.open)
	e.until(t, id, patterns.Parked)
	if r, ok := other.Shown(mine, id); !ok || len(r.Trace) != 3 {
		t.Errorf("the run that waits shows %v, %t; want 3 bodies that have ended", r.Trace, ok)
	}
}

// TestShownBroken: code that breaks while it is shown ends neither the run nor the process; the log is told.
func TestShownBroken(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		var mu sync.Mutex
		told := ""
		g := newGate(t, catalog.Read)
		close(g.open)
		job := g.job(t, 1)
		e := open(t, func(e *local.Engine) {
			e.Runs(shower(job, g.tool.Name, true))
			e.Fault = func(_, _ string, cause error) {
				mu.Lock()
				defer mu.Unlock()
				told += fmt.Sprint(cause)
			}
		})
		id := e.beginning(t, job)
		e.until(t, id, patterns.Parked)
		if r, ok := e.Shown(mine, id); ok {
			t.Errorf("the run shows %v", r)
		}
		mu.Lock()
		if !strings.Contains(told, "broken") {
			t.Errorf("the log was told %q", told)
		}
		mu.Unlock()
		ended, err := e.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: id, Given: object{}})
		if err != nil || ended.Result.StopReason != patterns.Success {
			t.Errorf("Continue gave %+v, %v; want the end", ended, err)
		}
	})
}

// TestNothingIsShown: a run that shows nothing is no run to look at.
func TestNothingIsShown(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		job := quick(t, 3)
		job.Spec.Kind = gateway.TaskDecomposition
		ended, err := e.Start(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := e.Shown(mine, ended.RunID); ok {
			t.Errorf("it shows %v", r)
		}
	})
}
