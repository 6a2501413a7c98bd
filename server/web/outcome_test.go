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

// A call that the policy blocked after the decision is not shown as approved.
func TestApprovedThenBlocked(t *testing.T) {
	s := askedDemo(t)
	a := &s.asked[0]
	args := map[string]any{"user_id": 42.0, "amount_usd": 9000.0, "reason": "more"}
	a.State = patterns.AskedDecided
	a.Given = &patterns.Given{Answer: gateway.Answered(anAsked, a.Question, gateway.ChooseEdit, args), Args: args, Channel: "page", Assurance: gateway.UserAssurance}
	h := &history{t: t}
	h.start(`{}`)
	h.add(1, "intent", "approve#1", `{"effect_kind":"human","name":"approve","input":{"action":{"name":"issue_refund"}},"object":{"args":{"amount_usd":1200},"expires":"2026-11-22T09:30:00Z"},"digest":"sha256:00"}`)
	h.add(2, "outcome", "approve#1", `{"state":"ok","decision":{"approval":"`+anAsked+`","decision":"edit","by":"local:1"},"output":{"args":{"amount_usd":9000}},"by":"local:1","assurance":"user"}`)
	s.records[aRun] = h.events
	const blocked = "The policy judged the approved call again, and rule large blocked it. Nothing was sent. The rule says: At most 5000."
	if page := mainOf(s.get("/a/" + anAsked).Body.String()); strings.Contains(page, "blocked it") {
		t.Errorf("no rule blocked the call yet:\n%s", page)
	}
	h.add(3, patterns.JudgedEvent, "issue_refund#1", `{"phase":"act","decision":"block","rule":"large","reason":"supervisor_block:large","text":"At most 5000.","proposal":{"name":"issue_refund","args":{"amount_usd":9000}}}`)
	s.records[aRun] = h.events
	page := mainOf(s.get("/a/" + anAsked).Body.String())
	for _, want := range []string{`<span class="state bad">blocked</span>`, `<section class="panel outcome bad"`, blocked} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}

// While a call waits, its page says that the run began with another configuration than the server has loaded.
func TestOtherConfigurationLoaded(t *testing.T) {
	s := askedDemo(t)
	loaded := "sha256:00" // as the record has it
	s.pages.config.Loaded = func() string { return loaded }
	says := func() bool {
		return strings.Contains(s.get("/a/"+anAsked).Body.String(), "<code>patterngate reload</code>")
	}
	if says() {
		t.Error("the page says that the run's own configuration is another one")
	}
	if loaded = "sha256:01"; !says() {
		t.Error("the page hides that another configuration is loaded")
	}
	if loaded = ""; says() {
		t.Error("the page says so of a process that has no configuration loaded")
	}
	loaded = "sha256:01"
	s.asked[0].State = patterns.AskedOver
	if says() {
		t.Error("the page says so of a call that is closed")
	}
}
