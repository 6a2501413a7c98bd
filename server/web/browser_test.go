package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/web/webtest"
)

const (
	hostileText = "Refund <b>user 42</b> \u202enow. <script>document.title='owned'</script> https://evil.example/ \x1b[2J approve!"
	doneRun     = "run_00000000000000a9"
)

// seen is a site with something on every page of it, all texts of models hostile.
func seen(t *testing.T) *site {
	s := newSite(t)
	s.now = began.Add(2 * time.Hour)
	h := &history{t: t}
	h.start(fmt.Sprintf(`{"goal":%q,"user_id":42}`, "Refund <b>user 42</b> now. https://evil.example/"))
	h.effect(0.01, 0.6, "decide#1", `{"effect_kind":"model","name":"next","input":{"goal":"x"}}`, `{"state":"ok","output":"{}","usage":{"llm_calls":1,"input_tokens":812,"output_tokens":60}}`)
	h.effect(0.62, 0.9, "get_refund_context#1", tool("get_refund_context", "read", `{"user_id":42}`), `{"state":"failed","reason":"error"}`)
	h.effect(1.0, 1.3, "get_refund_context#2", tool("get_refund_context", "read", `{"user_id":42}`), `{"state":"ok","output":{"last_charge_usd":1500,"note":"<script>alert(1)</script>"}}`)
	for i := range 3 {
		h.add(1.4+float64(i)*0.05, patterns.IntentEvent, fmt.Sprintf("task#%d/worker#1", i+1), tool("worker", "read", `{"n":1}`))
	}
	for i := range 3 {
		h.add(1.9+float64(i)*0.3, patterns.OutcomeEvent, fmt.Sprintf("task#%d/worker#1", i+1), `{"state":"ok","output":{"n":1}}`)
	}
	h.add(2.6, patterns.JudgedEvent, "", `{"phase":"supervisor","proposal":{"name":"issue_refund","args":{"amount_usd":1200}},"decision":"escalate","rule":"high_refund_requires_human"}`)
	h.add(2.7, patterns.IntentEvent, "human#1", `{"effect_kind":"human","name":"approve","input":{"action":{"name":"issue_refund"},"rule":"high_refund_requires_human"}}`)
	s.records[aRun] = h.events
	d := &history{t: t, events: append([]patterns.Event{}, h.events[:len(h.events)-1]...)}
	asked, less := gateway.Question{Run: doneRun, Step: "issue_refund#1", Tool: "issue_refund", Args: map[string]any{"user_id": 42.0, "amount_usd": 1200.0}, Expires: began.Add(24 * time.Hour)},
		map[string]any{"user_id": 42.0, "amount_usd": 800.0}
	answer := gateway.Answered("ap_00000000000000b9", asked, gateway.ChooseEdit, less)
	answer.By, answer.At, answer.Comment = "local:1000", began.Add(2*time.Hour-time.Second), "ok, but only 800"
	d.add(2.7, patterns.IntentEvent, "approve#1", `{"effect_kind":"human","name":"approve","rule":"high_refund_requires_human","object":`+string(asked.Object())+`,"digest":"`+asked.Digest()+`","input":{"action":{"name":"issue_refund"}}}`)
	d.add(7200, patterns.OutcomeEvent, "approve#1", `{"state":"ok","by":"local:1000","channel":"page","assurance":"user","decision":`+string(answer.Object())+`,
		"output":{"approved":true,"args":{"amount_usd":800,"user_id":42},"by":"local:1000","comment":"ok, but only 800","approval_id":"ap_00000000000000b9","decided_at":"2026-11-21T11:29:59Z"}}`)
	d.effect(7200.1, 7200.9, "issue_refund#1", `{"effect_kind":"tool","name":"issue_refund","effect":"write","input":{"user_id":42,"amount_usd":800},"grant":"ap_00000000000000b9","verdict":{"decision":"escalate","rule":"high_refund_requires_human"}}`,
		`{"state":"ok","output":{"refund_id":"r1"}}`)
	d.add(7201.5, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success","envelope":{"budget":{"max_steps":{"limit":8,"used":3},"max_seconds":{"limit":60,"used":4.2},"max_llm_calls":{"limit":10,"used":2}}},"usage":{"model":"gpt","llm_calls":2,"input_tokens":1712,"output_tokens":140}}`)
	for i := range d.events {
		d.events[i].Seal(doneRun, patterns.HeadOf(d.events[:i]).Hash)
	}
	s.records[doneRun] = d.events
	s.ask("ap_00000000000000b2", map[string]any{"user_id": 7.0, "amount_usd": 90000.5, "reason": hostileText}).Effect = catalog.Destructive
	s.asked[1].Phrase = "refunding 90000.50 USD to user 7"
	s.asked[1].Digest = s.asked[1].Question.Digest()
	a := s.ask("ap_00000000000000b3", map[string]any{"user_id": 42.0, "amount_usd": 1200.0, "reason": "late"})
	a.State = patterns.AskedDecided
	a.Given = &patterns.Given{Answer: gateway.Answer{Choice: gateway.ChooseEdit, By: "local:1000", At: s.now, Comment: hostileText}, Args: map[string]any{"user_id": 42.0, "amount_usd": 800.0, "reason": "late"}, Channel: "page", Assurance: gateway.UserAssurance}
	for i := range 60 {
		st := []string{"ok", "stopped", "running", "waiting"}[i%4]
		row := patterns.RunRow{RunID: doneRun, Pattern: "refund_supervisor", Principal: "local:1000", Status: st, Summary: "Paid 800.00 USD to user 42.", Began: began}
		if st == "waiting" {
			row.RunID, row.WaitingKind = aRun, "approval"
		}
		if st == "ok" {
			row.Ended = began.Add(3 * time.Second)
		}
		s.rows = append(s.rows, row)
	}
	return s
}

// visited is a site behind its door, with a browser that has signed in.
func visited(t *testing.T, s *site) (string, *webtest.Page) {
	t.Helper()
	b := webtest.Start(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	offered := &offers{}
	door := NewDoor(DoorConfig{Pages: s.pages, SignIns: offered, Address: l.Addr().String(), Version: "1.0", Log: slog.New(slog.DiscardHandler)})
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- door.Serve(ctx, l) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	p := b.Page(t)
	p.SignIn(door.URL() + "/sign-in/" + offered.offer(time.Now().Add(time.Minute)))
	return door.URL(), p
}

// Every page is readable on a desk and on a phone, by day and by night, and has no fault that axe knows.
func TestPagesInABrowser(t *testing.T) {
	s := seen(t)
	url, p := visited(t, s)
	for name, path := range map[string]string{
		"inbox": "/", "approval": "/a/" + anAsked, "hostile": "/a/ap_00000000000000b2", "decided": "/a/ap_00000000000000b3",
		"runs": "/r", "run": "/r/" + doneRun, "waiting": "/r/" + aRun, "receipt": "/r/" + doneRun + "/receipt", "none": "/a/ap_0000000000000000",
	} {
		t.Run(name, func(t *testing.T) {
			p.For(t)
			for _, width := range []int{1280, 400} {
				for _, dark := range []bool{false, true} {
					p.Size(width, 800)
					p.Dark(dark)
					p.Open(url + path)
					if n := p.Overflow(); n > 0 {
						t.Errorf("%d px, dark %v: %d px to the side", width, dark, n)
					}
					for _, v := range p.Axe() {
						t.Errorf("%d px, dark %v: %s", width, dark, v)
					}
					p.Screenshot(fmt.Sprintf("%d-%v", width, map[bool]string{false: "light", true: "dark"}[dark]))
				}
			}
			for _, stop := range p.Walk() {
				if !stop.Ring || !stop.InSight || stop.Name == "" {
					t.Errorf("focus on %s: ring %v, in sight %v", stop, stop.Ring, stop.InSight)
				}
			}
			if strings.Contains(p.Text("main"), "The record is broken") {
				t.Error("a whole record is called broken")
			}
			if strings.Contains(p.Title(), "owned") || p.Has("main b") || p.Has(`a[href*="evil"]`) {
				t.Error("a model's text became part of the page")
			}
		})
	}
	p.For(t)
	for _, c := range p.Complaints() {
		if !strings.Contains(c, "404") {
			t.Errorf("the browser complains: %s", c)
		}
	}
	for _, c := range p.Cookies() {
		if c.Name != "patterngate_inbox" || !c.HTTPOnly || c.SameSite != "Strict" {
			t.Errorf("cookie %+v", c)
		}
	}
	for _, r := range p.Requested() {
		if _, to, _ := strings.Cut(r, " "); !strings.HasPrefix(to, url) {
			t.Errorf("the page asks elsewhere: %s", r)
		}
	}
}

// A person decides by keyboard alone, without scripts.
func TestDecideByKeyboard(t *testing.T) {
	s := seen(t)
	url, p := visited(t, s)
	p.Scripts(false)
	p.Open(url + "/")
	for range 50 {
		p.Press("Tab")
		if strings.Contains(p.Attribute(":focus", "href"), anAsked) {
			break
		}
	}
	p.Loads("Enter on the call", func() { p.Press("Enter") })
	if got := p.Address(); got != url+"/a/"+anAsked {
		t.Fatalf("at %s", got)
	}
	p.WalkTo("Comment (optional, kept in the record)")
	p.Type("fine with me")
	p.WalkTo("Approve")
	p.Loads("Enter on Approve", func() { p.Press("Enter") })
	p.Screenshot("decided")
	if len(s.decided) != 1 || s.decided[0].Choice != gateway.ChooseApprove || s.decided[0].Comment != "fine with me" {
		t.Fatalf("decided %+v; the page reads\n%s", s.decided, p.Text("main"))
	}
	if text := p.Text("main"); !strings.Contains(text, "continue "+aRun) {
		t.Errorf("the page does not say how to go on:\n%s", text)
	}
}

// A page that nobody sees holds no connection, of which a browser has few for one address; it listens again when it is seen.
func TestHiddenInABrowser(t *testing.T) {
	s := seen(t)
	url, p := visited(t, s)
	listens := func(want int) {
		t.Helper()
		for begun := time.Now(); time.Since(begun) < 30*time.Second; { // the browser closes connections when it comes to it
			if len(s.pages.streams) == want {
				return
			}
			webtest.Eval[int](p, "1") // lets time pass in the browser
		}
		t.Fatalf("%d streams, want %d", len(s.pages.streams), want)
	}
	turn := func(hidden bool) {
		webtest.Eval[bool](p, fmt.Sprintf(`(Object.defineProperty(document, "hidden", {configurable: true, get: () => %v}), document.dispatchEvent(new Event("visibilitychange")))`, hidden))
	}
	p.Open(url + "/a/" + anAsked)
	listens(1)
	turn(true)
	listens(0)
	turn(false)
	listens(1)
	p.Loads("a change", func() { s.changes <- []string{aRun} })
}

// A person who follows a link gets there, whatever changes on the page that they leave: that page does not reload in its place.
func TestChangeWhileLeaving(t *testing.T) {
	s := seen(t)
	url, p := visited(t, s)
	asked, let, looked := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var lists atomic.Int32
	s.listing = func() {
		switch lists.Add(1) {
		case 1:
			close(asked)
			<-let
		case 2:
			close(looked)
		}
	}
	p.Open(url + "/a/" + anAsked)
	// A change is looked at at once, and then the runs are asked for, to tell of it here.
	webtest.Eval[bool](p, `(n => { window.setTimeout = f => { if (++n === 1) { f(); fetch("/r?status=ok") } return 1 }; return true })(0)`)
	p.Loads("the link to the runs", func() {
		p.Click(`a[href="/r"]`)
		<-asked
		s.changes <- []string{aRun}
		select {
		case <-looked:
		case <-time.After(5 * time.Second): // the page is loaded again
		}
		close(let)
	})
	if got := p.Address(); got != url+"/r" {
		t.Errorf("the page is %s", got)
	}
}
