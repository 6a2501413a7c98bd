package local_test

import (
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/local"
)

// An equal call joins a run of a plan only as long as the plan stands as that run has it, or left it.
func TestEqualCallOfAChangedPlan(t *testing.T) {
	t.Parallel()
	codes := map[string]func(*planner){
		"create": func(p *planner) { p.create("new", false) },
		"look":   func(p *planner) { p.load(false); p.release() },
		"work":   func(p *planner) { p.load(false); p.wait(); p.commit(1, "worked", false) },
		"back":   func(p *planner) { p.load(true); p.release() },
		"change": func(p *planner) { p.load(true); p.commit(1, "changed", false) },
	}
	code := func(run patterns.Run, s patterns.Spec, task patterns.Task) patterns.Result {
		r := performing(codes)(run, s, task)
		for _, reason := range []string{patterns.PlanBusy, patterns.PlanConflict} {
			if strings.Contains(joined(r.Trace), reason) {
				r.StopReason = reason
			}
		}
		return r
	}
	for name, tt := range map[string]struct {
		holds   bool   // another run holds the plan at first, and waits
		first   string // what the call does
		then    string // what another call does
		joined  bool
		changes string // what the equal call says
	}{
		"it waits":                         {false, "work", "", true, "waits"},
		"it waits, and its plan came back": {false, "work", "back", true, "waits"},
		"it waits, and its plan changed":   {false, "work", "change", false, "waits"},
		"it ended":                         {false, "look", "", true, "load ok v1 new; release ok"},
		"it ended, and nothing changed":    {false, "look", "back", true, "load ok v1 new; release ok"},
		"it ended, and its plan changed":   {false, "look", "change", false, "load ok v2 changed; release ok"},
		"its plan was another's":           {true, "look", "change", false, "load ok v2 changed; release ok"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open opener) {
				s := shelf{open(t, func(e *local.Engine) { e.Runs(code) }), t, codes}
				s.expect("create", "create ok")
				if tt.holds {
					s.run("work")
				}
				job := s.job(tt.first)
				job.Task.Plan, job.Equal = &patterns.PlanCall{Verb: patterns.ExecuteVerb, PlanID: aPlan}, "the same"
				first, err := s.Start(t.Context(), job)
				if err != nil {
					t.Fatal(err)
				}
				if tt.then != "" {
					s.run(tt.then)
				}
				second, err := s.Start(t.Context(), job)
				if err != nil {
					t.Fatal(err)
				}
				if second.Joined != tt.joined || (second.RunID == first.RunID) != tt.joined || sayings(second) != tt.changes {
					t.Errorf("the equal call is %s, joined %v, and said %q; the first was %s. Want joined %v and %q",
						second.RunID, second.Joined, sayings(second), first.RunID, tt.joined, tt.changes)
				}
			})
		})
	}
}
