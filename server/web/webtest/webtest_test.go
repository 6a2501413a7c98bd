package webtest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"patterngate/server/web/webtest"
)

const style = `:root{color-scheme:light dark} body{background:light-dark(#fff,#111);color:light-dark(#111,#eee);margin:1rem;max-width:40rem;min-height:200vh} button:focus-visible,a:focus-visible,input:focus-visible,summary:focus-visible{outline:3px solid light-dark(#05a,#8cf)}`

const page = `<!doctype html><html lang=en><title>%s</title><style>` + style + `</style><main><h1>%[1]s</h1>%s</main>`

// policy is one that lets nothing in but the style.
func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; frame-ancestors 'none'"
}

// site is a small site like the inbox: a one-time link, a cookie, a form, nothing from elsewhere.
func site(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	say := func(w http.ResponseWriter, title, body string) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy())
		_, _ = fmt.Fprintf(w, page, title, body)
	}
	mux.HandleFunc("GET /sign-in/{token}", func(w http.ResponseWriter, r *http.Request) {
		say(w, "Sign in", `<form method=post action=/sign-in><button>Sign in</button></form>`)
	})
	mux.HandleFunc("POST /sign-in", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "inbox", Value: "secret", Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("inbox"); err != nil {
			w.WriteHeader(http.StatusForbidden)
			say(w, "Sign in first", "")
			return
		}
		say(w, "A call waits", `<p id=call>issue_refund 1200.00 USD</p>
<details><summary>What the model wrote</summary><p id=claim>trust me</p></details>
<form method=post action=/decide><p><label>Comment <input name=comment></label><p><button name=decision value=approve>Approve</button> <button name=decision value=reject>Reject</button></form>`)
	})
	mux.HandleFunc("POST /decide", func(w http.ResponseWriter, r *http.Request) {
		say(w, "Decided", fmt.Sprintf("<p id=said>%s: %s</p>", html.EscapeString(r.PostFormValue("decision")), html.EscapeString(r.PostFormValue("comment"))))
	})
	mux.HandleFunc("GET /bad", func(w http.ResponseWriter, r *http.Request) {
		say(w, "Bad", `<img src=http://127.0.0.1:1/x><p style="width:900px;color:#eee">wide</p><input><script>document.title="Worse"</script>`)
	})
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, `<!doctype html><title>Live</title><p id=n>0</p><script>let n=0;onclick=()=>{if(++n===3)location.reload();else document.querySelector("#n").textContent=n}</script>`)
	})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// A person signs in, reads, decides, by mouse and by keyboard alone.
func TestPage(t *testing.T) {
	b := webtest.Start(t)
	s := site(t)
	p := b.Page(t)

	p.Open(s.URL)
	if got := p.Status(); got != http.StatusForbidden {
		t.Errorf("Status() = %d before signing in, want 403", got)
	}
	p.SignIn(s.URL + "/sign-in/abc")
	if got, want := p.Address(), s.URL+"/"; got != want || p.Title() != "A call waits" || p.Status() != http.StatusOK || p.Header("content-security-policy") != policy() {
		t.Errorf("signed in at %s, %q, %d, want %s", got, p.Title(), p.Status(), want)
	}
	if got := p.Cookies(); len(got) != 1 || !got[0].HTTPOnly || got[0].SameSite != "Strict" || !got[0].Session {
		t.Errorf("Cookies() = %+v", got)
	}
	if got := webtest.Eval[string](p, "document.cookie"); got != "" {
		t.Errorf("scripts see the cookie %q", got)
	}

	t.Run("mouse", func(t *testing.T) {
		p.For(t)
		if p.Shown("#claim") {
			t.Error("the model's text is not folded")
		}
		p.Click("text=What the model wrote")
		if !p.Shown("#claim") || p.Text("#claim") != "trust me" {
			t.Error("the model's text does not unfold")
		}
		p.Fill("input[name=comment]", "too much \u202e <b>")
		p.Follow("text=Reject")
		if got, want := p.Text("#said"), "reject: too much \u202e <b>"; got != want {
			t.Errorf("decided %q, want %q", got, want)
		}
	})
	t.Run("keyboard", func(t *testing.T) {
		p.For(t)
		p.Open(s.URL)
		var names []string
		for _, stop := range p.Walk() {
			names = append(names, stop.String())
			if !stop.Ring || !stop.InSight {
				t.Errorf("%s: ring %v, in sight %v", stop, stop.Ring, stop.InSight)
			}
		}
		if want := []string{`summary "What the model wrote"`, `input[comment] "Comment"`, `button[decision] "Approve"`, `button[decision] "Reject"`}; !slices.Equal(names, want) {
			t.Errorf("Walk() = %q, want %q", names, want)
		}
		p.WalkTo("What the model wrote")
		p.Press("Enter")
		p.Until(`document.querySelector("details").open`)
		p.WalkTo("Comment")
		p.Type("fine")
		p.WalkTo("Reject")
		p.Press("Shift+Tab")
		p.Loads("Enter", func() { p.Press("Enter") })
		if got, want := p.Text("#said"), "approve: fine"; got != want {
			t.Errorf("decided %q, want %q", got, want)
		}
	})
	p.For(t)
	if got := p.Complaints(); len(got) != 1 || !strings.Contains(got[0], "403") {
		t.Errorf("Complaints() = %q, want the 403 of the beginning", got)
	}
	for _, r := range p.Requested() {
		if _, to, _ := strings.Cut(r, " "); !strings.HasPrefix(to, s.URL) {
			t.Errorf("the page asked for %s", r)
		}
	}
	other := b.Page(t)
	if other.Open(s.URL); other.Status() != http.StatusForbidden {
		t.Errorf("another person is let in: %d", other.Status())
	}
}

