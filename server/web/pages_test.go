package web

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// fill puts runs and questions of every kind into a site.
func (s *site) fill(t testing.TB) {
	t.Helper()
	h := &history{t: t}
	h.start(`{"goal":"refund user 42"}`)
	h.effect(0.1, 0.4, "decide#1", `{"effect_kind":"model","name":"next","input":{}}`, `{"state":"ok","output":"{}","usage":{"llm_calls":1,"input_tokens":8,"output_tokens":2}}`)
	h.effect(0.5, 0.8, "get_refund_context#1", tool("get_refund_context", "read", `{"user_id":42}`), `{"state":"failed","reason":"error"}`)
	h.effect(0.9, 1.2, "get_refund_context#2", tool("get_refund_context", "read", `{"user_id":42}`), `{"state":"ok","output":{"paid":1500}}`)
	h.add(1.3, patterns.JudgedEvent, "", `{"phase":"supervisor","proposal":{"name":"issue_refund","args":{}},"decision":"escalate","rule":"high_refund_requires_human"}`)
	h.effect(1.4, 0, "human#1", `{"effect_kind":"human","name":"approve","input":{"action":{"name":"issue_refund"}},"rule":"high_refund_requires_human"}`, "")
	s.records[aRun] = h.events
	s.plans[aPlan] = everyStatus()
	for i, status := range []string{"waiting", "ok", "stopped", "running"} {
		s.rows = append(s.rows, patterns.RunRow{RunID: fmt.Sprintf("run_%016x", 0xa1+i), Pattern: "refund_supervisor", Status: status, Began: began, Summary: "so far"})
	}
	for i, state := range []patterns.AskedState{patterns.AskedDecided, patterns.AskedExpired, patterns.AskedOver, patterns.AskedOpen} {
		s.ask(fmt.Sprintf("ap_%016x", 0xb2+i), map[string]any{"user_id": 1.0, "amount_usd": 1.0, "reason": "x"}).State = state
	}
	s.asked[1].Given = &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseReject, By: "local:1000", At: began}, Channel: "cli", Assurance: gateway.UserAssurance}
}

