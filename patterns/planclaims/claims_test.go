package planclaims_test

import (
	"errors"
	"testing"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/planclaims"
	"patterngate/patterns/store"
	"patterngate/patterns/store/memory"
)

const plan = 7

// fixture is a store with one plan and some runs.
type fixture struct {
	t *testing.T
	planclaims.Claims
}

func newFixture(t *testing.T) fixture {
	d := fixture{t, planclaims.Claims{Store: memory.New(memory.Limits{Plans: 10, PlanBytes: 1 << 20})}}
	for run := int64(1); run <= 3; run++ {
		d.writes(store.Begin{N: run, Pattern: "p", Kind: "planning", Principal: "me", Config: "c", Began: run, Newest: run, Owner: d.Store.Owner().ID()})
	}
	d.changes(1, patterns.PlanStep{Op: patterns.CreateOp, Content: content(1), Revision: 1})
	return d
}

func content(revision int) []byte {
	return ijson.Canonical(map[string]any{"id": journal.PlanID(plan), "revision": float64(revision)})
}

func (d fixture) act(run int64, s patterns.PlanStep) planclaims.Act {
	s.Plan, s.Pattern = journal.PlanID(plan), "p"
	return planclaims.Act{PlanStep: s, N: plan, Run: run, Principal: "me", Now: 1}
}

func (d fixture) writes(steps ...store.Step) {
	d.t.Helper()
	if err := d.Store.Do(&store.Change{Steps: steps}); err != nil {
		d.t.Fatal(err)
	}
}

// changes has a run change the plan, and returns why it does not.
func (d fixture) changes(run int64, s patterns.PlanStep) string {
	d.t.Helper()
	steps, reason, err := d.Change(d.act(run, s))
	if err != nil {
		d.t.Fatal(err)
	}
	d.writes(steps...)
	return reason
}

// loads has a run claim the plan, and returns why it does not get it.
func (d fixture) loads(run int64, over bool) string {
	d.t.Helper()
	steps, reason := d.decides(run, over)
	d.writes(steps...)
	return reason
}

func (d fixture) decides(run int64, over bool) ([]store.Step, string) {
	d.t.Helper()
	seen, _, err := d.At(plan)
	if err != nil {
		d.t.Fatal(err)
	}
	steps, reason, again, err := d.Claim(d.act(run, patterns.PlanStep{Op: patterns.LoadOp, Claim: true, Over: over}), seen)
	if err != nil || again {
		d.t.Fatalf("again %t, %v", again, err)
	}
	return steps, reason
}

func (d fixture) parks(run int64) {
	d.t.Helper()
	d.writes(store.Park{N: run, Kind: string(patterns.ForCaller), Key: "turn#1"})
}

// holders are the runs that hold the plan and wait beneath it.
func (d fixture) holders() [2]int64 {
	d.t.Helper()
	r, _, err := d.At(plan)
	if err != nil {
		d.t.Fatal(err)
	}
	return [2]int64{r.Run, r.Under}
}

func TestOneRunHoldsAPlan(t *testing.T) {
	d := newFixture(t)
	if reason := d.loads(1, false); reason != "" {
		t.Fatalf("a free plan is not claimed: %s", reason)
	}
	if reason := d.loads(2, true); reason != patterns.PlanBusy {
		t.Errorf("the plan of a running run: %q, want %s", reason, patterns.PlanBusy)
	}
	commit := patterns.PlanStep{Op: patterns.CommitOp, Content: content(2), Revision: 2, Version: 1}
	if reason := d.changes(2, commit); reason != patterns.PlanConflict {
		t.Errorf("a commit by another run: %q, want %s", reason, patterns.PlanConflict)
	}
	if reason := d.changes(1, commit); reason != "" || d.holders() != [2]int64{} {
		t.Errorf("a commit by the holder: %q, then held by %v", reason, d.holders())
	}
}

func TestPlanOverAWaitingRun(t *testing.T) {
	for name, commits := range map[string]bool{"released": false, "committed": true} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t)
			d.loads(1, false)
			d.parks(1)
			if reason := d.loads(2, true); reason != "" || d.holders() != [2]int64{2, 1} {
				t.Fatalf("%q, held by %v; want 2 over 1", reason, d.holders())
			}
			if _, _, err := d.Reclaim(1, []int64{plan}, false); !errors.Is(err, patterns.ErrNotTaken) {
				t.Errorf("the waiting run is taken: %v", err)
			}
			step := patterns.PlanStep{Op: patterns.ReleaseOp}
			if commits {
				step = patterns.PlanStep{Op: patterns.CommitOp, Content: content(2), Revision: 2, Version: 1}
			}
			if reason := d.changes(2, step); reason != "" {
				t.Fatal(reason)
			}
			if _, lost, err := d.Reclaim(1, []int64{plan}, false); err != nil || lost != commits {
				t.Errorf("the waiting run has lost its plan: %t, %v; want %t", lost, err, commits)
			}
		})
	}
}

// A canceled run gets its plan back, and its end gives it back.
func TestPlanOfACanceledRun(t *testing.T) {
	d := newFixture(t)
	d.loads(1, false)
	d.parks(1)
	d.loads(2, true)
	steps, lost, err := d.Reclaim(1, []int64{plan}, true)
	if err != nil || lost {
		t.Fatalf("lost %t, %v", lost, err)
	}
	if d.writes(steps...); d.holders() != [2]int64{1, 0} {
		t.Errorf("held by %v, want 1", d.holders())
	}
	if steps, err = d.GiveBack(1, []int64{plan}, patterns.ForCaller, "turn#1"); err != nil {
		t.Fatal(err)
	}
	if d.writes(steps...); d.holders() != [2]int64{} {
		t.Errorf("held by %v, want nobody", d.holders())
	}
	if steps, _ = d.GiveBack(1, []int64{plan}, patterns.ForSettlement, "a#1/settle#1"); len(steps) > 0 {
		t.Errorf("a run in the middle of its work gives back %v", steps)
	}
}

// A decision is refused if the plan has changed since.
func TestDecisionOfABygoneState(t *testing.T) {
	d := newFixture(t)
	steps, reason := d.decides(1, false)
	if reason != "" {
		t.Fatal(reason)
	}
	d.loads(2, false)
	if err := d.Store.Do(&store.Change{Steps: steps}); !store.IsRefused(err) {
		t.Errorf("the claim gave %v, want a refusal", err)
	}
}
