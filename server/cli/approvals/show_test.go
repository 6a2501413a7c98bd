package approvals

import (
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record"
)

// A call that the policy blocked after the decision is not only "decided".
func TestShowApprovedThenBlocked(t *testing.T) {
	v := askedView{asked: patterns.Asked{ID: "ap_1", State: patterns.AskedDecided, Given: &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseEdit}}}}
	if page := v.text(100); !strings.Contains(page, "State        decided\n") {
		t.Errorf("nothing blocked the call:\n%s", page)
	}
	v.blocked = record.Row{Decision: "block", Rule: "large", Because: record.Because{Said: "At most 5000."}}
	if page := v.text(120); !strings.Contains(strings.Join(strings.Fields(page), " "), "State decided; the policy then blocked the call (rule large), and nothing was sent. The rule says: At most 5000. Rule") {
		t.Errorf("the page hides the block:\n%s", page)
	}
}
