package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// newRecorder asks without a session.
func newRecorder(s *site, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.pages.ServeHTTP(w, r)
	return w
}

func TestDecide(t *testing.T) {
	for name, test := range map[string]struct {
		form   func(*site) url.Values
		choice gateway.Choice
		args   string // of an edit
		page   string // what the outcome says
		goes   string // and of the run
	}{
		"approve": {func(s *site) url.Values { return s.answer("approve", "comment", "fine\r\nby me") }, gateway.ChooseApprove, "", "Exactly this call may run, once.", "The run continues by itself."},
		"reject":  {func(s *site) url.Values { return s.answer("reject", "edit.amount_usd", "broken") }, gateway.ChooseReject, "", "This call does not run.", "it stops, or continues without the call"},
		"edit": {
			func(s *site) url.Values { return s.answer("edit", "edit.amount_usd", "800", "edit.channel", `"bank"`) }, gateway.ChooseEdit,
			`{"amount_usd":800,"channel":"bank","reason":"late delivery","user_id":42}`, "The policy judges it again before it may run", "The run continues by itself.",
		},
	} {
		s := newSite(t)
		s.alive = true
		w := s.post("/a/"+anAsked, test.form(s))
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/a/"+anAsked || len(s.decided) != 1 || len(s.told) != 1 {
			t.Fatalf("%s = %d to %q, decided %d, told %d\n%s", name, w.Code, w.Header().Get("Location"), len(s.decided), len(s.told), mainOf(w.Body.String()))
		}
		d := s.decided[0]
		want := gateway.Answered(anAsked, s.asked[0].Question, test.choice, d.Args)
		if d.Digest != want.Digest || d.Executes != want.Executes || d.Choice != test.choice || d.By != "local:1000" || d.Channel != "page" || d.Signature != "" || !d.At.Equal(began) {
			t.Errorf("%s: %+v", name, d)
		}
		if got := string(ijson.Canonical(any(d.Args))); test.args != "" && got != test.args {
			t.Errorf("%s: arguments %s, want %s", name, got, test.args)
		}
		page := mainOf(s.get("/a/" + anAsked).Body.String())
		for _, part := range []string{test.page, "continue " + aRun, "Any program of the same user of this computer", test.goes} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: the outcome has no %q\n%s", name, part, page)
			}
		}
		if strings.Contains(page, "<form") {
			t.Errorf("%s: the outcome has a form", name)
		}
	}
}

// The comment is kept as it was typed, and the difference of an edit is shown whole.
func TestOutcome(t *testing.T) {
	s := newSite(t)
	s.post("/a/"+anAsked, s.answer("edit", "edit.amount_usd", "800", "comment", "only\r\n\u202e800"))
	if s.decided[0].Comment != "only\n\u202e800" {
		t.Errorf("comment %q", s.decided[0].Comment)
	}
	page := mainOf(s.get("/a/" + anAsked).Body.String())
	for _, part := range []string{`<pre class="minus">1200</pre>`, `<pre class="plus">800</pre>`, "only\n\\u202e800", "patterngate runs resume " + aRun} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q in\n%s", part, page)
		}
	}
	if strings.Contains(page, `class="minus">&#34;late`) {
		t.Error("an argument that is equal is shown as changed")
	}
}

