package inspect

import (
	"slices"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/server"
	"patterngate/server/settings"
)

// A name means its own row, that of a result's reason, or a policy's reason in whatever family it stands.
func TestStopReasonsByName(t *testing.T) {
	var all []server.Reason
	for _, s := range stopreason.All() {
		all = append(all, server.ReasonOf(s, func(kind gateway.Kind) []string { return []string{settings.NameOfKind(kind)} }))
	}
	all = server.DeclaredReasons(all, []server.Pattern{
		{Spec: patterns.Spec{Name: "refund_order", Kind: gateway.Supervisor}, Reasons: []string{"order_not_read"}},
		{Spec: patterns.Spec{Name: "errand", Kind: gateway.Routing}, Reasons: []string{"order_not_read", "too_late"}},
	})
	tests := map[string][]string{
		"success":                         {"success"},
		"order_not_read":                  {"supervisor_block:order_not_read", "policy_block:order_not_read"},
		"policy_block:too_late":           {"policy_block:too_late"},
		"supervisor_block:too_late":       {"supervisor_block:R"},
		"policy_error:run_cap":            {"supervisor_block:policy_error:R", "policy_block:policy_error:R"},
		"policy_block:policy_error:a_cap": {"policy_block:policy_error:R"},
		"tool_denied:pay":                 {"tool_denied:T"},
		"run_cap":                         nil,
		"Policy_block:x":                  nil,
	}
	for name, want := range tests {
		var got []string
		for _, r := range meant(all, name) {
			got = append(got, r.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s means %v, want %v", name, got, want)
		}
	}
	if family := meant(all, "supervisor_block"); len(family) < 10 || slices.ContainsFunc(family, func(r server.Reason) bool { return !strings.HasPrefix(r.Name, "supervisor_block:") }) {
		t.Errorf("the family has %d rows: %v", len(family), family)
	}
}
