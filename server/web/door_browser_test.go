package web

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"patterngate/server/web/webtest"
)

// porchRoom shows a form as pages do, and says what was decided.
func porchRoom(p *porch) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.room.ServeHTTP(httptest.NewRecorder(), r)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>Inside</title><p>%s by %s</p><form method="post"><input type="hidden" name="csrf" value="%s"><button name="decision" value="approve">Approve</button></form>`,
			r.PostForm.Get("decision"), r.Method, sessionOf(r.Context()).csrf)
	})
}

// attacker is a site elsewhere, with a page for each way in.
func attacker(t *testing.T, base, csrf string) (url string) {
	t.Helper()
	target := base + "/a/ap_0011223344556677"
	form := `<form id="f" method="post" action="%s"%s><input name="csrf" value="` + csrf + `"><input name="decision" value="approve"><button>Win</button></form>`
	pages := map[string]string{
		"/link": `<a href="` + target + `">look</a>`, "/form": fmt.Sprintf(form, target, ""), "/plain": fmt.Sprintf(form, target, ` enctype="text/plain"`),
		"/frame":   `<iframe src="` + target + `"></iframe>`,
		"/sandbox": `<iframe sandbox="allow-forms allow-scripts" srcdoc='` + fmt.Sprintf(form, target, "") + `<script>f.submit()</script>'></iframe>`,
		"/fetch":   `<script>done="";fetch("` + target + `",{method:"POST",mode:"no-cors",credentials:"include",body:new URLSearchParams({csrf:"` + csrf + `",decision:"approve"})}).catch(()=>0).then(()=>fetch("` + base + `/healthz")).catch(()=>0).then(()=>{document.title="done"})</script>`,
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>Elsewhere</title>"+pages[r.URL.Path])
	}))
	site.Listener.Close()
	site.Listener = l
	site.Start()
	t.Cleanup(site.Close)
	return strings.Replace(site.URL, "127.0.0.1", "localhost", 1) // another site; 127.0.0.1 with another port is another origin
}

// In a real browser: the button signs in, forms of our pages are believed though they hide their origin, a link of another
// site leads in, and nothing else of another site gets through.
func TestDoorInABrowser(t *testing.T) {
	b := webtest.Start(t)
	p := newPorch(t)
	p.config.Pages = porchRoom(p)
	address, _ := serve(t, p, nil)
	base := "http://" + address
	page := b.Page(t)

	page.Size(400, 700)
	page.Open(base + "/a/ap_0011223344556677")
	if page.Status() != 401 || page.Title() != "Sign in · Patterngate" {
		t.Errorf("before signing in: %d, %q", page.Status(), page.Title())
	}
	looks(t, page, "sign-in")
	link := base + SignInPath(p.offers.offer(time.Now().Add(time.Minute)))
	page.Open(link)
	looks(t, page, "sign-in button")
	page.Follow("form button")
	if page.Address() != base+"/" || page.Title() != "Inside" {
		t.Fatalf("signed in at %s, %q:\n%s", page.Address(), page.Title(), page.Text("body"))
	}
	if c := page.Cookies(); len(c) != 1 || c[0].Name != cookieName || !c[0].HTTPOnly || c[0].SameSite != "Strict" {
		t.Errorf("cookies %+v", c)
	}
	page.Follow("form button")
	page.Says("approve by POST")
	csrf := page.Attribute("input[name=csrf]", "value")
	p.room.entered()

	evil := attacker(t, base, csrf)
	for _, origin := range []string{evil, strings.Replace(evil, "localhost", "127.0.0.1", 1)} {
		for _, path := range []string{"/form", "/plain"} {
			page.Open(origin + path)
			page.Follow("button")
			if page.Status() != 403 && page.Status() != 415 {
				t.Errorf("%s%s is answered with %d", origin, path, page.Status())
			}
		}
		page.Open(origin + "/fetch")
		page.Until(`document.title === "done"`)
		page.Open(origin + "/frame")
		page.Open(origin + "/sandbox")
		if got := p.room.entered(); len(got) > 0 {
			t.Errorf("from %s came in: %v", origin, got)
		}
		page.Open(origin + "/link")
		page.Follow("a")
		page.Says("by GET")
		if got := p.room.entered(); len(got) != 1 || page.Address() != base+"/a/ap_0011223344556677" {
			t.Errorf("a link of %s leads to %s; came in: %v", origin, page.Address(), got)
		}
	}
	page.Open(link)
	page.Follow("form button")
	page.Says("This sign-in was used before")

	page.Open(base + "/a/ap_0011223344556677")
	p.sessions.end()
	page.Follow("form button")
	page.Says("Nothing was decided")
	looks(t, page, "sign-in after a form")
	page.Follow("main a") // no form is sent again
	if text := page.Text("main"); page.Status() != 401 || page.Address() != base+"/a/ap_0011223344556677" || strings.Contains(text, "Nothing was decided") {
		t.Errorf("the way back leads to %d, %s:\n%s", page.Status(), page.Address(), text)
	}
}

// looks is how every page must look.
func looks(t *testing.T, page *webtest.Page, name string) {
	t.Helper()
	for _, v := range page.Axe() {
		t.Errorf("%s: %s", name, v)
	}
	if n := page.Overflow(); n > 0 {
		t.Errorf("%s is %d pixels too wide at 400", name, n)
	}
	page.Screenshot(name)
}
