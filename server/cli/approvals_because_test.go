package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"patterngate/server/cli/console"
)

// A question says by which rule it is asked, in the rule's words and with what made it true.
func TestAskedShowsItsRule(t *testing.T) {
	asked := askedRefund(askedID)
	asked.Text, asked.Values = "Above 1000 USD a person decides.", map[string]any{"args.amount_usd": 1200.0, "args.reason": "annual\u202eplan"}
	page := askedView{asked: asked, now: console.Now().Add(time.Minute)}.text(100)
	for _, want := range []string{
		"Rule         high_refund_requires_human\n", "Rule says    Above 1000 USD a person decides.\n",
		"Because      | args.amount_usd: 1200\n             | args.reason: \"annual\\u202eplan\"\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	row, _ := json.Marshal(askedRowOf(asked))
	for _, want := range []string{`"rule_text":"Above 1000 USD a person decides."`, `"values":{"args.amount_usd":1200,`} {
		if !strings.Contains(string(row), want) {
			t.Errorf("the row lacks %s: %s", want, row)
		}
	}
}
