package outcome

import (
	"strings"
	"testing"

	"patterngate/patterns"
)

// A block says that the same call may pass later only if the rule says so and no other call or argument is what it asks for.
func TestSameCallMayPassLater(t *testing.T) {
	for name, tt := range map[string]struct {
		blocked patterns.Blocked
		need    []string
		want    bool
	}{
		"the rule says so":   {patterns.Blocked{Retryable: true}, nil, true},
		"the rule does not":  {patterns.Blocked{}, nil, false},
		"another call first": {patterns.Blocked{Retryable: true}, []string{"read_order"}, false},
		"another value":      {patterns.Blocked{Retryable: true, Argument: "cents", Nearest: map[string]any{"cents": 5.0}}, nil, false},
	} {
		tt.blocked.Tool, tt.blocked.Rule, tt.blocked.Reason = "pay", "cap", "cap"
		a := account{Result: patterns.Result{StopReason: "policy_block:cap", Phase: "call", Blocked: &tt.blocked, Need: tt.need}}
		summary, say := a.why()
		if got := strings.Contains(summary, passesLater); got != tt.want || strings.Contains(say, passesLaterSay) != tt.want {
			t.Errorf("%s: %q, %q; want that it may pass later: %t", name, summary, say, tt.want)
		}
	}
}
