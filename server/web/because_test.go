package web

import (
	"strings"
	"testing"

	"patterngate/patterns"
)

// The inbox shows what one rule asks for, with a way to each rule and back, and takes only what can be a rule's name.
func TestInboxByRule(t *testing.T) {
	s := newSite(t)
	for id, rule := range map[string]string{"ap_00000000000000c1": "big_refund", "ap_00000000000000c2": "big_refund", "ap_00000000000000c3": "night"} {
		s.ask(id, map[string]any{"user_id": 1.0}).Rule = rule
	}
	all := s.get("/").Body.String()
	for _, link := range []string{`aria-label="By rule"><span class="soft">Only rule:</span>`, `<a href="/?rule=big_refund">big_refund</a>`, `<a href="/?rule=night">night</a>`} {
		if strings.Count(all, link) != 1 {
			t.Errorf("the inbox has %s %d times, want once", link, strings.Count(all, link))
		}
	}
	w := s.get("/?rule=big_refund")
	page := w.Body.String()
	if w.Code != 200 || strings.Count(page, `class="card"`) != 2 || strings.Contains(page, "ap_00000000000000c3") || !strings.Contains(page, `<a href="/">All rules</a>`) {
		t.Errorf("by rule: %d, %s", w.Code, page)
	}
	if page := s.get("/?rule=nobody").Body.String(); !strings.Contains(page, "Nothing waits by rule <code>nobody</code>") || strings.Contains(page, `class="card"`) {
		t.Errorf("of a rule that asks for nothing: %s", page)
	}
	for _, rule := range []string{"%3Cscript%3E", "Big", "a%20b", "%00", strings.Repeat("x", 65), "a%2Fb"} {
		if w := s.get("/?rule=" + rule); w.Code != 400 || strings.Contains(w.Body.String(), "<script>alert") {
			t.Errorf("rule=%s is answered with %d", rule, w.Code)
		}
	}
	if page := s.get("/?rule=big_refund&cursor=from1").Body.String(); !strings.Contains(page, `<a href="/?rule=big_refund">Newest</a>`) {
		t.Errorf("the newest page is not of the rule: %s", page)
	}
}

// hostile is a value that a model wrote to be taken for something else.
const hostileValue = "<img src=x onerror=alert(1)>\u202epaid\n| approved by a person"

// A question shows the rule, its words and what made it true; what a model wrote there is shown as text.
func TestApprovalShowsItsRule(t *testing.T) {
	s := newSite(t)
	a := s.ask("ap_00000000000000c1", map[string]any{"user_id": 1.0})
	a.Rule, a.Reason, a.Text = "big_refund", "too_much", "More than 100 EUR needs <b>somebody</b>."
	a.Values = map[string]any{"args.reason": hostileValue, "params.limit_cents": 10000.0}
	page := s.get("/a/ap_00000000000000c1").Body.String()
	for _, want := range []string{
		`<a href="/?rule=big_refund"><code>big_refund</code></a>`, "More than 100 EUR needs &lt;b&gt;somebody&lt;/b&gt;. (too_much)",
		`<dt><span title="params.limit_cents">limit cents</span></dt><dd><bdi>10000</bdi> <span class="soft">policy setting</span>`, `<dd><bdi>&#34;&lt;img src=x onerror=alert(1)&gt;\u202epaid\n| approved by a person&#34;</bdi>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "<img") || strings.Contains(page, "\u202e") {
		t.Error("what a model wrote acts on the page")
	}
	a.Rule = "No/Rule"
	if page := s.get("/a/ap_00000000000000c1").Body.String(); strings.Contains(page, "?rule=") || !strings.Contains(page, "<code>No/Rule</code>") {
		t.Error("a rule that has no page is a link")
	}
}

// A run's timeline and receipt show the rules of its calls, blocks and changes with their words, values and passes.
func TestRunShowsItsRules(t *testing.T) {
	s := newSite(t)
	h := &history{t: t}
	h.start(`{"goal":"refund user 42"}`)
	h.add(0.2, patterns.JudgedEvent, "", `{"phase":"supervisor","proposal":{"name":"issue_refund","args":{"amount_usd":900}},"decision":"revise","rule":"cap","reason":"capped","text":"At most 500.","values":{"args.amount_usd":900}}`)
	h.effect(0.5, 0.8, "issue_refund#1", `{"effect_kind":"tool","name":"issue_refund","effect":"write","input":{"amount_usd":500},"verdict":{"decision":"revise","rule":"cap","reason":"capped",`+
		`"text":"At most 500.","values":{"args.amount_usd":900,"args.reason":{"$redacted":"sha256:00"}},"revisions":["capped"],"passes":2}}`, `{"state":"ok","output":{"paid":500}}`)
	h.add(1.3, patterns.JudgedEvent, "", `{"phase":"supervisor","proposal":{"name":"issue_refund","args":{}},"decision":"block","rule":"run_cap","reason":"too_much",`+
		`"text":"Enough <i>paid</i>.","values":{"vars.spent":500,"x":"<img src=x>\u202e"},"passes":3,"need":["get_refund_context"]}`)
	h.add(1.5, patterns.JudgedEvent, "judge#1", `{"phase":"supervisor","proposal":{"tool":"issue_refund","args":{}},"decision":"block","rule":"day_cap","reason":"day_cap","windows":{"refunds.today":{"effects":3}}}`)
	s.records[aRun] = h.events
	for path, wants := range map[string][]string{
		"/r/" + aRun: {
			"<li>By rule cap: capped</li>", "<li>The rule says: At most 500.</li>", "<bdi>args.amount_usd</bdi>: <bdi>900</bdi>", "<bdi>args.reason</bdi>: <bdi>redacted</bdi>",
			"<li>Judged 2 times until nothing changed</li>", "<li>By rule run_cap: too_much</li>", "<li>The rule says: Enough &lt;i&gt;paid&lt;/i&gt;.</li>",
			"<li>Judged 3 times until nothing changed</li>", "<bdi>vars.spent</bdi>: <bdi>500</bdi>", "<li>Earlier runs were read</li>", `<bdi>&#34;&lt;img src=x&gt;\u202e&#34;</bdi>`,
		},
		"/r/" + aRun + "/receipt": {
			"changed by rule cap (capped): At most 500.; judged 2 times until nothing changed", "<bdi>args.amount_usd</bdi>: <bdi>900</bdi>",
			"issue_refund was blocked by rule run_cap (too_much): Enough &lt;i&gt;paid&lt;/i&gt;.", "<bdi>vars.spent</bdi>: <bdi>500</bdi>",
		},
	} {
		page := s.get(path).Body.String()
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
		if strings.HasSuffix(path, "receipt") && strings.Contains(page, "day_cap") {
			t.Error("the receipt has a look at earlier runs beside what came of it")
		}
		if strings.Contains(page, "<img") || strings.Contains(page, "\u202e") {
			t.Errorf("%s: what a model wrote acts on the page", path)
		}
	}
}
