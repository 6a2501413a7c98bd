package web

import (
	"fmt"
	"testing"

	"patterngate/patterns"
	"patterngate/server/web/webtest"
)

// askedDemo is a site on which the demo's refund waits, as the real program records it.
func askedDemo(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.pages.config.Simulated = simulates("issue_refund", "get_refund_context")
	a := &s.asked[0]
	a.Question.Args = map[string]any{"user_id": 42.0, "amount_usd": 1200.0, "reason": "Customer requested refund within policy review"}
	a.Digest, a.Key, a.Text = a.Question.Digest(), "approve#1", "Above the automatic limit a person decides."
	a.Values = map[string]any{"args.amount_usd": 1200.0, "params.auto_refund_limit_usd": 1000.0}
	h := &history{t: t}
	h.start(`{"goal":"Refund 1200 USD to user_id=42 for the annual plan"}`)
	rules := `{"effect_kind":"model","name":"action","input":{}}`
	h.effect(0.01, 0.02, "action#1", rules, `{"state":"ok","output":"{}"}`)
	h.effect(0.03, 0.2, "get_refund_context#1", tool("get_refund_context", "read", `{"user_id":42}`), `{"state":"ok","output":{"user":{"id":42,"name":"Anna","country":"US","tier":"enterprise"},
		"billing":{"plan":"annual_enterprise","currency":"USD","last_charge_usd":1200,"days_since_payment":10},"policy_hint":{"auto_refund_limit_usd":1000,"refund_window_days":14}}}`)
	h.effect(0.21, 0.22, "action#2", rules, `{"state":"ok","output":"{}"}`)
	h.add(0.23, patterns.JudgedEvent, "judge#1", `{"phase":"supervisor","proposal":{"kind":"tool","name":"issue_refund","args":{"amount_usd":1200,"user_id":42}},"decision":"revise","rule":"refund_reason_required","reason":"refund_reason_required"}`)
	h.add(0.24, patterns.IntentEvent, "approve#1", `{"effect_kind":"human","name":"approve","rule":"high_refund_requires_human","object":`+string(a.Question.Object())+`,"digest":"`+a.Digest+`","input":{"action":{"name":"issue_refund"}}}`)
	s.records[aRun] = h.events
	return s
}

// Without scrolling a person sees on a desk what would happen, the arguments, the facts, the rule in words and the buttons, and on a
// phone the consequence and the buttons, which stay in view to the end of the page.
func TestDecisionIsInView(t *testing.T) {
	s := askedDemo(t)
	s.enroll(t) // a key makes the form longer
	keyed := s.keys
	url, p := visited(t, s)
	bottom := func(selector string) float64 {
		return webtest.Eval[float64](p, fmt.Sprintf("Math.max(...[...document.querySelectorAll(%q)].map(e => e.getBoundingClientRect().bottom))", selector))
	}
	desk := []string{"h1", ".call .args", ".why .rule", ".why .read", ".why .who", "button.reject", "button.approve"}
	for name, tt := range map[string]struct {
		width, height int
		see           []string
		signed        bool
	}{
		"desk":         {1280, 800, desk, false},
		"desk, signed": {1280, 800, desk, true},
		"phone":        {390, 844, []string{"h1", ".called", "button.reject", "button.approve"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p.For(t)
			s.mu.Lock()
			s.keys = nil
			if tt.signed {
				s.keys = keyed
			}
			s.mu.Unlock()
			p.Size(tt.width, tt.height)
			p.Open(url + "/a/" + anAsked)
			for _, selector := range tt.see {
				at := bottom(selector)
				if at > float64(tt.height) {
					t.Errorf("%s ends at %.0f of %d pixels", selector, at, tt.height)
				}
				t.Logf("%s ends at %.0f", selector, at)
			}
			webtest.Eval[bool](p, "(scrollTo(0, document.body.scrollHeight), true)")
			for _, button := range []string{"button.reject", "button.approve"} {
				top := webtest.Eval[float64](p, fmt.Sprintf("document.querySelector(%q).getBoundingClientRect().top", button))
				if at := bottom(button); top < 0 || at > float64(tt.height) {
					t.Errorf("at the end of the page %s is from %.0f to %.0f, out of view", button, top, at)
				}
			}
			webtest.Eval[bool](p, "(scrollTo(0, 0), true)")
			for _, dark := range []bool{false, true} {
				p.Dark(dark)
				for _, v := range p.Axe() {
					t.Errorf("dark %v: %s", dark, v)
				}
				p.Screenshot(map[bool]string{false: "light", true: "dark"}[dark])
			}
			if n := p.Overflow(); n > 0 {
				t.Errorf("%d pixels to the side", n)
			}
		})
	}
	p.For(t)
	for _, c := range p.Complaints() {
		t.Errorf("the browser complains: %s", c)
	}
}

// Times are the reader's own, with UTC in the title. Without a script they are in UTC.
func TestLocalTimes(t *testing.T) {
	s := askedDemo(t)
	url, p := visited(t, s)
	const expires = `.until time[datetime="2026-11-22T09:30:00Z"]`
	shown := func(i int) (text, title string) {
		at := fmt.Sprintf("document.querySelectorAll(%q)[%d]", expires, i)
		return webtest.Eval[string](p, at+".textContent"), webtest.Eval[string](p, at+".title")
	}
	const utc = "2026-11-22 09:30:00 UTC"
	for zone, own := range map[string]string{"Europe/Berlin": "2026-11-22 10:30:00 GMT+1", "America/New_York": "2026-11-22 04:30:00 EST", "UTC": utc} {
		p.Zone(zone)
		p.Open(url + "/a/" + anAsked)
		if text, title := shown(1); text != own || title != utc {
			t.Errorf("in %s the deadline is %q with the title %q, want %q with %q", zone, text, title, own, utc)
		}
		if text, title := shown(0); text != "in 1 d 00 h" || title != own+" ("+utc+")" {
			t.Errorf("in %s the time that is left is %q with the title %q", zone, text, title)
		}
	}
	p.Zone("Europe/Berlin")
	p.Scripts(false)
	p.Open(url + "/a/" + anAsked)
	if text, title := shown(1); text != utc || title != "" {
		t.Errorf("without a script the deadline is %q with the title %q, want %q", text, title, utc)
	}
}

// A link leads from the values beside the buttons to all values of the results, and unfolds them.
func TestMoreValuesUnfold(t *testing.T) {
	s := askedDemo(t)
	url, p := visited(t, s)
	p.Open(url + "/a/" + anAsked)
	open := func() bool { return webtest.Eval[bool](p, `document.querySelector("#results").parentElement.open`) }
	if open() {
		t.Fatal("the results are not folded")
	}
	p.Click(`a[href="#results"]`)
	if !open() {
		t.Error("the link does not unfold the results")
	}
}
