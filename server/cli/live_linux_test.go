package cli

import (
	"bytes"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/web/webtest"
)

// The live session: a refund of 1200 USD waits in the inbox, the page opens, the server is killed and started again, the
// person approves at 800 on the page, and 800 are paid, once. It is held over both transports and eras, and once with an
// approver key. All of it is real: the program in processes, a client of another make, a browser.
func TestLiveSession(t *testing.T) {
	browser := webtest.Start(t)
	for name, tt := range map[string]struct {
		overHTTP bool
		era      string
		signed   bool
	}{
		"stdio 2025-11-25": {false, eraHandshake, false},
		"stdio 2026-07-28": {false, eraStateless, false},
		"http 2025-11-25":  {true, eraHandshake, false},
		"http 2026-07-28":  {true, eraStateless, false},
		"signed":           {true, eraStateless, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newLiveScene(t, tt.overHTTP, tt.era)
			p := &livePerson{liveScene: s, page: browser.Page(t)}
			if tt.signed {
				p.enroll()
			}
			s.serve()
			asked := s.asks()
			p.looks(asked)
			s.kill()
			s.serve()
			s.says(`"msg":"inbox","url":"http://` + s.page + `/"`)
			p.isSignedOut(asked)
			stop := s.listen(asked.RunID)
			p.decides(asked)
			s.isTold(asked.RunID)
			stop()
			s.paid(asked, p.assurance(), p.key)
			p.looksBack(asked.RunID)
			if tt.signed {
				s.verifies(asked.RunID, p.key)
			}
		})
	}
}

// asks has the client ask for a refund of 1200 USD, which comes to wait for a person.
func (s *liveScene) asks() liveRun {
	s.t.Helper()
	run := s.call("supervised_refund", map[string]any{"goal": demo.RefundGoal})
	id := run.WaitingFor.Approval
	where := []string{"http://" + s.page + "/a/" + id, "patterngate approvals show " + id}
	if run.Status != "waiting" || run.WaitingFor.Kind != "approval" || id == "" || !slices.Equal(run.WaitingFor.Where, where) {
		s.t.Fatalf("the call comes to %+v, want one that waits for an approval at %q", run, where)
	}
	for _, want := range []string{"Refunding 1200.00 USD to user 42 needs your decision", "Open " + where[0] + " or run `" + where[1] + "`", "it is rejected."} {
		if !strings.Contains(run.Next.Say, want) {
			s.t.Errorf("next.say does not say %q:\n%s", want, run.Next.Say)
		}
	}
	for _, want := range []string{"WAITING for a person. Nothing was paid.", "You cannot approve it, and no tool can."} {
		if !strings.Contains(run.text, want) {
			s.t.Errorf("the result does not say %q:\n%s", want, run.text)
		}
	}
	return run
}

// livePerson is the person at the page.
type livePerson struct {
	*liveScene
	page *webtest.Page
	key  string // of theirs, if they have one
}

// enroll gives the person an approver key.
func (p *livePerson) enroll() {
	p.t.Helper()
	engine := p.state()
	defer engine.Close()
	key := keyIn(p.t, p.dir)
	if err := engine.Approvals().Enroll(key); err != nil {
		p.t.Fatal(err)
	}
	p.key = key.ID
}

func (p *livePerson) assurance() gateway.Assurance {
	if p.key != "" {
		return gateway.SignedAssurance
	}
	return gateway.UserAssurance
}

// seen keeps a picture of the page and judges how it looks.
func (p *livePerson) seen(name string) {
	p.t.Helper()
	for _, v := range p.page.Axe() {
		p.t.Errorf("%s: %s", name, v)
	}
	if n := p.page.Overflow(); n > 0 {
		p.t.Errorf("%s is %d pixels too wide", name, n)
	}
	p.page.Screenshot(name)
}