// What is refused decides nothing, says why, and keeps what was typed.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		form   []string // the decision, then pairs
		status int
		says   string
		keeps  string
	}{
		"edit without a change":   {[]string{"edit", "edit.amount_usd", "1200.0"}, 422, "Nothing is changed", `value="1200.0"`},
		"approve with a change":   {[]string{"approve", "edit.amount_usd", "800"}, 422, "pressed Approve", `value="800"`},
		"approve, hidden changes": {[]string{"approve", "edit.other", "1"}, 422, "does not offer: other", ""},
		"no number":               {[]string{"edit", "edit.amount_usd", "<lots>"}, 422, "want a number such as 12.50", `value="&lt;lots&gt;"`},
		"not in the schema":       {[]string{"edit", "edit.channel", `"cash"`}, 422, "The tool does not accept the changed arguments", ""},
		"a long comment":          {[]string{"reject", "comment", strings.Repeat("é", 1001)}, 422, "1,001 characters", "ééé"},
		"no digest of a call":     {[]string{"approve", "digest", "sha256:xyz"}, 400, "digest is sha256:", ""},
		"another digest":          {[]string{"approve", "digest", "sha256:" + longHash}, 409, "Changed: the call is not the one that you saw", ""},
		"another digest, edited":  {[]string{"edit", "digest", "sha256:" + longHash, "edit.amount_usd", "1"}, 409, "Changed:", ""},
	} {
		s := newSite(t)
		w := s.post("/a/"+anAsked, s.answer(test.form[0], test.form[1:]...))
		page := mainOf(w.Body.String())
		if w.Code != test.status || !strings.Contains(page, test.says) || !strings.Contains(page, test.keeps) {
			t.Errorf("%s = %d, want %d with %q and %q\n%s", name, w.Code, test.status, test.says, test.keeps, page)
		}
		if s.asked[0].State != patterns.AskedOpen || len(s.told) > 0 {
			t.Errorf("%s: decided: %+v", name, s.asked[0].Given)
		}
	}
}

// A call of which nobody knows what it takes can be approved or rejected, not changed.
func TestNoSchema(t *testing.T) {
	s := newSite(t)
	s.asked[0].Schema = nil
	if page := mainOf(s.get("/a/" + anAsked).Body.String()); strings.Contains(page, `value="edit"`) || !strings.Contains(page, `value="approve"`) {
		t.Errorf("changes are offered\n%s", page)
	}
	form := s.answer("edit")
	for name := range form {
		if strings.HasPrefix(name, "edit.") {
			form.Del(name)
		}
	}
	if w := s.post("/a/"+anAsked, form); w.Code != 422 || len(s.decided) > 0 || !strings.Contains(w.Body.String(), "cannot be changed") {
		t.Errorf("= %d, decided %d", w.Code, len(s.decided))
	}
}

// Another digest is handed on to be recorded, unsigned, even where a passphrase was typed.
func TestSwappedIsRecorded(t *testing.T) {
	s := newSite(t)
	s.enroll(t)
	w := s.post("/a/"+anAsked, s.answer("approve", "digest", "sha256:"+longHash, "key_id", s.signer.id, "passphrase", rightPhrase))
	if w.Code != http.StatusConflict || len(s.decided) != 1 || s.decided[0].Signature != "" || len(s.tried) != 0 || s.decided[0].Digest != "sha256:"+longHash {
		t.Errorf("= %d, decided %+v, tried %d; want 409, one unsigned, none", w.Code, s.decided, len(s.tried))
	}
}

// A row whose digest is not that of its call is not decided about.
func TestTamperedRow(t *testing.T) {
	s := newSite(t)
	s.asked[0].Question.Args["amount_usd"] = 9000.0
	s.refuse = &patterns.NotOpen{Why: patterns.WhyChanged, Asked: s.asked[0]}
	if w := s.post("/a/"+anAsked, s.answer("approve")); w.Code != http.StatusConflict || len(s.decided) != 1 || s.decided[0].Signature != "" {
		t.Errorf("= %d, decided %+v", w.Code, s.decided)
	}
}