func TestStatuses(t *testing.T) {
	for name, test := range map[string]struct {
		method, path string
		form         url.Values
		status       int
		says         string // on the page
	}{
		"inbox":               {"GET", "/", nil, 200, "2 calls wait for your decision"},
		"inbox, head":         {"HEAD", "/", nil, 200, ""},
		"inbox, next page":    {"GET", "/?cursor=from1", nil, 200, "Newest"},
		"inbox, no cursor":    {"GET", "/?cursor=x", nil, 400, "does not name a page"},
		"inbox, post":         {"POST", "/", url.Values{}, 405, "takes only GET, HEAD"},
		"open":                {"GET", "/a/" + anAsked, nil, 200, "The call that would run"},
		"decided":             {"GET", "/a/ap_00000000000000b2", nil, 200, "Rejected"},
		"expired":             {"GET", "/a/ap_00000000000000b3", nil, 200, "Not decided in time"},
		"over":                {"GET", "/a/ap_00000000000000b4", nil, 200, "The run ended without a decision"},
		"no such question":    {"GET", "/a/ap_0000000000000000", nil, 404, "no such question"},
		"no id":               {"GET", "/a/AP_1", nil, 404, "no such question"},
		"a path for an id":    {"GET", "/a/..%2f..%2fetc", nil, 404, ""},
		"delete":              {"DELETE", "/a/" + anAsked, nil, 405, "takes only GET, HEAD, POST"},
		"runs":                {"GET", "/r", nil, 200, "run_00000000000000a4"},
		"runs that wait":      {"GET", "/r?status=waiting&pattern=refund_supervisor", nil, 200, "run_00000000000000a1"},
		"no run":              {"GET", "/r?pattern=x", nil, 200, "No run matches"},
		"no status":           {"GET", "/r?status=done", nil, 400, "no other status"},
		"runs, no cursor":     {"GET", "/r?cursor=x", nil, 400, "does not name a page"},
		"run":                 {"GET", "/r/" + aRun, nil, 200, "attempt 2"},
		"no such run":         {"GET", "/r/run_0000000000000000", nil, 404, "no such run"},
		"no run id":           {"GET", "/r/1", nil, 404, "no such run"},
		"receipt":             {"GET", "/r/" + aRun + "/receipt", nil, 200, "patterngate runs verify " + aRun},
		"no receipt":          {"GET", "/r/run_0000000000000000/receipt", nil, 404, "no such run"},
		"export":              {"GET", "/r/" + aRun + "/export", nil, 200, `{"kind":"patterngate.export"`},
		"verify":              {"POST", "/r/" + aRun + "/verify", url.Values{"csrf": {theCSRF}}, 200, "ok: 9 events"},
		"verify, get":         {"GET", "/r/" + aRun + "/verify", nil, 405, "takes only POST"},
		"verify, no csrf":     {"POST", "/r/" + aRun + "/verify", url.Values{}, 403, "not made for this sign-in"},
		"decide, no csrf":     {"POST", "/a/" + anAsked, url.Values{"decision": {"approve"}}, 403, "not made for this sign-in"},
		"decide, other csrf":  {"POST", "/a/" + anAsked, url.Values{"csrf": {"x"}}, 403, "Nothing was decided"},
		"csrf in the address": {"POST", "/a/" + anAsked + "?csrf=" + theCSRF, url.Values{}, 403, "not made for this sign-in"},
		"no button":           {"POST", "/a/" + anAsked, url.Values{"csrf": {theCSRF}}, 400, "No button was pressed"},
		"another decision":    {"POST", "/a/" + anAsked, url.Values{"csrf": {theCSRF}, "decision": {"maybe"}}, 400, "approve, edit or reject"},
		"no digest":           {"POST", "/a/" + anAsked, url.Values{"csrf": {theCSRF}, "decision": {"approve"}}, 400, "digest is sha256:"},
		"nothing to decide":   {"POST", "/a/ap_0000000000000000", url.Values{"csrf": {theCSRF}}, 404, "no such question"},
		"a long form":         {"POST", "/a/" + anAsked, url.Values{"csrf": {theCSRF}, "comment": {strings.Repeat("x", 64<<10)}}, 413, "64 KiB"},
		"nowhere":             {"GET", "/x", nil, 404, "no such page"},
		"an asset":            {"GET", "/style.css", nil, 404, "no such page"},
	} {
		s := newSite(t)
		s.fill(t)
		w := s.ask1(test.method, test.path, test.form)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) {
			t.Errorf("%s: %s %s = %d, want %d with %q\n%s", name, test.method, test.path, w.Code, test.status, test.says, mainOf(w.Body.String()))
		}
		if len(s.decided) > 0 {
			t.Errorf("%s: something was decided: %+v", name, s.decided)
		}
		if test.status == 405 && w.Header().Get("Allow") == "" {
			t.Errorf("%s: no Allow", name)
		}
	}
}

// mainOf is a page without its style and script.
func mainOf(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	page, _, _ = strings.Cut(page, "</main>")
	return page
}

// A fault of the state file is told without its words.
func TestFaults(t *testing.T) {
	for _, path := range []string{"/", "/a/" + anAsked, "/r", "/r/" + aRun, "/r/" + aRun + "/receipt", "/r/" + aRun + "/export"} {
		s := newSite(t)
		s.fault = errors.New("disk I/O error in /home/x/state.db")
		var log strings.Builder
		s.pages.config.Log = slog.New(slog.NewTextHandler(&log, nil))
		if w := s.get(path); w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "state.db") {
			t.Errorf("%s = %d %s, want 503 without the cause", path, w.Code, mainOf(w.Body.String()))
		}
		if !strings.Contains(log.String(), "disk I/O error") {
			t.Errorf("%s: the log does not say why: %q", path, log.String())
		}
	}
}

// Without a sign-in there is no form that works, and no navigation.
func TestNoSession(t *testing.T) {
	s := newSite(t)
	w := newRecorder(s, "POST", "/a/"+anAsked, "decision=approve&csrf=&digest="+s.asked[0].Digest)
	if w.Code != http.StatusForbidden || len(s.decided) > 0 || strings.Contains(w.Body.String(), "Sign out") {
		t.Errorf("a form without a session = %d, decided %v", w.Code, s.decided)
	}
}

