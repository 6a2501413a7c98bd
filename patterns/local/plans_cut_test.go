package local_test

import (
	"testing"
	"testing/synctest"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/local"
)

// A run that waits with all that it did stored gives its plan back also where it is ended without its code; one that is in the
// middle of its work does not: what it did stands in its record alone.
func TestPlanOfARunEndedWithoutItsCode(t *testing.T) {
	codes := map[string]func(*planner){
		"create": func(p *planner) { p.create("new", false) },
		"waits":  func(p *planner) { p.load(false); p.wait(); p.release() },
		"over":   func(p *planner) { p.load(true); p.wait(); p.release() },
		"works":  func(p *planner) { p.load(false); p.rest(); p.release() },
		"load":   func(p *planner) { p.load(false); p.release() },
	}
	for code, want := range map[string]string{"waits": "load ok v1 new; release ok", "works": "load failed plan_corrupt; release ok"} {
		t.Run(code, func(t *testing.T) {
			path := newState(t)
			s := inFile(t, path, &begun{}, codes)
			s.expect("create", "create ok")
			id := ""
			if code == "works" {
				id = s.resting(code)
			} else {
				id, _ = s.run(code)
			}
			s.Close()
			later := inFile(t, path, &begun{}, codes) // knows the job no more
			if got, err := later.Cancel(t.Context(), mine, id, patterns.Note{By: mine}); err != nil || got.Ended.Result.StopReason != "cancelled" {
				t.Fatalf("Cancel: %s, %v", got.Ended.Result.StopReason, err)
			}
			later.expect("load", want)
		})
	}
	t.Run("beneath another", func(t *testing.T) {
		path := newState(t)
		s := inFile(t, path, &begun{}, codes)
		s.expect("create", "create ok")
		worker, _ := s.run("waits")
		other, _ := s.run("over")
		s.Close()
		later := inFile(t, path, &begun{}, codes)
		if _, err := later.Cancel(t.Context(), mine, worker, patterns.Note{By: mine}); err != nil {
			t.Fatal(err)
		}
		if state, err := later.Plan(mine, "plan", aPlan); err != nil || state.Holder != other {
			t.Errorf("then it is %+v, %v; want it held by %s", state, err, other)
		}
		if _, err := later.Cancel(t.Context(), mine, other, patterns.Note{By: mine}); err != nil {
			t.Fatal(err)
		}
		later.expect("load", "load ok v1 new; release ok")
	})
}

// However often a run is to make way that waits beneath another, one clock looks whether it may.
func TestOneClockBeneathAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &local.Engine{Waits: local.Waits{CallerWait: time.Hour}}
		defer e.Close()
		codes := map[string]func(*planner){
			"create": func(p *planner) { p.create("new", false) },
			"work":   func(p *planner) { p.load(false); p.wait(); p.release() },
			"back":   func(p *planner) { p.load(true); p.rest(); p.release() },
		}
		e.Runs(performing(codes))
		s := shelf{port{e, &begun{}}, t, codes}
		s.expect("create", "create ok")
		worker, _ := s.run("work")
		other := s.resting("back")
		first := e.Expire(worker)
		e.Expire(worker)
		if first.Stop() {
			t.Error("two clocks look at the run")
		}
		s.stop(other)
		if got := s.ended(worker); got != "load ok v1 new; waited failed expired; release ok" {
			t.Errorf("the waiting run: %s", got)
		}
	})
}
