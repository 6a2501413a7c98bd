package web

import (
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
)

// After an edit the title says that it is about the proposal, and the page shows the arguments of the call that was made.
func TestEditedTitleIsOfTheProposal(t *testing.T) {
	s := askedDemo(t)
	a := &s.asked[0]
	args := map[string]any{"user_id": 42.0, "amount_usd": 700.0, "reason": "half"}
	a.State = patterns.AskedDecided
	a.Given = &patterns.Given{Answer: gateway.Answered(anAsked, a.Question, gateway.ChooseEdit, args), Args: args, Channel: "page", Assurance: gateway.UserAssurance}
	check := func(when string, want, not []string) {
		t.Helper()
		page := mainOf(s.get("/a/" + anAsked).Body.String())
		for _, text := range append(want, "<h1><bdi>Proposed: Refund 1200.00 USD to user 42</bdi>", "<dt><code>amount_usd</code></dt><dd><pre>700</pre>") {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page lacks %s", when, text)
			}
		}
		for _, text := range not {
			if strings.Contains(page, text) {
				t.Errorf("%s: the page has %s", when, text)
			}
		}
	}
	const judgedAgain, used = "The policy judges it again before it may run, once.", "The call was started, and the approval is used up."
	check("before the call", []string{"The arguments that were approved", judgedAgain}, []string{used})
	a.Spent = true
	h := &history{t: t, events: s.records[aRun]}
	h.effect(541.1, 541.9, "issue_refund#1", `{"effect_kind":"tool","name":"issue_refund","effect":"write","input":{"user_id":42,"amount_usd":700,"reason":"half"},"grant":"`+anAsked+`"}`, `{"state":"ok","output":{}}`)
	s.records[aRun] = h.events
	check("after the call", []string{"The arguments of the call that was started", used}, []string{judgedAgain, "The arguments that were approved"})
	a.Given.Choice = gateway.ChooseApprove
	if page := mainOf(s.get("/a/" + anAsked).Body.String()); strings.Contains(page, "may run, once") || !strings.Contains(page, used) {
		t.Error("an approval that is used up says that the call may run")
	}
}