var (
	tagOf      = regexp.MustCompile(`<[^>]*>`)
	idOf       = regexp.MustCompile(`\sid="([^"]*)"`)
	inputOf    = regexp.MustCompile(`<(?:input|select|textarea)\b[^>]*>`)
	headingOf  = regexp.MustCompile(`<h([1-6])`)
	forbidden  = regexp.MustCompile(`(?i)\s(style|on[a-z]+|srcdoc)\s*=|javascript:|<(iframe|object|embed|base|img|link)\b`)
	sourceOf   = regexp.MustCompile(`(?s)<(style|script)>(.*?)</`)
	everywhere = []string{"/", "/a/" + anAsked, "/a/ap_00000000000000b2", "/r", "/r/" + aRun, "/r/" + aRun + "/receipt", "/p/" + aPlan, "/x"}
)

// Every page is one that the policy lets work and that everybody can read: one style and one script with the hashes of the policy,
// nothing inline besides, a language, a title of its own, one h1, headings in order, a label for each field, ids once.
func TestPagesAreSound(t *testing.T) {
	titles := map[string]string{}
	for _, enrolled := range []bool{false, true} {
		s := newSite(t)
		s.fill(t)
		if enrolled {
			s.enroll(t)
		}
		for _, path := range everywhere {
			page := s.get(path).Body.String()
			for _, source := range sourceOf.FindAllStringSubmatch(page, -1) {
				sum := sha256.Sum256([]byte(source[2]))
				if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy(), source[1]+"-src "+want) {
					t.Errorf("%s: the policy does not allow its %s", path, source[1])
				}
			}
			if found := forbidden.FindString(sourceOf.ReplaceAllString(page, "")); found != "" {
				t.Errorf("%s: %q", path, found)
			}
			for _, part := range []string{`<!doctype html>`, `<html lang="en">`, `<main id="main"`, `href="#main"`, `name="viewport"`} {
				if !strings.Contains(page, part) {
					t.Errorf("%s: no %s", path, part)
				}
			}
			checkHeadings(t, path, page)
			checkLabels(t, path, page)
			_, title, _ := strings.Cut(page, "<title>")
			title, _, _ = strings.Cut(title, "</title>")
			if before, known := titles[title]; known && before != path {
				t.Errorf("%s and %s have one title: %s", path, before, title)
			}
			titles[title] = path
		}
	}
}

func checkHeadings(t *testing.T, path, page string) {
	t.Helper()
	level, first := 0, 0
	for _, h := range headingOf.FindAllStringSubmatch(page, -1) {
		now := int(h[1][0] - '0')
		if now == 1 {
			first++
		}
		if now > level+1 {
			t.Errorf("%s: h%d after h%d", path, now, level)
		}
		level = now
	}
	if first != 1 {
		t.Errorf("%s: %d h1", path, first)
	}
}

func checkLabels(t *testing.T, path, page string) {
	t.Helper()
	seen := map[string]bool{}
	for _, id := range idOf.FindAllStringSubmatch(page, -1) {
		if seen[id[1]] {
			t.Errorf("%s: id %s twice", path, id[1])
		}
		seen[id[1]] = true
	}
	for _, input := range inputOf.FindAllString(page, -1) {
		id := idOf.FindStringSubmatch(input)
		if !strings.Contains(input, `type="hidden"`) && (id == nil || !strings.Contains(page, `<label for="`+id[1]+`"`)) {
			t.Errorf("%s: no label for %s", path, input)
		}
	}
}

// The call stands first, whole; what a client or model wrote stands last, folded.
func TestOrderOfApproval(t *testing.T) {
	s := newSite(t)
	s.fill(t)
	long := strings.Repeat("very ", 50_000) + "end"
	s.asked[0].Question.Args["reason"] = long
	s.asked[0].Digest = s.asked[0].Question.Digest()
	page := mainOf(s.get("/a/" + anAsked).Body.String())
	at := -1
	for _, part := range []string{
		"<h1><bdi>Refund 1200.00 USD to user 42</bdi></h1>", "The call that would run", "issue_refund", long, "high_refund_requires_human", "Your decision", "2026-11-22 09:30:00 UTC", "in 1 d 00 h",
		`name="decision" value="approve"`, "Any program of the same user", "Other calls of this run", "What this run has done so far", "Details for engineers", "assurance user", `<code class="hash">` + s.asked[0].Digest, "<details class=\"claims\">", "refund user 42",
	} {
		next := strings.Index(strings.ToLower(page), strings.ToLower(part))
		if next < at {
			t.Errorf("%.60q stands at %d, before %d", part, next, at)
		}
		at = next
	}
	call, _, _ := strings.Cut(page, `aria-labelledby="why"`)
	if strings.Contains(call, "<details") || !strings.Contains(page, "Not to be changed here") {
		t.Error("the call is folded, or its endless argument is offered for changes")
	}
	if w := s.post("/a/"+anAsked, s.answer("approve")); w.Code != http.StatusSeeOther {
		t.Errorf("a call with a long argument cannot be approved: %d", w.Code)
	}
}