func TestLooks(t *testing.T) {
	b := webtest.Start(t)
	s := site(t)
	p := b.Page(t)
	p.Open(s.URL + "/sign-in/abc")
	p.Size(400, 700)
	for dark, want := range map[bool]uint8{false: 0xff, true: 0x11} {
		p.Dark(dark)
		picture, err := os.ReadFile(p.Screenshot(fmt.Sprintf("dark-%v", dark)))
		if err != nil {
			t.Fatal(err)
		}
		image, err := png.Decode(bytes.NewReader(picture))
		if err != nil {
			t.Fatal(err)
		}
		at := color.NRGBAModel.Convert(image.At(1, 1)).(color.NRGBA)
		if at.R != want || image.Bounds().Dx() != 400 {
			t.Errorf("dark %v: the corner is %v in a picture of %v, want %#x", dark, at, image.Bounds(), want)
		}
		for _, v := range p.Axe() {
			t.Errorf("dark %v: %s", dark, v)
		}
	}
	if got := p.Overflow(); got != 0 {
		t.Errorf("Overflow() = %d, want 0", got)
	}
}

// What is wrong with a page is found.
func TestBadPage(t *testing.T) {
	b := webtest.Start(t)
	s := site(t)
	p := b.Page(t)
	p.Size(400, 700)
	p.Open(s.URL + "/bad")
	var rules []string
	for _, v := range p.Axe() {
		rules = append(rules, v.ID)
	}
	for _, want := range []string{"image-alt", "label"} {
		if !slices.Contains(rules, want) {
			t.Errorf("Axe() = %q, want %s among them", rules, want)
		}
	}
	if webtest.Eval[string](p, "typeof axe") != "undefined" {
		t.Error("axe is left in the page")
	}
	if p.Title() != "Bad" {
		t.Errorf("Title() = %q: the page's script ran", p.Title())
	}
	complaints := strings.Join(p.Complaints(), "\n")
	for _, want := range []string{"image", "style", "script"} {
		if !strings.Contains(strings.ToLower(complaints), want) {
			t.Errorf("Complaints() = %s, want one of %s", complaints, want)
		}
	}
}

// Changes by script and loads of the page are waited for; without scripts a page is what it was sent as.
func TestWaiting(t *testing.T) {
	b := webtest.Start(t)
	s := site(t)
	p := b.Page(t)
	p.Open(s.URL + "/live")
	p.Click("#n")
	p.Says("1")
	p.Click("#n")
	p.Click("#n") // reloads
	p.Says("0")
	p.Scripts(false)
	p.Reload()
	p.Click("#n")
	if got := p.Text("#n"); got != "0" {
		t.Errorf("a script ran: %q", got)
	}
}