// Of a question that is not open any more a decision is told how it stands. It is handed on, to be recorded, as what can be
// no answer.
func TestConflict(t *testing.T) {
	for state, says := range map[patterns.AskedState]string{
		patterns.AskedDecided: "Decided before", patterns.AskedExpired: "Expired:", patterns.AskedOver: "Over:",
	} {
		s := newSite(t)
		s.asked[0].State = state
		s.asked[0].Given = &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseReject, By: "local:7"}, Assurance: gateway.UserAssurance}
		w := s.post("/a/"+anAsked, s.answer("approve"))
		if page := mainOf(w.Body.String()); w.Code != http.StatusConflict || !strings.Contains(page, says) || len(s.decided) != 1 || s.decided[0].Executes != "" {
			t.Errorf("%s: %d, handed on %+v; want 409 with %q, one\n%s", state, w.Code, s.decided, says, page)
		}
	}
	s := newSite(t) // somebody else was quicker
	other := s.asked[0]
	other.State, other.Given = patterns.AskedDecided, &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseReject, By: "local:7"}}
	s.refuse = &patterns.NotOpen{Why: patterns.WhyDecided, Asked: other}
	if w := s.post("/a/"+anAsked, s.answer("approve")); w.Code != http.StatusConflict || !strings.Contains(mainOf(w.Body.String()), "local:7") {
		t.Errorf("= %d, want 409 with who decided", w.Code)
	}
}

func TestRefusedByEngine(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		status int
		says   string
	}{
		"unsigned": {patterns.ErrUnsigned, 422, "Only a decision that an approver key signs"},
		"forged":   {patterns.ErrForged, 422, "The signature does not count"},
		"removed":  {patterns.ErrKeyRemoved, 422, "The key was removed"},
		"bad edit": {&patterns.BadEdit{Problems: []document.Problem{{Pointer: "/args/amount_usd", Want: "at most 5"}}}, 422, "amount_usd: at most 5"},
		"gone":     {patterns.ErrNoApproval, 404, "no such question"},
		"journal":  {patterns.ErrJournal, 503, "cannot be read"},
	} {
		s := newSite(t)
		s.refuse = test.err
		w := s.post("/a/"+anAsked, s.answer("approve"))
		if w.Code != test.status || !strings.Contains(mainOf(w.Body.String()), test.says) || len(s.told) > 0 {
			t.Errorf("%s = %d, want %d with %q\n%s", name, w.Code, test.status, test.says, mainOf(w.Body.String()))
		}
	}
}

func TestSigned(t *testing.T) {
	s := newSite(t)
	s.enroll(t)
	if page := mainOf(s.get("/a/" + anAsked).Body.String()); !strings.Contains(page, `type="password"`) || !strings.Contains(page, "laptop") {
		t.Fatalf("no field for the passphrase\n%s", page)
	}
	for _, decision := range []string{"approve", "reject"} {
		if w := s.post("/a/"+anAsked, s.answer(decision)); w.Code != 422 || len(s.decided) > 0 || !strings.Contains(w.Body.String(), "Only a decision that an approver key signs") {
			t.Errorf("%s unsigned = %d, decided %d; want 422, none", decision, w.Code, len(s.decided))
		}
	}
	if w := s.post("/a/"+anAsked, s.answer("approve", "key_id", "0000000000000000", "passphrase", rightPhrase)); w.Code != 422 || len(s.tried) > 0 {
		t.Errorf("another key = %d, tried %d", w.Code, len(s.tried))
	}
	w := s.post("/a/"+anAsked, s.answer("approve", "key_id", s.signer.id, "passphrase", rightPhrase, "comment", "ok"))
	if w.Code != http.StatusSeeOther || len(s.decided) != 1 {
		t.Fatalf("signed = %d\n%s", w.Code, mainOf(w.Body.String()))
	}
	key, _ := gateway.NewRing(s.keys).Find(s.signer.id)
	if d := s.decided[0]; d.By != "key:"+s.signer.id || d.Key != s.signer.id || key.Verify(d.Message(), d.Signature) != nil {
		t.Errorf("the signature is not over what was handed in: %+v", d)
	}
	if page := mainOf(s.get("/a/" + anAsked).Body.String()); !strings.Contains(page, "Signed with approver key "+s.signer.id) {
		t.Errorf("the outcome does not say that it is signed\n%s", page)
	}
}

