package server

import (
	"encoding/json"
	"strings"
	"testing"

	"patterngate/patterns"
)

const otherRun = "run_fedcba9876543210"

// A run that waits with a child run says which one asks, and of which pattern; a doubt is settled there.
func TestWaitingWithAChildRun(t *testing.T) {
	for name, tt := range map[string]struct {
		kind patterns.WaitingKind
		says string
	}{
		"approval":   {patterns.ForApproval, "For refund_order, "},
		"settlement": {patterns.ForSettlement, "patterngate runs settle " + otherRun + " "},
	} {
		t.Run(name, func(t *testing.T) {
			run := undecided(t, func(w *patterns.Waiting) {
				w.Kind, w.Child, w.Pattern, w.Effect, w.Cause = tt.kind, otherRun, "refund_order", "issue_refund#1", "crash"
			})
			e := withInbox(t, run, somePage).stateOf(run)
			var shown map[string]any
			text, err := json.Marshal(e.WaitingFor)
			if err == nil {
				err = json.Unmarshal(text, &shown)
			}
			if err != nil || shown["child_run_id"] != otherRun || shown["pattern"] != "refund_order" || !strings.Contains(e.Next.Say, tt.says) {
				t.Errorf("%v, %s, %v", e.Next.Say, text, err)
			}
		})
	}
	run := undecided(t)
	text, err := json.Marshal(withInbox(t, run, somePage).stateOf(run).WaitingFor)
	if err != nil || strings.Contains(string(text), "child_run_id") {
		t.Errorf("a run that asks itself: %s, %v", text, err)
	}
}
