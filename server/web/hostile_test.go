package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/web/wording"
)

// payloads are texts that outsiders may write wherever they write.
var payloads = map[string]string{
	"html":      `</pre></textarea></title></script></style><script>alert(1)</script><img src=x onerror=alert(1)>`,
	"attribute": `" autofocus onfocus="alert(1)' x='`,
	"link":      `https://evil.example/ [x](javascript:alert(1)) <a href="//evil.example">x</a>`,
	"template":  `{{.CSRF}}{{template "head"}}${x}`,
	"terminal":  "\x1b[2J\x1b]8;;http://evil.example\x07x\x00\x9b31m\u009b",
	"bidi":      "\u202eevorppa\u202c\u2066\u200b\u061c\ufeff\U000e0041",
	"lines":     "a\r\n\r\nb\u2028c",
	"no UTF-8":  "a\xff\xfe<b>",
	"zalgo":     "a" + strings.Repeat("\u0301", 5000),
	"endless":   strings.Repeat("<b>A\u202e", 30<<10/7),
}

// poisoned is a site in which every word that an outsider may choose is the payload.
func poisoned(t *testing.T, payload string) *site {
	t.Helper()
	s := newSite(t)
	text := string(ijson.Canonical(payload))
	h := &history{t: t}
	h.start(`{"goal":` + text + `,` + text + `:1}`)
	h.events[0].Body = []byte(strings.ReplaceAll(strings.ReplaceAll(string(h.events[0].Body), `"claude-ai"`, text), `"local:1000"`, text))
	key := strings.ToValidUTF8(payload[:min(len(payload), 500)], "?")
	h.effect(1, 2, key+"#1", `{"effect_kind":"model","name":`+text+`,"input":{"goal":`+text+`}}`, `{"state":"ok","output":`+text+`}`)
	h.effect(3, 4, key+"/x#1", `{"effect_kind":"tool","effect":`+text+`,"name":`+text+`,"input":{`+text+`:`+text+`},"grant":`+text+`,"phase":`+text+`,"verdict":{"decision":`+text+`,"rule":`+text+`,"reason":`+text+`,"revisions":[`+text+`]}}`, `{"state":`+text+`,"reason":`+text+`,"output":`+text+`}`)
	h.add(5, patterns.JudgedEvent, "", `{"phase":`+text+`,"proposal":{"name":`+text+`},"decision":`+text+`,"rule":`+text+`,"reason":`+text+`}`)
	h.add(6, patterns.NoteEvent, "", `{"what":`+text+`,"by":`+text+`,"channel":`+text+`,"reason":`+text+`}`)
	h.effect(7, 8, "human#1", `{"effect_kind":"human","name":"approve","input":{"action":{"name":`+text+`}},"rule":`+text+`}`, `{"state":"ok","output":{"decision":`+text+`,"approved":true,"comment":`+text+`,"by":`+text+`,"assurance":`+text+`}}`)
	h.add(9, "what<b>", key, `{}`)
	h.add(10, patterns.EndEvent, "", `{"status":`+text+`,"stop_reason":`+text+`,"phase":`+text+`,"envelope":{"budget":{`+text+`:{"limit":1,"used":1}}},"usage":{"model":`+text+`,"llm_calls":1}}`)
	s.records[aRun] = h.events
	s.rows = []patterns.RunRow{{RunID: aRun, Pattern: payload, Principal: payload, Status: payload, StopReason: payload, Summary: payload, WaitingKind: payload}, {RunID: payload, Status: "stopped", StopReason: payload}}
	s.asked = nil
	args := map[string]any{"reason": strings.ToValidUTF8(payload, "?"), strings.ToValidUTF8(payload[:min(len(payload), 2000)], "?"): []any{strings.ToValidUTF8(payload, "?")}, "amount_usd": 1.0, "user_id": 1.0}
	s.ask(anAsked, args)
	closed := s.ask("ap_00000000000000b2", args)
	closed.State = patterns.AskedDecided
	closed.Given = &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseEdit, Comment: payload, By: payload, Key: payload}, Args: map[string]any{"reason": "x"}, Channel: payload, Assurance: gateway.SignedAssurance}
	for i := range s.asked {
		a := &s.asked[i]
		a.Phrase, a.Rule, a.Reason, a.Pattern, a.Principal, a.Phase, a.Question.Tool, a.Effect = payload, payload, payload, payload, payload, payload, payload, catalog.Effect(payload)
		a.Digest = a.Question.Digest()
	}
	return s
}

var hostilePaths = []string{"/", "/a/" + anAsked, "/a/ap_00000000000000b2", "/r", "/r/" + aRun, "/r/" + aRun + "/receipt", "/r?pattern=%3Cscript%3E%E2%80%AE"}

// tagNames are the tags of a page in order, with the names of their attributes.
var attributeValue = regexp.MustCompile(`="[^"]*"`)

func tagNames(page string) map[string]bool {
	names := map[string]bool{}
	for _, tag := range tagOf.FindAllString(sourceOf.ReplaceAllString(page, ""), -1) {
		names[attributeValue.ReplaceAllString(tag, "")] = true
	}
	return names
}