// opens opens the question's page after signing in; before, nothing of it is shown.
func (p *livePerson) opens(asked liveRun) {
	p.t.Helper()
	p.page.Open(asked.WaitingFor.Where[0])
	if text := p.page.Text("body"); p.page.Status() != http.StatusUnauthorized || strings.Contains(text, "1200") {
		p.t.Errorf("who has not signed in is answered with %d and reads\n%s", p.page.Status(), text)
	}
	p.page.SignIn(p.signInLink())
	p.page.Open(asked.WaitingFor.Where[0])
	if got := p.page.Attribute("input[name=digest]", "value"); got != asked.WaitingFor.Digest {
		p.t.Errorf("the page shows the question %s, the client was told %s", got, asked.WaitingFor.Digest)
	}
}

// looks opens the page and fills it in, without pressing a button.
func (p *livePerson) looks(asked liveRun) {
	p.t.Helper()
	p.opens(asked)
	p.page.Says("Refund 1200.00 USD to user 42")
	p.seen("asked")
	p.fills()
	p.seen("filled in")
}

// fills fills the form in.
func (p *livePerson) fills() {
	p.t.Helper()
	p.page.Click("details.edit > summary")
	p.page.Fill(`[name="edit.amount_usd"]`, "800")
	p.page.Fill("#comment", "The rest was used.")
	if p.key != "" {
		p.page.Fill("#passphrase", goodPassphrase)
	}
}

// isSignedOut presses the button of the page that was left open while its server was killed: that decides nothing.
func (p *livePerson) isSignedOut(asked liveRun) {
	p.t.Helper()
	p.page.Follow("text=Approve with changes")
	if p.page.Status() != http.StatusUnauthorized || p.page.Title() != "Sign in · Patterngate" {
		p.t.Errorf("a page of before is answered with %d, %q", p.page.Status(), p.page.Title())
	}
	p.seen("signed out")
	if got := p.asked(asked.WaitingFor.Approval); got.State != patterns.AskedOpen || got.Given != nil {
		p.t.Fatalf("a page of before decided: %+v", got)
	}
	if got := p.payments(); len(got) > 0 {
		p.t.Fatalf("before a decision was paid: %v", got)
	}
}

// decides signs in again and approves at 800.
func (p *livePerson) decides(asked liveRun) {
	p.t.Helper()
	p.opens(asked)
	p.fills()
	if p.key != "" {
		p.page.Fill("#passphrase", "wrong horse battery")
		p.page.Follow("text=Approve with changes")
		p.page.Says("passphrase")
		p.seen("wrong passphrase")
		if got := p.asked(asked.WaitingFor.Approval); got.State != patterns.AskedOpen {
			p.t.Fatalf("with a wrong passphrase the question stands %s", got.State)
		}
		p.page.Fill("#passphrase", goodPassphrase)
	}
	p.page.Follow("text=Approve with changes")
	p.page.Says("continue " + asked.RunID)
	text := p.page.Text("main")
	for _, want := range []string{"1200", "800", "The rest was used.", string(p.assurance())} {
		if !strings.Contains(text, want) {
			p.t.Errorf("the outcome does not say %q:\n%s", want, text)
		}
	}
	p.seen("decided")
}

// isTold fails where the client is not told that the run goes on, though no call of its attends.
func (s *liveScene) isTold(run string) {
	s.t.Helper()
	select {
	case uri := <-s.told:
		if uri != "patterngate://runs/"+run {
			s.t.Errorf("the client is told of %s", uri)
		}
	case <-time.After(inboxPatience):
		s.t.Error("the client is not told that the run went on")
	}
}

