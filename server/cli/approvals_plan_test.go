package cli

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway/planning"
	"patterngate/patterns"
)

// askedPlan is a question about a whole plan, whose maker writes what they like.
func askedPlan(id string) patterns.Asked {
	e := planning.Envelope{
		Plan: "plan_0123456789abcdef", Revision: 2, Goal: "pay\n1. pay: issue_refund (only reads)",
		Change: &planning.EnvelopeChange{Kind: "replan", Added: []string{"ask", "pay"}, Removed: []string{"old"}},
		Steps: []planning.EnvelopeStep{
			{ID: "ask", Tool: planning.CallerExecutor, Claim: "\x1b[2Jall is well\u202e"},
			{ID: "think", Tool: planning.ModelExecutor, Claim: "think"},
			{
				ID: "pay", Tool: "issue_refund", Effect: catalog.Write, Schema: "sha256:00",
				Args:   map[string]any{"user_id": 42.0, "amount_usd": "$results.ask./n", "reason": "$results.ask./why"},
				Bounds: map[string]any{"/amount_usd": map[string]any{"type": "number", "maximum": 800.0}, "/reason": map[string]any{}},
			},
		},
	}
	a := askedRefund(id)
	a.Key, a.Schema, a.Effect, a.Phrase, a.Rule, a.Reason = "approve_plan#1", nil, catalog.Write, "a plan of 3 steps", "require_approval", "require_approval"
	a.Question.Tool, a.Question.Step, a.Question.Schema, a.Question.Args = "plan_execute", "approve_plan#1", "", e.Value()
	a.Digest = a.Question.Digest()
	return a
}

// Long ids and tools stand whole, and so does all that a replan removed: what is approved is told apart.
func TestApprovalsShowAPlanWhole(t *testing.T) {
	f := newFakeDesk(t)
	a := askedPlan(askedID)
	e, _ := a.Plan()
	long := strings.Repeat("x", 64-1)
	e.Steps = []planning.EnvelopeStep{{ID: long + "1", Tool: long + "3", Effect: catalog.Read}, {ID: long + "2", Tool: long + "4", Effect: catalog.Destructive}}
	e.Change.Removed = nil
	for i := range 60 {
		e.Change.Removed = append(e.Change.Removed, fmt.Sprint("removed_", i))
	}
	a.Question.Args = e.Value()
	a.Digest = a.Question.Digest()
	f.asked = []patterns.Asked{a}
	code, out, errs := f.command(t, nil, "show", "03f2")
	if code != 0 {
		t.Fatalf("show = %d: %s", code, errs)
	}
	for _, want := range []string{"1. " + long + "1: " + long + "3 (only reads)", "2. " + long + "2: " + long + "4 (destroys)", "removed_0,", "removed_59."} {
		if !strings.Contains(out, want) {
			t.Errorf("show does not hold %q:\n%s", want, out)
		}
	}
}

// A plan is shown step by step, with all that each may do; what its maker says of it stands apart, as a claim.
func TestApprovalsShowAPlan(t *testing.T) {
	f := newFakeDesk(t)
	f.asked = []patterns.Asked{askedPlan(askedID)}
	code, out, errs := f.command(t, nil, "show", "03f2")
	if code != 0 {
		t.Fatalf("show = %d: %s", code, errs)
	}
	steps, claims, _ := strings.Cut(out, "in the words of its author (a claim, not checked):")
	for _, want := range []string{
		"PROPOSED  a plan of 3 steps\n", "These are new since the plan was changed (replan, revision 2); removed: old.",
		"1. ask: caller (the client's agent does it)\n  | no arguments\n", "2. think: model (the model works on its description)",
		"3. pay: issue_refund (writes)\n  | amount_usd: \"$results.ask./n\"\n  | reason: \"$results.ask./why\"\n  | user_id: 42\n" +
			"  | /amount_usd: a value from another step that fits {\"maximum\":800,\"type\":\"number\"}\n  | /reason: a value from another step, of any kind\n",
		"Steps: 1 writes, 1 by the model, 1 by the client's agent. Each can run once",
	} {
		if !strings.Contains(steps, want) {
			t.Errorf("show does not hold %q before the claims:\n%s", want, steps)
		}
	}
	if strings.Contains(steps, "only reads") || strings.Contains(steps, "all is well") || !strings.Contains(claims, "| 1. pay: issue_refund (only reads)\n") {
		t.Errorf("claims are not kept apart:\n%s", out)
	}
	if strings.Contains(out, "--edit") || !strings.Contains(out, "approvals reject "+askedID) {
		t.Errorf("offered is\n%s", claims)
	}
	harmless(t, "stdout", out)
	const want = "approve " + askedID + " --edit: a changed plan needs a new approval, which a replan asks for\ntry: without --edit, to approve the plan unchanged\n"
	if code, _, errs := f.command(t, nil, "approve", askedID, "--edit", "revision=3"); code != 2 || !strings.HasSuffix(errs, want) || len(f.decided) > 0 {
		t.Errorf("an edit of a plan = %d, %q, decided %v; want 2 and %q", code, errs, f.decided, want)
	}

	call := askedPlan(askedID)
	call.Question.Step = "plan_execute#1" // a call of a tool of that name, with these arguments
	call.Digest = call.Question.Digest()
	f.asked = []patterns.Asked{call}
	if _, out, _ := f.command(t, nil, "show", "03f2"); strings.Contains(out, "1. ask") || !strings.Contains(out, "plan_execute (writes)") {
		t.Errorf("a call is shown as a plan:\n%s", out)
	}
}
