package local_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"patterngate/patterns"
)

// The port Plans, in memory and over a state file.

func TestPlanIsShownAsItStands(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		s := shelved(t, open, map[string]func(*planner){
			"create": func(p *planner) { p.create("new", false) },
			"rest":   func(p *planner) { p.load(false); p.rest(); p.commit(1, "rested", false) },
			"wait":   func(p *planner) { p.load(false); p.wait() },
			"look":   func(p *planner) { p.look() },
		})
		s.expect("create", "create ok")
		show := func() patterns.PlanState {
			t.Helper()
			state, err := s.Plan(mine, "plan", aPlan)
			if err != nil || state.Plan.ID != aPlan || state.Pattern != "plan" || state.Principal != mine {
				t.Fatalf("shown as %+v, %v", state, err)
			}
			return state
		}
		if free := show(); free.Plan.Goal != "new" || free.Holder != "" || free.Result != nil || free.State != "" {
			t.Errorf("free, it is shown as %+v", free)
		}
		id := s.resting("rest")
		held := show()
		if held.Holder != id || held.State != patterns.Running || held.Verb != patterns.ExecuteVerb || held.Plan.Goal != "new" || held.Waiting != nil {
			t.Errorf("held, it is shown as %+v", held)
		}
		if held.Result == nil || joined(held.Result.Trace) != "so far; load ok v1 new" || held.Spec.Name != "plan_execute" || held.Arguments == nil {
			t.Errorf("held, it is shown with the result %+v, of %s", held.Result, held.Spec.Name)
		}
		if got := s.stop(id); got != "load ok v1 new; rested canceled cancelled; commit ok" {
			t.Errorf("cancelled, it said %s", got)
		}
		if after := show(); after.Holder != "" || after.Plan.Goal != "rested" || after.Result != nil {
			t.Errorf("afterwards it is shown as %+v", after)
		}
		waiting, _ := s.run("wait")
		if parked := show(); parked.Holder != waiting || parked.State != patterns.Parked || parked.Waiting == nil || parked.Waiting.Argument != "results" || parked.Result != nil {
			t.Errorf("waiting, it is shown as %+v", parked)
		}
		s.stop(waiting) // it does not give the plan back
		if left := show(); left.Holder != waiting || left.State != patterns.Over || left.Plan.Goal != "rested" || left.Result != nil {
			t.Errorf("left, it is shown as %+v", left)
		}
		s.expect("look", "load ok v2 rested")
	})
}

func TestPlansAreHiddenFromOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		s := shelved(t, open, map[string]func(*planner){"create": func(p *planner) { p.create("new", false) }})
		s.expect("create", "create ok")
		for _, tt := range []struct{ principal, pattern, id string }{
			{"local:2", "plan", aPlan}, {"", "plan", aPlan}, {"", "", aPlan}, {mine, "another", aPlan}, {mine, "plan", strings.ToUpper(aPlan)},
			{mine, "plan", "plan_"}, {mine, "plan", ""}, {mine, "plan", "plan_00000000000000ab"}, {mine, "plan", "run_00000000000000aa"},
			{mine, "plan", strings.Repeat("plan_", 1<<18)}, {mine, "plan", aPlan + "\x00"},
		} {
			if state, err := s.Plan(tt.principal, tt.pattern, tt.id); !errors.Is(err, patterns.ErrNoPlan) || state.Plan.ID != "" {
				t.Errorf("Plan(%q, %q, %.30q) = %+v, %v; want ErrNoPlan", tt.principal, tt.pattern, tt.id, state, err)
			}
		}
		if state, err := s.Plan(mine, "", aPlan); err != nil || state.Pattern != "plan" {
			t.Errorf("of any pattern: %+v, %v", state, err)
		}
	})
}

// planAt is the id of one of many plans.
func planAt(n int) string { return fmt.Sprintf("plan_%016x", uint64(n)*0x9e3779b97f4a7c15) }

