package inspect

import (
	"slices"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/server"
	"patterngate/server/cli/console"
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

// registered returns the rows of the registry as the command shows them.
func registered() []server.Reason {
	var all []server.Reason
	for _, s := range stopreason.All() {
		all = append(all, server.ReasonOf(s, func(kind gateway.Kind) []string { return []string{settings.NameOfKind(kind)} }))
	}
	return all
}

// The list fits into its width and loses no word of a meaning, also next to a name that is longer than its column.
func TestStopReasonsTableFits(t *testing.T) {
	rows := append(registered(), server.Reason{Name: "policy_block:" + strings.Repeat("long_", 12) + "name", Meaning: "A rule of the policy blocks the call.", ExitCode: 3})
	for _, width := range []int{70, 100} {
		text := reasonTable(rows, width)
		for line := range strings.Lines(text) {
			if n := len(strings.TrimSuffix(line, "\n")); n > width && strings.ContainsRune(line, ' ') {
				t.Errorf("a line of the list has %d columns, want %d: %s", n, width, line)
			}
		}
		for _, r := range rows {
			_, after, found := strings.Cut(strings.ReplaceAll(text, "\n", " \n"), "\n"+r.Name+" ")
			words := strings.Join(strings.Fields(after), " ")
			if want := exitText(r) + " " + r.Meaning; !found || !strings.HasPrefix(words, want) {
				t.Errorf("at %d columns %s is shown as %.120q, want %q", width, r.Name, words, want)
			}
		}
	}
}

// One reason is shown with all that is known about it; each action that can follow is explained.
func TestStopReasonIsExplained(t *testing.T) {
	a := &Commands{Console: &console.Console{Color: "never"}}
	for _, r := range registered() {
		text := a.reasonText(r, 100)
		words := strings.Join(strings.Fields(text), " ")
		for _, want := range append(append([]string{r.Name, r.Meaning}, r.Patterns...), r.Phases...) {
			if !strings.Contains(words, want) {
				t.Errorf("%s is explained without %q:\n%s", r.Name, want, text)
			}
		}
		for _, action := range nextActions(r.Next) {
			if say := nextWords[action]; say == "" || !strings.Contains(text, action+": "+say) {
				t.Errorf("%s is explained without the action %q:\n%s", r.Name, action, text)
			}
		}
		if ends := r.ExitCode >= 0; ends == strings.Contains(text, onlyTask) || ends != (r.Next != "") {
			t.Errorf("%s ends a run: %t, with the action %q:\n%s", r.Name, ends, r.Next, text)
		}
	}
}