// Whatever outsiders write wherever they may, no page has a tag or an attribute that none of ours has, nothing in it acts, its title
// and its links are ours, and it stays bounded but for the call itself.
func TestHostileText(t *testing.T) {
	ours := map[string]bool{}
	for _, name := range hostilePaths {
		for tag := range tagNames(poisoned(t, "plain words").get(name).Body.String()) {
			ours[tag] = true
		}
	}
	for tag := range tagNames(poisoned(t, "several\nlines").get("/a/" + anAsked).Body.String()) {
		ours[tag] = true
	}
	for name, payload := range payloads {
		s := poisoned(t, payload)
		for _, path := range hostilePaths {
			w := s.get(path)
			page := w.Body.String()
			if w.Code != http.StatusOK {
				t.Errorf("%s: %s = %d", name, path, w.Code)
			}
			for tag := range tagNames(page) {
				if !ours[tag] {
					t.Errorf("%s: %s has %.200s", name, path, tag)
				}
			}
			checkHarmless(t, name+": "+path, page)
			if limit := 4 << 20; !strings.HasPrefix(path, "/a/") && len(page) > limit {
				t.Errorf("%s: %s has %d bytes", name, path, len(page))
			}
		}
	}
}

func checkHarmless(t *testing.T, what, page string) {
	t.Helper()
	text := sourceOf.ReplaceAllString(page, "")
	for i, r := range strings.Join(strings.Split(text, "\n"), "") {
		if wording.Visible(string(r)) != string(r) && r != '\n' {
			t.Errorf("%s: U+%04X at %d", what, r, i)
			break
		}
	}
	for _, link := range regexp.MustCompile(`(?:href|action)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if to := link[1]; to != "" && !strings.HasPrefix(to, "#") && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//")) {
			t.Errorf("%s: a link to %.100s", what, to)
		}
	}
	if strings.Contains(text, "{{") && !strings.Contains(text, "{{.CSRF}}") { // the payload itself may stand there
		t.Errorf("%s: a template", what)
	}
	_, title, _ := strings.Cut(text, "<title>")
	if title, _, _ = strings.Cut(title, "</title>"); !regexp.MustCompile(`^(Inbox(: 1 waiting)?|Runs|Plan plan_\w+|Decide ap_\w+|Decided ap_\w+|Run run_\w+|Receipt of run_\w+) · Patterngate$`).MatchString(title) {
		t.Errorf("%s: title %.100q", what, title)
	}
}

// The call's own texts are whole, however long.
func TestCallIsWhole(t *testing.T) {
	s := newSite(t)
	long := strings.Repeat("0123456789", 100_000) + "the end"
	s.asked[0].Question.Args["reason"] = long
	if page := s.get("/a/" + anAsked).Body.String(); !strings.Contains(page, long) {
		t.Error("a megabyte of an argument is not shown whole")
	}
}

// A megabyte of a goal, of an observation and of a comment is cut where it is no call.
func TestMegabyte(t *testing.T) {
	s := newSite(t)
	h := &history{t: t}
	text := string(ijson.Canonical(strings.Repeat("<b>\u202e", 1<<20/6)))
	h.start(`{"goal":` + text + `}`)
	h.effect(1, 2, "look#1", tool("look", "read", `{"a":1}`), `{"state":"ok","output":`+text+`}`)
	h.effect(3, 4, "human#1", `{"effect_kind":"human","name":"approve","input":{"action":{"name":"x"}}}`, `{"state":"ok","output":{"approved":true,"comment":`+text+`}}`)
	s.records[aRun] = h.events
	for _, path := range []string{"/a/" + anAsked, "/r/" + aRun, "/r/" + aRun + "/receipt"} {
		page := s.get(path).Body.String()
		if len(page) > 512<<10 || strings.Contains(page, "<b>") || strings.Contains(page, "\u202e") || !strings.Contains(page, "Cut: the first 65,536 of 1,") {
			t.Errorf("%s has %d bytes", path, len(page))
		}
	}
}

// Of a long run the page of a question shows the beginning, and says how much it does not.
func TestLongRun(t *testing.T) {
	s := newSite(t)
	h := &history{t: t}
	h.start(`{}`)
	for i := range maxRows + 2 {
		h.effect(float64(i), float64(i), fmt.Sprintf("look#%d", i), tool("look", "read", `{}`), `{"state":"ok"}`)
	}
	s.records[aRun] = h.events
	page := s.get("/a/" + anAsked).Body.String()
	if got := strings.Count(page, "<code>look</code>"); got != maxRows || !strings.Contains(page, "And 2 more calls.") {
		t.Errorf("%d calls are shown, want %d and that there are 2 more", got, maxRows)
	}
}

// A record of many large steps makes a page that is bounded, and says what is cut.
func TestLargeRecord(t *testing.T) {
	s := newSite(t)
	h := &history{t: t}
	h.start(`{}`)
	large := string(ijson.Canonical(strings.Repeat("<x>", 30_000)))
	for i := range 100 {
		h.effect(float64(i), float64(i)+0.5, fmt.Sprintf("look#%d", i+1), tool("look", "read", `{"a":1}`), `{"state":"ok","output":`+large+`}`)
	}
	s.records[aRun] = h.events
	page := s.get("/r/" + aRun).Body.String()
	if len(page) > 6<<20 || !strings.Contains(page, "Cut: the first 8,192 of 90,002 bytes are shown. The whole is in the export.") {
		t.Errorf("%d bytes", len(page))
	}
}