func TestPlansAreListed(t *testing.T) {
	const many = 200
	makes := func(from, n int) func(*planner) {
		return func(p *planner) {
			for i := range n {
				id := planAt(from + i)
				p.step(patterns.PlanStep{Op: patterns.CreateOp, Plan: id, Content: storedPlan(id, fmt.Sprint(i)).Encode(), Revision: 1})
			}
		}
	}
	onBoth(t, func(t *testing.T, open opener) {
		s := shelved(t, open, map[string]func(*planner){
			"many": makes(0, many), "few": makes(1000, 3), "late": makes(2000, 1),
		})
		s.run("many")
		another := s.job("few")
		another.Spec.Plans = "another"
		s.do(another)
		list := func(f patterns.PlanFilter) (ids []string) {
			t.Helper()
			for pages := 0; ; pages++ {
				page, err := s.ListPlans(f)
				if err != nil || len(page.Plans) > max(f.Limit, 20) || pages > many {
					t.Fatalf("ListPlans(%+v): %d plans, %v", f, len(page.Plans), err)
				}
				for _, p := range page.Plans {
					ids = append(ids, p.Plan.ID)
				}
				if f.Cursor = page.Next; f.Cursor == "" {
					return ids
				}
			}
		}
		want := make([]string, many) // newest first; those of one time by their numbers
		for i := range want {
			want[i] = planAt(i)
		}
		mineOnly := patterns.PlanFilter{Principal: mine, Pattern: "plan"}
		for _, limit := range []int{0, -1, 1, 7, 100} {
			f := mineOnly
			f.Limit = limit
			got := list(f)
			if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
				t.Errorf("limit %d: %d plans, want the %d, each once", limit, len(got), many)
			}
		}
		if got := list(mineOnly); got[0] != planAt(many-1) && s.File() {
			t.Errorf("the newest is %s, want %s", got[0], planAt(many-1))
		}
		for name, tt := range map[string]struct {
			filter patterns.PlanFilter
			want   int
		}{
			"another pattern":   {patterns.PlanFilter{Principal: mine, Pattern: "another"}, 3},
			"any pattern":       {patterns.PlanFilter{Principal: mine, Limit: 50}, many + 3},
			"anybody's":         {patterns.PlanFilter{Limit: 50}, many + 3},
			"another principal": {patterns.PlanFilter{Principal: "local:2", Pattern: "plan"}, 0},
		} {
			if got := len(list(tt.filter)); got != tt.want {
				t.Errorf("%s: %d plans, want %d", name, got, tt.want)
			}
		}
		if page, err := s.ListPlans(patterns.PlanFilter{Principal: mine, Limit: 1000}); err != nil || len(page.Plans) != 100 || page.Next == "" {
			t.Errorf("a page has %d plans, %v; want at most 100", len(page.Plans), err)
		}
		first, _ := s.ListPlans(mineOnly)
		s.run("late") // in front: the next page is as it was
		second := mineOnly
		second.Cursor = first.Next
		page, err := s.ListPlans(second)
		if err != nil || slices.ContainsFunc(page.Plans, func(p patterns.PlanState) bool {
			return p.Plan.ID == planAt(2000) || p.Plan.ID == first.Plans[19].Plan.ID
		}) {
			t.Errorf("the second page: %v", err)
		}
		for _, f := range []patterns.PlanFilter{
			{Principal: "local:2", Pattern: "plan", Cursor: first.Next}, {Principal: mine, Pattern: "another", Cursor: first.Next}, {Cursor: first.Next},
			{Principal: mine, Pattern: "plan", Cursor: first.Next + "A"}, {Principal: mine, Pattern: "plan", Cursor: "x"},
			{Principal: mine, Pattern: "plan", Cursor: strings.Repeat("A", 1<<20)},
		} {
			if page, err := s.ListPlans(f); !errors.Is(err, patterns.ErrCursor) || len(page.Plans) != 0 {
				t.Errorf("ListPlans(%.90q) gave %d plans, %v; want ErrCursor", fmt.Sprint(f), len(page.Plans), err)
			}
		}
	})
}

// Of the plans in a list those are shown with their progress that a run has.
func TestListShowsHolders(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		s := shelved(t, open, map[string]func(*planner){
			"create": func(p *planner) { p.create("new", false) },
			"rest":   func(p *planner) { p.load(false); p.rest(); p.release() },
		})
		s.expect("create", "create ok")
		id := s.resting("rest")
		page, err := s.ListPlans(patterns.PlanFilter{Principal: mine})
		if err != nil || len(page.Plans) != 1 || page.Plans[0].Holder != id || page.Plans[0].Result == nil {
			t.Errorf("ListPlans: %+v, %v", page, err)
		}
		s.stop(id)
	})
}

// Of many runs that want one plan at once each has it alone, and no change is lost.
func TestPlanHasOneHolder(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		s := shelved(t, open, map[string]func(*planner){
			"create": func(p *planner) { p.create("new", false) },
			"look":   func(p *planner) { p.look() },
			"add": func(p *planner) {
				out := p.step(patterns.PlanStep{Op: patterns.LoadOp, Claim: true})
				if out.State != patterns.OK {
					return
				}
				said, _ := out.Output.(map[string]any)
				version, _ := said["version"].(float64)
				p.commit(int(version), fmt.Sprint("add", version), false)
			},
		})
		s.expect("create", "create ok")
		const n = 16
		said := make(chan string, n)
		for range n {
			go func() {
				ended, err := s.Start(t.Context(), s.job("add"))
				if err != nil {
					t.Error(err)
				}
				said <- sayings(ended)
			}()
		}
		version := 1
		for range n {
			switch got := <-said; {
			case strings.HasSuffix(got, "; commit ok"):
				version++
			case !strings.HasPrefix(got, "load failed plan_busy "):
				t.Errorf("a run said %s", got)
			}
		}
		s.expect("look", fmt.Sprintf("load ok v%d add%d", version, version-1))
	})
}

// Who follows all changes learns of a plan's.
func TestChangeOfAPlanIsTold(t *testing.T) {
	s := shelved(t, openers["file"], map[string]func(*planner){"create": func(p *planner) { p.create("new", false) }})
	owner := s.Operator()
	_, since := owner.Changed(t.Context(), 0)
	s.expect("create", "create ok")
	var ids []string
	for !slices.Contains(ids, aPlan) && !slices.Contains(ids, patterns.Everything) && t.Context().Err() == nil {
		var more []string
		more, since = owner.Changed(t.Context(), since)
		ids = append(ids, more...)
	}
	if state, err := owner.Plan(aPlan); err != nil || state.Principal != mine || state.Plan.Goal != "new" {
		t.Errorf("the owner is shown %+v, %v", state, err)
	}
	if _, err := owner.Plan("plan_00000000000000ab"); !errors.Is(err, patterns.ErrNoPlan) {
		t.Errorf("a plan that is none: %v", err)
	}
}
