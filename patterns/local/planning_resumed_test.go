package local_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/local"
)

// TestPlanningResumes: wherever the record of a run of a plan ends, the next process comes to what the first one came to.
func TestPlanningResumes(t *testing.T) {
	t.Parallel()
	for seed := range 20 {
		synctest.Test(t, func(t *testing.T) { resumes(t, seed) })
	}
}

func resumes(t *testing.T, seed int) {
	s := newOracleSession(t, seed)
	var record *execution.Record
	s.engine = &local.Engine{Reports: local.Reports{Recorded: func(_ string, r *execution.Record) { record = r }}}
	defer s.engine.Close()
	s.world.fates.steady = true
	m := &oracleMaker{Rand: s.Rand, prefix: "s"}
	doc := &revised{Subs: m.make(2 + s.IntN(5))}
	call := patterns.PlanCall{Verb: patterns.DecomposeVerb, Strategy: planning.Flat, MaxDepth: 3, MaxSubtasks: 15}
	made := s.start(patterns.DecomposeVerb, s.verb(patterns.DecomposeVerb), patterns.Task{Goal: "Review April", Plan: &call, Caller: []document.Intent{document.FromText(replyText(doc, ""), "/plan")}})
	then := s.engine.PlansNow()
	execute := patterns.PlanCall{Verb: patterns.ExecuteVerb, PlanID: made.Result.Planned.PlanID, Concurrent: 1, OnFailure: patterns.RetryOnFailure, MaxRetries: 2, RetryDelay: time.Second}
	if s.IntN(2) == 0 { // what runs beside each other may end in another order
		execute.Concurrent, execute.OnFailure = 1+s.IntN(4), patterns.SkipOnFailure
	}
	spec := s.verb(patterns.ExecuteVerb)
	spec.Budget.SubtaskTimeout = 30 * time.Second
	job := patterns.Job{Spec: spec, Task: patterns.Task{Plan: &execute}, Model: s.world, Caller: patterns.Caller{Principal: "local:1"}}
	lived, err := s.engine.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	events := record.Events()
	want := seen(lived)
	delete(want, "budget") // what was begun twice is counted twice
	for n := 1; n < len(events); n++ {
		s.engine.PlansAgain(then, lived.RunID)
		ended, err := s.engine.Resume(events[:n:n], job)
		if err != nil {
			t.Fatalf("seed %d after event %d, %s %s: %v", seed, n, events[n-1].Kind, events[n-1].Key, err)
		}
		got := seen(ended)
		delete(got, "budget")
		if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
			t.Fatalf("seed %d after event %d, %s %s, %s: - uninterrupted, + resumed\n%s\n%s", seed, n, events[n-1].Kind, events[n-1].Key, execute.OnFailure, diff, fmt.Sprint(replyText(doc, "")))
		}
	}
}

// TestPlanningTiming: which of the subtasks that run beside each other is faster does not matter where a failure does not
// stop the others.
func TestPlanningTiming(t *testing.T) {
	for seed := range 20 {
		var want any
		for pace := range 3 {
			synctest.Test(t, func(t *testing.T) {
				s := newOracleSession(t, seed)
				defer s.engine.Close()
				s.world.fates.pace = pace
				m := &oracleMaker{Rand: s.Rand, prefix: "s"}
				doc := replyText(&revised{Subs: m.make(8)}, "")
				call := patterns.PlanCall{Verb: patterns.ExecuteVerb, Concurrent: 3, OnFailure: patterns.SkipOnFailure}
				spec := s.verb(patterns.ExecuteVerb)
				spec.Budget.SubtaskTimeout = 30 * time.Second
				spec.Budget.MaxSameCall = gateway.Unlimited
				got := seen(s.start(patterns.ExecuteVerb, spec, patterns.Task{Plan: &call, Caller: []document.Intent{document.FromText(doc, "/plan")}}))
				if want == nil {
					want = plain(got)
				}
				if diff := cmp.Diff(want, plain(got)); diff != "" {
					t.Errorf("seed %d: at one pace -, at another +\n%s", seed, diff)
				}
			})
		}
	}
}
