package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// decidedBy is the record of a run whose call a key decided about, after an attempt in the key's name that was refused.
func decidedBy(t *testing.T, s *site, choice gateway.Choice) *history {
	t.Helper()
	q := s.asked[0].Question
	answer := gateway.Answered(anAsked, q, choice, nil)
	answer.By, answer.Key, answer.At = "key:"+s.signer.id, s.signer.id, began.Add(time.Hour)
	h := &history{t: t}
	h.start(`{"goal":"refund user 42"}`)
	h.add(1, patterns.IntentEvent, "approve#1", `{"effect_kind":"human","name":"approve","rule":"high_refund_requires_human","object":`+string(q.Object())+`,"digest":"`+q.Digest()+`","input":{"action":{"name":"issue_refund"}}}`)
	h.add(3000, patterns.JudgedEvent, "", `{"phase":"human_approval","decision":"refused","reason":"approval_invalid","proposal":{"approval":"`+anAsked+`","by":"key:`+s.signer.id+`","key":"`+s.signer.id+`","digest":"sha256:00"}}`)
	said := map[string]any{"approved": choice != gateway.ChooseReject, "by": answer.By, "key_id": answer.Key, "approval_id": anAsked, "decided_at": "2026-11-21T10:30:00Z", "comment": ""}
	h.add(3601, patterns.OutcomeEvent, "approve#1", `{"state":"ok","by":"`+answer.By+`","channel":"page","assurance":"signed","output":`+string(ijson.Canonical(said))+`,"decision":`+string(answer.Object())+`,"signature":"`+s.signer.Sign(answer.Message())+`"}`)
	return h
}

// Keys are called by their names, and an attempt in a key's name is not taken for the key's.
func TestKeysHaveNames(t *testing.T) {
	s := newSite(t)
	s.enroll(t)
	h := decidedBy(t, s, gateway.ChooseReject)
	s.records[aRun] = h.events
	key := "key " + s.signer.id + " (laptop)"
	for path, parts := range map[string][]string{
		"/r/" + aRun:              {"Answer: rejected by " + key, "An attempt to decide " + anAsked + " was refused", "In the name of " + key, "Refused as approval_invalid"},
		"/r/" + aRun + "/receipt": {"rejected by " + key, "an attempt to decide " + anAsked + " was refused"},
	} {
		page := mainOf(s.get(path).Body.String())
		for _, part := range parts {
			if !strings.Contains(page, part) {
				t.Errorf("%s: no %q in\n%s", path, part, page)
			}
		}
		if strings.Contains(page, "is broken") {
			t.Errorf("%s: a whole record is called broken\n%s", path, page)
		}
	}
}

// A record whose chain is whole is broken all the same where the key that is said to have decided did not sign.
func TestForgedDecisionIsBroken(t *testing.T) {
	s := newSite(t)
	s.enroll(t)
	signer := s.signer
	s.enroll(t) // another key, which signs in the name of the first
	s.signer.id = signer.id
	s.records[aRun] = decidedBy(t, s, gateway.ChooseApprove).events
	if page := mainOf(s.get("/r/" + aRun).Body.String()); !strings.Contains(page, "The record is broken") || !strings.Contains(page, "event 4:") {
		t.Errorf("the page of a run with a forged decision does not say so\n%s", page)
	}
	if page := mainOf(s.post("/r/"+aRun+"/verify", url.Values{"csrf": {theCSRF}}).Body.String()); !strings.Contains(page, "broken: event 4:") || strings.Contains(page, "The record is broken") {
		t.Errorf("the check does not say it, once\n%s", page)
	}
}

