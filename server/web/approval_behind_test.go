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
