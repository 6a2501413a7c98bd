package web

import (
	"net/http"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
)

// Who decides and how is what the page itself knows: no field of a form says it.
func TestWhoDecidesIsNoField(t *testing.T) {
	s := newSite(t)
	form := s.answer("approve", "by", "key:0123456789abcdef", "channel", "cli", "assurance", "signed", "key", "0123456789abcdef",
		"signature", strings.Repeat("A", 86)+"==", "at", "2020-01-01T00:00:00Z", "executes", "sha256:"+longHash, "approval", "ap_00000000000000b2", "principal", "local:0")
	if w := s.post("/a/"+anAsked, form); w.Code != http.StatusSeeOther || len(s.decided) != 1 {
		t.Fatalf("= %d, decided %d", w.Code, len(s.decided))
	}
	d := s.decided[0]
	if d.By != "local:1000" || d.Channel != "page" || d.Key != "" || d.Signature != "" || !d.At.Equal(began) || d.Executes != s.asked[0].Digest || d.Approval != anAsked {
		t.Errorf("decided: %+v", d)
	}
}

// A passphrase signs nothing for a row whose digest is not that of its call, and is not even tried.
func TestTamperedRowIsNotSigned(t *testing.T) {
	s := newSite(t)
	s.enroll(t)
	s.asked[0].Question.Args["amount_usd"] = 9000.0
	s.refuse = &patterns.NotOpen{Why: patterns.WhyChanged, Asked: s.asked[0]}
	w := s.post("/a/"+anAsked, s.answer("approve", "key_id", s.signer.id, "passphrase", rightPhrase))
	if w.Code != http.StatusConflict || len(s.tried) != 0 || len(s.decided) != 1 || s.decided[0].Signature != "" || s.decided[0].Digest == s.asked[0].Question.Digest() {
		t.Errorf("= %d, tried %d, decided %+v; want 409, none, one unsigned about the row's digest", w.Code, len(s.tried), s.decided)
	}
}

// A thief of the cookie, and even of the CSRF token, of a person who decides with a key, decides nothing: the passphrase
// is in neither.
func TestStolenCookieSignsNothing(t *testing.T) {
	s := newSite(t)
	s.enroll(t)
	door := newPorch(t)
	cookie, csrf := door.signIn()
	door.config.Pages = s.pages
	for _, choice := range []string{"approve", "edit"} {
		form := s.answer(choice, "csrf", csrf, "edit.amount_usd", map[string]string{"approve": "1200", "edit": "800"}[choice])
		w := door.do(asks{method: "POST", path: "/a/" + anAsked, cookie: cookie, form: form})
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "Only a decision that an approver key signs") {
			t.Errorf("%s = %d: %s", choice, w.Code, mainOf(w.Body.String()))
		}
	}
	w := door.do(asks{method: "POST", path: "/a/" + anAsked, cookie: cookie, form: s.answer("reject", "csrf", csrf)})
	if s.asked[0].State != patterns.AskedOpen || s.asked[0].Given != nil {
		t.Errorf("decided: %+v (%d)", s.asked[0].Given, w.Code)
	}
	if d := gateway.NewRing(s.keys); !d.Counts(began) {
		t.Error("no key counts, and nothing was tried")
	}
}
