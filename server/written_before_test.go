package server

import (
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// A summary says of a call whose act was done before that nothing was sent again, and of no other.
func TestSummaryTellsOfDuplicates(t *testing.T) {
	for _, duplicate := range []bool{false, true} {
		a := account{call: call{Spec: single(orders(t), "refund", "pay_back").Spec}, Result: patterns.Result{StopReason: patterns.Success, Ledger: []gateway.Entry{
			{Tool: "pay_back", Effect: catalog.Write, Status: gateway.Finished, Duplicate: duplicate}}}}
		if got := strings.Contains(a.written(), "nothing was sent again"); got != duplicate {
			t.Errorf("duplicate %t: %s", duplicate, a.written())
		}
	}
}
