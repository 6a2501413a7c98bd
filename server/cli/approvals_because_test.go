package cli

import (
	"strings"
	"testing"
)

// A question says by which rule it is asked, in the rule's words and with what made it true.
func TestAskedShowsItsRule(t *testing.T) {
	f := newFakeDesk(t)
	f.asked[0].Text, f.asked[0].Values = "Above 1000 USD a person decides.", map[string]any{"args.amount_usd": 1200.0, "args.reason": "annual\u202eplan"}
	_, page, _ := f.command(t, nil, "show", askedID)
	for _, want := range []string{
		"Rule         high_refund_requires_human\n", "Rule says    Above 1000 USD a person decides.\n",
		"Because      | args.amount_usd: 1200\n             | args.reason: \"annual\\u202eplan\"\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	_, rows, _ := f.command(t, nil, "list", "--json")
	row := strings.Join(strings.Fields(rows), "")
	for _, want := range []string{`"rule_text":"Above1000USDapersondecides."`, `"values":{"args.amount_usd":1200,`} {
		if !strings.Contains(row, want) {
			t.Errorf("the row lacks %s: %s", want, rows)
		}
	}
}