// What a no comes to depends on the run, and a run that has ended is not to be resumed.
func TestHowItGoesOn(t *testing.T) {
	for name, test := range map[string]struct {
		kind   string // of the pattern
		choice gateway.Choice
		ended  bool
		says   string
		resume bool
	}{
		"no, supervised":        {"supervisor", gateway.ChooseReject, false, "", true},
		"no, tasks":             {"orchestrator", gateway.ChooseReject, false, "", true},
		"no, ended":             {"supervisor", gateway.ChooseReject, true, "The run has ended.", false},
		"yes, ended":            {"supervisor", gateway.ChooseApprove, true, "The run has ended.", false},
		"yes":                   {"supervisor", gateway.ChooseApprove, false, "", true},
		"no, supervised, alive": {"supervisor", gateway.ChooseReject, false, "The run stops here", false},
		"no, tasks, alive":      {"orchestrator", gateway.ChooseReject, false, "it stops, or continues without the call", false},
		"yes, alive":            {"supervisor", gateway.ChooseApprove, false, "The run continues by itself.", false},
	} {
		s := newSite(t)
		s.alive = strings.Contains(name, "alive")
		h := &history{t: t}
		h.add(0, patterns.StartEvent, "", `{"run_id":"`+aRun+`","pattern":"p","pattern_kind":"`+test.kind+`","principal":"local:1000","arguments":{}}`)
		if test.ended {
			h.add(2, patterns.EndEvent, "", `{"status":"stopped","stop_reason":"human_rejected"}`)
		}
		s.records[aRun] = h.events
		if w := s.post("/a/"+anAsked, s.answer(string(test.choice))); w.Code != http.StatusSeeOther {
			t.Fatalf("%s: %d", name, w.Code)
		}
		page := mainOf(s.get("/a/" + anAsked).Body.String())
		if !strings.Contains(page, test.says) || strings.Contains(page, "patterngate runs resume") != test.resume || !strings.Contains(page, "continue "+aRun) {
			t.Errorf("%s: want %q, resume %v in\n%s", name, test.says, test.resume, page)
		}
	}
}

// Times are written in one way, and are never broken.
func TestTimesOfAReceipt(t *testing.T) {
	s := newSite(t)
	s.enroll(t)
	h := decidedBy(t, s, gateway.ChooseApprove)
	h.effect(3602, 3603, "issue_refund#1", `{"effect_kind":"tool","name":"issue_refund","effect":"write","input":{"user_id":42},"grant":"`+anAsked+`"}`, `{"state":"ok","output":{}}`)
	s.records[aRun] = h.events
	page := mainOf(s.get("/r/" + aRun + "/receipt").Body.String())
	if want := `(laptop), assurance signed, <time datetime="2026-11-21T10:30:00Z">2026-11-21 10:30:00 UTC</time>`; !strings.Contains(page, want) {
		t.Errorf("no %s in\n%s", want, page)
	}
	if words := tagOf.ReplaceAllString(page, ""); strings.Contains(words, "T10:30:00Z") {
		t.Errorf("a time is written as machines do\n%s", words)
	}
	s.records[aRun] = h.events[:2]
	if page, want := mainOf(s.get("/r/"+aRun+"/receipt").Body.String()), `expires <time datetime="2026-11-22T09:30:00Z">`; !strings.Contains(page, want) {
		t.Errorf("no %s in\n%s", want, page)
	}
	if !strings.Contains(stylesheet, ",time{white-space:nowrap}") {
		t.Error("a time may be broken")
	}
}

// A page that answers a form leads back by a link: to load it again would send the form again.
func TestWayBack(t *testing.T) {
	p := newPorch(t)
	cookie, _ := p.signIn()
	for name, test := range map[string]struct {
		asks
		back string
	}{
		"a form, signed out":          {asks{method: "POST", path: "/a/" + anAsked, form: url.Values{"decision": {"approve"}}}, `<a href="/a/` + anAsked + `">come back to this page</a>`},
		"a form of another sign-in":   {asks{method: "POST", path: "/a/" + anAsked, cookie: cookie, form: url.Values{"csrf": {"x"}}}, `<a href="/a/` + anAsked + `">Open the page again</a>`},
		"a check, signed out":         {asks{method: "POST", path: "/r/" + aRun + "/verify"}, `<a href="/r/` + aRun + `">come back to this page</a>`},
		"a page":                      {asks{method: "GET", path: "/r/" + aRun}, `<a href="/r/` + aRun + `">come back to this page</a>`},
		"signing out, signed out":     {asks{method: "POST", path: "/sign-out"}, ""},
		"a sign-in that was used":     {asks{method: "POST", path: "/sign-in", form: url.Values{"token": {strings.Repeat("A", 43)}}}, ""},
		"an address that is not ours": {asks{method: "GET", path: "//evil.example/"}, ""},
	} {
		w := p.do(test.asks)
		page := mainOf(w.Body.String())
		if !strings.Contains(page, test.back) || test.back == "" && strings.Contains(page, "<a ") || strings.Contains(page, "oad this page again") || w.Header().Get("Refresh") != "" {
			t.Errorf("%s = %d, want %q in\n%s", name, w.Code, test.back, page)
		}
	}
}
