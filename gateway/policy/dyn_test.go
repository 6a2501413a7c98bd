package policy_test

import (
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/policy"
)

// A fault of types that are not known says so, and one that only has such a word in it does not.
func TestFaultsOfTypesNotKnown(t *testing.T) {
	tests := map[string]bool{
		`sum(run.effects.map(e, e.args.cents)) > 5`: true, `args.cents.startsWith("x", 1)`: true, `run.effects.map(e, e.args.cents)`: true,
		`dynasty > 1`: false, `"dyn" > 1`: false, `run.steps > "dyn"`: false, `run.dyn == 1`: false, `params.dyn > 1.5`: false,
	}
	for when, want := range tests {
		t.Run(when, func(t *testing.T) {
			_, faults := policy.New(policy.Source{
				Name: "p", Params: []policy.Param{{Name: "dyn", Value: 1.0}}, Rules: []policy.RuleSource{{ID: "r", Match: []string{"later"}, When: when, Approve: true}},
			}, policy.Reach{Catalog: orderTools(t), Unknown: []string{"later"}, Patterns: []policy.Reached{{Name: "p", Kind: gateway.Supervisor, Tools: []string{"later"}}}})
			found := false
			for _, f := range faults {
				if !f.Warning {
					found = true
					if f.Dyn != want {
						t.Errorf("%s: of types not known: %v, want %v", f, f.Dyn, want)
					}
				}
			}
			if !found {
				t.Errorf("no fault: %v", inMembers(faults))
			}
		})
	}
}
