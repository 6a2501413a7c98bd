package web

import (
	"fmt"
	"strings"
	"testing"
)

// A receipt says what was called with which arguments, and what a person changed of them.
func TestReceiptArguments(t *testing.T) {
	s := newSite(t)
	h := &history{t: t}
	h.start(`{}`)
	h.add(1, "intent", "approve#1", `{"effect_kind":"human","name":"approve","input":{"action":{"name":"issue_refund"}},"object":{"args":{"amount_usd":1200},"expires":"2026-11-22T09:30:00Z"},"digest":"sha256:00"}`)
	h.add(2, "outcome", "approve#1", `{"state":"ok","decision":{"approval":"ap_1","decision":"edit","by":"local:1"},"output":{"args":{"amount_usd":800}},"by":"local:1","assurance":"user"}`)
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf(`"a%02d":%d`, i, i)
	}
	h.effect(3, 4, "issue_refund#1", `{"effect_kind":"tool","name":"issue_refund","effect":"write","grant":"ap_1",
		"input":{"amount_usd":800,"card":{"$redacted":"sha256:00"},"note":"\u001b\u202e<b>","reason":"`+strings.Repeat("x", 300)+`"}}`, `{"state":"ok","output":{}}`)
	h.effect(5, 6, "look#1", tool("look", "read", `{}`), `{"state":"ok","output":{}}`)
	h.effect(7, 8, "look#2", tool("look", "read", `{`+strings.Join(many, ",")+`}`), `{"state":"ok","output":{}}`)
	h.effect(9, 10, "look#3", tool("look", "read", `[1]`), `{"state":"ok","output":{}}`)
	s.records[aRun] = h.events
	page := s.get("/r/" + aRun + "/receipt").Body.String()
	for _, part := range []string{
		`<code><bdi>amount_usd</bdi>: <bdi>800</bdi></code>`, `<bdi>card</bdi>: <bdi>redacted</bdi>`, `<bdi>&#34;\u001b\u202e&lt;b&gt;&#34;</bdi>`,
		strings.Repeat("x", 199) + `... (302 bytes in all)</bdi>`, `<code>amount_usd from 1200 to 800</code>`, `<li>None.</li>`,
		`<bdi>a31</bdi>: <bdi>31</bdi></code></li><li>And 8 more arguments.</li>`, `<li>They cannot be read.</li>`,
	} {
		if !strings.Contains(page, part) {
			t.Errorf("no %s in\n%s", part, mainOf(page))
		}
	}
}

// A receipt and a timeline say of an act that was done before that nothing was sent, and of one that took several attempts
// that it is one.
func TestReceiptTellsActsOnce(t *testing.T) {
	s := newSite(t)
	h := &history{t: t}
	h.start(`{}`)
	pay := func(act string) string {
		return `{"effect_kind":"tool","name":"pay","effect":"write","idempotency_key":"` + act + `","input":{}}`
	}
	h.effect(1, 2, "pay#1", pay("a"), `{"state":"unknown","reason":"broken_reply"}`)
	h.effect(3, 4, "pay#2", pay("a"), `{"state":"ok","output":{}}`)
	h.effect(5, 6, "pay#3", pay("b"), `{"state":"duplicate","output":{}}`)
	s.records[aRun] = h.events
	for place, parts := range map[string][]string{"/receipt": {"done, in 2 attempts", "done before; nothing was sent again"}, "": {"done before; nothing was sent again"}} {
		page := s.get("/r/" + aRun + place).Body.String()
		for _, part := range parts {
			if strings.Count(page, part) != 1 {
				t.Errorf("%q: not one %q in\n%s", place, part, mainOf(page))
			}
		}
	}
}

// A receipt of more than a page holds is cut, and says where.
func TestReceiptFull(t *testing.T) {
	s := newSite(t)
	h := &history{t: t}
	h.start(`{}`)
	args := make([]string, 32)
	for i := range args {
		args[i] = fmt.Sprintf(`"a%02d":"%s"`, i, strings.Repeat("\u202e", 60))
	}
	big := tool("look", "read", "{"+strings.Join(args, ",")+"}")
	for i := range maxRows + 3 {
		input := big
		if i > 100 {
			input = tool("look", "read", "{}")
		}
		h.effect(float64(i), float64(i), fmt.Sprintf("look#%d", i), input, "")
	}
	for i := range maxRows + 2 {
		h.add(float64(maxRows+i), "judged", "", `{"phase":"policy_review","proposal":{"name":"pay"},"decision":"block","rule":"none","reason":"no"}`)
	}
	s.records[aRun] = h.events
	page := s.get("/r/" + aRun + "/receipt").Body.String()
	if len(page) > 3<<20 {
		t.Errorf("a page of %d bytes; want at most 3 MiB", len(page))
	}
	for _, part := range []string{"Not shown, because this page is full.", "And 3 more calls. See the export of the run.", "And 2 more proposals. See the export of the run."} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not say %q", part)
		}
	}
}