// The list says what a decision needs: by the question, and by the keys.
func TestInboxSaysWhatIsNeeded(t *testing.T) {
	for name, test := range map[string]struct {
		least gateway.Assurance
		keyed bool
		tag   string
	}{
		"nothing":       {gateway.UserAssurance, false, ""},
		"a key":         {gateway.SignedAssurance, false, `<span class="tag">needs a key; none is enrolled</span>`},
		"the key":       {gateway.SignedAssurance, true, `<span class="tag">signed only</span>`},
		"the key, also": {gateway.UserAssurance, true, `<span class="tag">signed only</span>`},
	} {
		s := newSite(t)
		s.asked[0].Least = test.least
		if test.keyed {
			s.enroll(t)
		}
		page := s.get("/").Body.String()
		if got := strings.Count(page, `<span class="tag">`); !strings.Contains(page, test.tag) || (got == 0) != (test.tag == "") {
			t.Errorf("%s: %d tags, want %q in\n%s", name, got, test.tag, mainOf(page))
		}
	}
}

// Where only signed decisions count and no key is here, there is nothing to decide with.
func TestSignedWithoutKey(t *testing.T) {
	s := newSite(t)
	s.asked[0].Least = gateway.SignedAssurance
	page := mainOf(s.get("/a/" + anAsked).Body.String())
	if strings.Contains(page, `name="decision"`) || !strings.Contains(page, "patterngate approvals enroll") {
		t.Errorf("the page offers to decide\n%s", page)
	}
	for _, decision := range []string{"approve", "reject"} {
		if w := s.post("/a/"+anAsked, s.answer(decision)); w.Code != 422 || len(s.decided) > 0 {
			t.Errorf("%s all the same: %d", decision, w.Code)
		}
	}
}

// Guesses from many pages at once are tried one after the other, and no more of them.
func TestGuessesAtOnce(t *testing.T) {
	s := newSite(t)
	s.enroll(t)
	form := s.answer("approve", "key_id", s.signer.id, "passphrase", "wrong wrong wrong")
	statuses := make(chan int, 20)
	for range cap(statuses) {
		go func() { statuses <- s.post("/a/"+anAsked, form).Code }()
	}
	got := map[int]int{}
	for range cap(statuses) {
		got[<-statuses]++
	}
	if len(s.tried) != maxWrong || got[422] != maxWrong || got[429] != cap(statuses)-maxWrong {
		t.Errorf("%d tried, %v; want %d tried and answered 422, the rest 429", len(s.tried), got, maxWrong)
	}
}

// Five wrong passphrases in a minute are all that are tried, from however many pages at once; no page holds one again.
func TestWrongPassphrases(t *testing.T) {
	s := newSite(t)
	s.enroll(t)
	wrong := s.answer("approve", "key_id", s.signer.id, "passphrase", "wrong-"+rightPhrase, "comment", "kept")
	for i := range 7 {
		w := s.post("/a/"+anAsked, wrong)
		want := 422
		if i >= maxWrong {
			want = http.StatusTooManyRequests
		}
		page := w.Body.String()
		if w.Code != want || strings.Contains(page, "wrong-") || !strings.Contains(page, "kept") || (want == 429) != (w.Header().Get("Retry-After") != "") {
			t.Errorf("attempt %d = %d, want %d without the passphrase, with the comment", i+1, w.Code, want)
		}
	}
	right := s.answer("approve", "key_id", s.signer.id, "passphrase", rightPhrase)
	if w := s.post("/a/"+anAsked, right); w.Code != 429 || len(s.tried) != maxWrong {
		t.Errorf("the right one = %d after %d tries; want 429 after %d", w.Code, len(s.tried), maxWrong)
	}
	if len(s.decided) > 0 {
		t.Errorf("decided: %+v", s.decided)
	}
	s.now = s.now.Add(wrongCount + time.Second)
	if w := s.post("/a/"+anAsked, right); w.Code != http.StatusSeeOther {
		t.Errorf("after a minute = %d, want 303", w.Code)
	}
	for _, path := range []string{"/", "/a/" + anAsked, "/r"} {
		if page := s.get(path).Body.String(); strings.Contains(page, rightPhrase) || strings.Contains(page, s.decided[0].Signature) {
			t.Errorf("%s holds the passphrase or the signature", path)
		}
	}
}