// The page of a run says that no call returned a result.
func TestRunPageAnswered(t *testing.T) {
	s := newSite(t)
	h := &history{t: t}
	h.start(`{"goal":"x"}`)
	h.add(2, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success","envelope":{"answered":"no"}}`)
	s.records[aRun] = h.events
	if page := mainOf(s.get("/r/" + aRun).Body.String()); !strings.Contains(page, "<dt>Results</dt><dd>no call returned a result</dd>") {
		t.Errorf("it does not say so:\n%s", page)
	}
}

func TestRunPage(t *testing.T) {
	s := newSite(t)
	s.fill(t)
	s.snapshots[aRun] = patterns.Snapshot{State: patterns.Parked, Ended: patterns.Ended{Waiting: &patterns.Waiting{
		Phase: "human_approval", SoFar: patterns.Result{Budget: map[string]patterns.Spent{"max_steps": {Limit: 8, Used: 3}}},
	}}}
	page := mainOf(s.get("/r/" + aRun).Body.String())
	for _, part := range []string{
		`<meter aria-labelledby="g0" min="0" max="8" value="3">3 of 8</meter>`, `<svg class="phases"`, "human approval", "Sent to a person by rule high_refund_requires_human",
		"waits for your decision", "waiting", "Receipt", "10 tokens", `<rect class="bad"`, "Approved by rule context_is_read_only",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("no %s in\n%s", part, page)
		}
	}
	s.records[aRun] = append([]patterns.Event(nil), s.records[aRun]...)
	s.records[aRun][3].Body = []byte(`{"effect_kind":"tool","name":"swapped"}`)
	if page := mainOf(s.get("/r/" + aRun).Body.String()); !strings.Contains(page, "The record is broken") || !strings.Contains(page, "event 4: does not follow from the one before") {
		t.Errorf("a changed event is not told: %s", page)
	}
	if page := mainOf(s.post("/r/"+aRun+"/verify", url.Values{"csrf": {theCSRF}}).Body.String()); !strings.Contains(page, "broken: event 4: does not follow from the one before") {
		t.Errorf("the check does not find it: %s", page)
	}
}

func TestRunsPaging(t *testing.T) {
	s := newSite(t)
	for i := range 60 {
		s.rows = append(s.rows, patterns.RunRow{RunID: fmt.Sprintf("run_%016x", i), Pattern: "p & q", Status: "waiting", WaitingKind: "caller", Began: began, Ended: began.Add(time.Second)})
	}
	page := s.get("/r?status=waiting&pattern=" + url.QueryEscape("p & q")).Body.String()
	if strings.Count(page, "<tr>") != 51 || !strings.Contains(page, `href="/r?cursor=next&amp;pattern=p&#43;%26&#43;q&amp;status=waiting"`) && !strings.Contains(page, `href="/r?cursor=next&amp;pattern=p+%26+q&amp;status=waiting"`) {
		t.Errorf("%d rows; want 51 and a link to the next page\n%s", strings.Count(page, "<tr>"), page[max(0, len(page)-4000):])
	}
}

// A plain call asks no model and no rules: its page says so.
func TestPlainCallAskedNone(t *testing.T) {
	s := newSite(t)
	h := &history{t: t}
	h.start(`{}`)
	h.effect(1, 2, "look#1", tool("look", "read", `{}`), `{"state":"ok","output":{}}`)
	h.add(2.5, patterns.NoteEvent, "", `{"what":"takeover","channel":"engine"}`)
	h.add(3, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success","usage":{"llm_calls":0},"envelope":{"usage":{"model":"rules"}}}`)
	s.records[aRun] = h.events
	page := mainOf(s.get("/r/" + aRun).Body.String())
	if !strings.Contains(page, "<dt>Model</dt><dd>none asked</dd>") || strings.Contains(page, "through engine") {
		t.Errorf("the page says something else:\n%s", page)
	}
}
