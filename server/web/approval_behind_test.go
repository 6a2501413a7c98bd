package web

import (
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
)

// Before a person decides, the page shows who wrote the call, what earlier calls returned, and equal calls. Nothing of it acts.
func TestApprovalShowsWhatStandsBehind(t *testing.T) {
	s := newSite(t)
	equal := s.asked[0]
	equal.ID, equal.State = "ap_00000000000000b7", patterns.AskedDecided
	equal.Given = &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseApprove, By: "local:1000", At: s.now}}
	s.asked = append(s.asked, equal)
	s.asked[0].Key = "approve#1"
	h := &history{t: t}
	h.start(`{"goal":"refund user 42"}`)
	h.effect(0.2, 0.3, "get_refund_context#1", `{"effect_kind":"tool","name":"get_refund_context","effect":"read","input":{"user_id":42}}`,
		`{"state":"ok","output":{"customer":{"name":"<script>alert(1)</script>","plan":"annual"},"billing":{"last_charge_usd":1500}}}`)
	h.effect(0.4, 0.5, "action#1", `{"effect_kind":"model","name":"action","input":{}}`, `{"state":"ok","output":"{}"}`)
	h.add(0.6, patterns.IntentEvent, "approve#1", `{"effect_kind":"human","name":"approve","rule":"big","input":{"action":{"name":"issue_refund"}}}`)
	s.records[s.asked[0].Question.Run] = h.events
	page := s.get("/a/" + anAsked).Body.String()
	for _, want := range []string{
		"the offline rules, not a model or a person; they wrote the text of reason",
		`<a href="/a/ap_00000000000000b7"><code>ap_00000000000000b7</code></a> was approved `,
		"Results that the policy can read", "<code>/customer/plan</code></dt><dd><pre>&#34;annual&#34;</pre>", "<code>/billing/last_charge_usd</code></dt><dd><pre>1500</pre>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "<script>alert") {
		t.Error("what a tool returned acts on the page")
	}
}

// The page says which texts a rule wrote and which a model, what the rule read and where it came from, and whom the call is about. The name
// is no part of the heading.
func TestApprovalShowsFacts(t *testing.T) {
	s := askedDemo(t)
	page := mainOf(s.get("/a/" + anAsked).Body.String())
	for _, want := range []string{
		`<h1><bdi>Refund 1200.00 USD to user 42</bdi></h1><p class="called">“<bdi>Anna</bdi>”, unchecked</p>`, "The name of user 42 is from the result of get_refund_context, not checked",
		`<pre>1200</pre><p class="soft by"><span>proposed by the offline rules</span>`, `<span>written by rule refund_reason_required</span>`,
		`<span title="args.amount_usd">amount</span></dt><dd><bdi>1200.00 USD</bdi> <span class="soft">proposed by the offline rules</span>`,
		`<span title="params.auto_refund_limit_usd">auto refund limit</span></dt><dd><bdi>1000.00 USD</bdi> <span class="soft">policy setting</span>`,
		`From the tool <code>get_refund_context</code> <span class="soft">(its own names and values, not checked)</span>`, `<dt><code title="/billing/days_since_payment">days_since_payment</code></dt><dd><bdi>10</bdi>`,
		`<a href="#results">4 more values below</a>`, `<p id="results" class="soft">`, "Above the automatic limit a person decides.", "Demo data.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	decide := strings.Index(page, `class="panel decide"`)
	for _, folded := range []string{`<code class="hash">`, "<code>/billing/plan</code>"} {
		if at := strings.Index(page, folded); at < decide || strings.LastIndex(page[:at], "<details") < strings.LastIndex(page[:at], "</details>") {
			t.Errorf("%s is not folded below the form", folded)
		}
	}
	s.pages.config.Simulated = nil
	if strings.Contains(s.get("/a/"+anAsked).Body.String(), "Demo data.") {
		t.Error("real data is called demo data")
	}
}

// After a decision the page follows the run, and says how it ended and what became of the call.
func TestApprovalSaysHowTheRunEnded(t *testing.T) {
	for name, tt := range map[string]struct {
		choice gateway.Choice
		more   func(h *history)
		end    string
		says   []string
	}{
		"paid": {gateway.ChooseApprove, func(h *history) {
			h.effect(3601, 3602, "issue_refund#1", `{"effect_kind":"tool","name":"issue_refund","effect":"write","input":{"user_id":42},"grant":"`+anAsked+`"}`, `{"state":"ok","output":{}}`)
		}, `{"status":"ok","stop_reason":"success"}`, []string{`How the run ended <span class="state good">ok</span>`, "issue_refund: done.", "It ended 1 h 00 min after the decision."}},
		"rejected": {gateway.ChooseReject, func(*history) {}, `{"status":"stopped","stop_reason":"human_rejected"}`, []string{
			`How the run ended <span class="state bad">stopped</span>`, "It stopped with human_rejected. "}},
		"failed": {gateway.ChooseApprove, func(h *history) {
			h.effect(3601, 3602, "issue_refund#1", `{"effect_kind":"tool","name":"issue_refund","effect":"write","input":{"user_id":42},"grant":"`+anAsked+`"}`, `{"state":"failed","reason":"error"}`)
		}, `{"status":"stopped","stop_reason":"tool_error:issue_refund"}`, []string{"issue_refund: failed (error).", "It stopped with tool_error:issue_refund."}},
	} {
		s := askedDemo(t)
		if w := s.post("/a/"+anAsked, s.answer(string(tt.choice))); w.Code != 303 {
			t.Fatalf("%s: %d", name, w.Code)
		}
		if page := s.get("/a/" + anAsked).Body.String(); strings.Contains(page, "How the run ended") || !strings.Contains(page, `data-watch="`+aRun+`"`) {
			t.Errorf("%s: before the end the page says that the run ended, or does not follow it", name)
		}
		h := &history{t: t, events: s.records[aRun]}
		tt.more(h)
		h.add(3604, patterns.EndEvent, "", tt.end)
		s.records[aRun] = h.events
		page := s.get("/a/" + anAsked).Body.String()
		for _, want := range tt.says {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %s\n%s", name, want, mainOf(page))
			}
		}
		if strings.Contains(page, `data-watch="`) {
			t.Errorf("%s: the page of a run that has ended follows it", name)
		}
	}
}

// A row of the timeline says what a rule changed, from what to what, and who proposed the call.
func TestTimelineSaysWhatChanged(t *testing.T) {
	s := askedDemo(t)
	page := mainOf(s.get("/r/" + aRun).Body.String())
	for _, want := range []string{
		`<span class="name">reason added by refund_reason_required</span>`, `<li>reason: added &#34;Customer requested refund within policy review&#34;</li>`, `<span class="soft">, proposed by the offline rules</span>`, "Demo data.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s\n%s", want, page)
		}
	}
}