// paid looks how the run ended, for the client and for the world.
func (s *liveScene) paid(asked liveRun, assurance gateway.Assurance, key string) {
	s.t.Helper()
	run := s.call("run_wait", map[string]any{"run_id": asked.RunID, "max_wait_seconds": 20})
	if run.Status != "ok" || run.StopReason != "success" {
		s.t.Fatalf("run_wait after the decision: %+v", run)
	}
	if again := s.call("run_status", map[string]any{"run_id": asked.RunID}); again.Status != "ok" || len(again.History) != len(run.History) {
		s.t.Errorf("run_status after the end: %+v", again)
	}
	i := slices.IndexFunc(run.History, func(h liveTurn) bool { return h.Human != nil })
	if i < 0 {
		s.t.Fatalf("the history has no decision: %+v", run.History)
	}
	h := run.History[i].Human
	if !h.Approved || h.Channel != "page" || h.Assurance != assurance || h.ApprovalID != asked.WaitingFor.Approval || h.Comment != "The rest was used." || h.KeyID != key {
		s.t.Errorf("the decision is shown as %+v", *h)
	}
	if got := s.payments(); !slices.Equal(got, []float64{800}) {
		s.t.Errorf("paid were %v USD, want 800 once", got)
	}
}

// looksBack looks at the run, its record and its receipt.
func (p *livePerson) looksBack(run string) {
	p.t.Helper()
	base := "http://" + p.liveScene.page
	p.page.Open(base + "/r/" + run)
	p.seen("run")
	p.page.Follow("text=Check the record")
	p.page.Says("ok: ")
	p.page.Says("approvals: 1 decided")
	p.seen("checked")
	p.page.Follow("text=Receipt")
	p.page.Says("approved with changes by")
	p.seen("receipt")
	for _, c := range p.page.Complaints() {
		if strings.Contains(c, "Policy") || strings.HasPrefix(c, "script:") {
			p.t.Errorf("the browser complains: %s", c)
		}
	}
	for _, r := range p.page.Requested() {
		if _, to, _ := strings.Cut(r, " "); !strings.HasPrefix(to, base+"/") {
			p.t.Errorf("the page asks elsewhere: %s", r)
		}
	}
}

// verifies checks the record as a command does.
func (s *liveScene) verifies(run, key string) {
	s.t.Helper()
	out, err := s.program("runs", "verify", run).CombinedOutput()
	for _, want := range []string{"ok: ", "approvals: 1 decided, 1 of them signed, 1 spent", "signatures: 1 by key " + key + " (Anna)"} {
		if err != nil || !bytes.Contains(out, []byte(want)) {
			s.t.Errorf("runs verify: %v, %s; want %q", err, out, want)
		}
	}
}

// The same without a browser, on every machine: who speaks HTTP as the page's forms do decides as they do.
func TestLiveSessionByForms(t *testing.T) {
	t.Parallel()
	s := newLiveScene(t, false, eraHandshake)
	s.serve()
	asked := s.asks()
	s.kill()
	s.serve()
	s.says(`"msg":"inbox"`)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	base, where := "http://"+s.page, asked.WaitingFor.Where[0]
	submit := func(to string, form url.Values) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", base)
		response, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	token := filepath.Base(s.signInLink())
	if response := submit(base+"/sign-in", url.Values{"token": {token}}); response.StatusCode != http.StatusOK || response.Body.Close() != nil {
		t.Fatalf("signing in: %s", response.Status)
	}
	shown := bodyOf(t, browser, where)
	form := url.Values{"decision": {"edit"}, "edit.amount_usd": {"800"}, "comment": {"The rest was used."}}
	for _, field := range []string{"csrf", "digest"} {
		value := regexp.MustCompile(`name="` + field + `" value="([^"]+)"`).FindStringSubmatch(shown)
		if value == nil {
			t.Fatalf("the page has no field %s:\n%s", field, shown)
		}
		form.Set(field, value[1])
	}
	stop := s.listen(asked.RunID)
	if response := submit(where, form); response.StatusCode != http.StatusOK || response.Body.Close() != nil {
		t.Fatalf("deciding: %s", response.Status)
	}
	s.isTold(asked.RunID)
	stop()
	s.paid(asked, gateway.UserAssurance, "")
	if text := bodyOf(t, browser, where); !strings.Contains(text, "continue "+asked.RunID) {
		t.Errorf("the page does not say how to go on:\n%s", text)
	}
}

func bodyOf(t *testing.T, browser *http.Client, address string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", address, response.Status, err)
	}
	return text.String()
}
