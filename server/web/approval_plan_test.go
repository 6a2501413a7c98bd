package web

import (
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway/planning"
	"patterngate/patterns"
)

// askPlan puts a question about a whole plan into the state.
func (s *state) askPlan(id string) *patterns.Asked {
	e := planning.Envelope{
		Plan: "plan_0123456789abcdef", Revision: 2, Goal: "<b>pay</b>\u202e",
		Change: &planning.EnvelopeChange{Kind: "replan", Added: []string{"pay"}, Removed: []string{"old"}},
		Steps: []planning.EnvelopeStep{
			{ID: "ask", Tool: planning.CallerExecutor, Claim: "<script>alert(1)</script>"},
			{
				ID: "pay", Tool: "issue_refund", Effect: catalog.Write, Schema: "sha256:00",
				Args:   map[string]any{"user_id": 42.0, "amount_usd": "$results.ask./amount"},
				Bounds: map[string]any{"/amount_usd": map[string]any{"type": "number", "maximum": 800.0}},
			},
		},
	}
	a := s.ask(id, e.Value())
	a.Question.Tool, a.Question.Step, a.Question.Schema, a.Schema, a.Phrase, a.Rule, a.Reason = "plan_execute", a.Key, "", nil, "a plan of 2 steps", "require_approval", "require_approval"
	a.Digest = a.Question.Digest()
	return a
}

// The page of a plan shows each step with all that it may do, and offers yes or no to the whole.
func TestPageOfAPlan(t *testing.T) {
	s := newSite(t)
	a := s.askPlan("ap_00000000000000a1")
	body := s.get("/a/" + a.ID).Body.String()
	for _, want := range []string{
		"<h1><bdi>Approve: a plan of 2 steps</bdi></h1>", `<a href="/p/plan_0123456789abcdef">`, "revision 2: 1 writes, 1 by the client&#39;s agent.",
		"The client&#39;s agent does it.", "<code>pay</code>: <code>issue_refund</code> <span class=\"tag writes\">writes</span>", "Removed: <code>old</code>",
		"&#34;maximum&#34;: 800", `<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi> <span class="soft">(written by the author of the plan, not checked)</span>`, "</span> after <code>ask</code>", "$results.ask./amount", "Each step may run once, exactly as shown.", a.Digest,
		"approve such a plan before anything of it runs", "What the author of the plan says about it", "&lt;script&gt;", `\u202e`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not hold %s", want)
		}
	}
	for _, not := range []string{"Approve with changes", "<script>alert", "\u202e", "<b>pay"} {
		if strings.Contains(body, not) {
			t.Errorf("the page holds %s", not)
		}
	}
	if t.Failed() {
		t.Log(body)
	}
	a.Question.Step = "issue_refund#1" // then it is about a call of that name, with these arguments
	a.Digest = a.Question.Digest()
	if body := s.get("/a/" + a.ID).Body.String(); !strings.Contains(body, "The call that would run") {
		t.Error("a call is shown as a plan")
	}
}
