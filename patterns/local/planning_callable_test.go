package local_test

import (
	"context"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// A plan may be older than the configuration under which it is carried out: what may not be called as the plan has it stops
// the run before anything of it is called, and all of it is told.
func TestPlanOlderThanItsTools(t *testing.T) {
	type word struct {
		N string `json:"n"`
	}
	other, err := catalog.Typed(catalog.Tool{Name: "count", Description: "Counts.", Effect: catalog.Read},
		func(_ context.Context, in word, _ catalog.Call) (word, error) { return in, nil })
	if err != nil {
		t.Fatal(err)
	}
	quick := counting(t, catalog.Read, nil)
	quick.Name = "quick"
	for name, tt := range map[string]struct {
		tools     []catalog.Tool
		execution []string
		want, at  string
	}{
		"another schema":      {[]catalog.Tool{other, quick}, []string{"count", "quick"}, "executor_bad_args:count", "/plan/subtasks/1/args/n"},
		"a tool that is gone": {[]catalog.Tool{quick}, []string{"count", "quick"}, "executor_missing:count", "/plan/subtasks/1/tool"},
		"not allowed now":     {[]catalog.Tool{counting(t, catalog.Read, nil), quick}, []string{"quick"}, "executor_denied:count", "/plan/subtasks/1/tool"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &local.Engine{}
			defer e.Close()
			spec := func(names []string, tools ...catalog.Tool) patterns.Spec {
				c, err := catalog.New(tools...)
				if err != nil {
					t.Fatal(err)
				}
				return patterns.Spec{
					Name: "plan_decompose", Kind: gateway.Planning, Plans: "plan", Envelope: patterns.RequireNone, Catalog: c,
					Policy: []string{"count", "quick"}, Execution: names, Budget: gateway.DefaultBudget(gateway.Planning),
				}
			}
			text := planText(subtaskText("a", "quick", map[string]any{"n": 1.0}), subtaskText("b", "count", map[string]any{"n": 2.0}))
			made := planned(t, e, spec([]string{"count", "quick"}, counting(t, catalog.Read, nil), quick), decomposing(t, text), nil).Result
			now := spec(tt.execution, tt.tools...)
			now.Name = "plan_execute"
			ended := planned(t, e, now, executing(made.Planned.PlanID, nil), nil)
			r := ended.Result
			if r.StopReason != tt.want || r.Phase != patterns.PhaseExecute || ended.Calls != 0 {
				t.Fatalf("%s in phase %s after %d calls; want %s in execute after none", r.StopReason, r.Phase, ended.Calls, tt.want)
			}
			if len(r.Problems) != 1 || string(r.Problems[0].Pointer) != tt.at || r.Problems[0].Reason != tt.want {
				t.Errorf("problems %s, want one at %s", asJSON(t, r.Problems), tt.at)
			}
			if v := r.Planned.View; v.Counts.Pending != 2 {
				t.Errorf("%+v, want both pending", v.Counts)
			}
		})
	}
}
