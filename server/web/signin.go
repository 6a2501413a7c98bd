package web

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strconv"
)

// NewToken is a token for one sign-in, and what is offered by it, see [patterns.Approvals].OfferSignIn. It is shown to
// nobody but the person who asked for it.
func NewToken() (token string, offer [32]byte) {
	token = secret()
	return token, sha256.Sum256([]byte(token))
}

// SignInPath is where a token leads, below the door's URL.
func SignInPath(token string) string { return "/sign-in/" + token }

var tokenForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// offer shows a button, and uses nothing up: what a browser or a program looks at in advance must not count.
func (d *Door) offer(w http.ResponseWriter, r *http.Request, token string) *refusal {
	if r.Method == http.MethodPost {
		return wrongMethod(w, "GET, HEAD")
	}
	if !tokenForm.MatchString(token) {
		return &refusal{status: http.StatusNotFound, title: "No such sign-in", how: true, words: []string{"The link is not whole."}}
	}
	writePage(w, http.StatusOK, notice{Title: "Sign in", Token: token, Words: []string{
		"This signs this browser in to the Patterngate inbox at " + d.URL() + ", for 12 hours or until the program that serves it ends. The link counts once."}})
	return nil
}

// signIn takes a token, once, and gives a cookie for it. A form of another page was refused before.
func (d *Door) signIn(w http.ResponseWriter, r *http.Request) *refusal {
	if r.Method != http.MethodPost {
		return &refusal{status: http.StatusUnauthorized, title: "Sign in", how: true}
	}
	tokens := r.PostForm["token"]
	ok, more, err := d.guesses.try(func() (bool, error) {
		if len(tokens) != 1 || !tokenForm.MatchString(tokens[0]) {
			return false, nil
		}
		return d.config.SignIns.SignIn(sha256.Sum256([]byte(tokens[0])))
	})
	switch {
	case err != nil:
		return d.broken(r, err)
	case more:
		return &refusal{status: http.StatusTooManyRequests, title: "Too many attempts", how: true, words: []string{
			fmt.Sprintf("%d sign-ins were wrong within a minute. Wait a minute, then:", maxWrong)}}
	case !ok:
		d.config.Log.WarnContext(r.Context(), "inbox sign-in refused")
		return &refusal{status: http.StatusUnauthorized, title: "Not signed in", how: true, words: []string{
			"This sign-in was used before, or its 60 seconds are over."}}
	}
	http.SetCookie(w, d.sessions.begin())
	d.config.Log.InfoContext(r.Context(), "inbox sign-in")
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// signOut ends a session.
func (d *Door) signOut(w http.ResponseWriter, r *http.Request, s *signedIn) *refusal {
	if r.Method != http.MethodPost {
		return wrongMethod(w, "POST")
	}
	d.sessions.leave(s)
	http.SetCookie(w, &http.Cookie{Name: cookieName, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// unknown asks somebody to sign in. A link of another site reaches us without our cookie (SameSite=Strict), so whoever
// follows one is led on once by a link of our own: what they then ask for has it, if they are signed in.
func unknown(r *http.Request) *refusal {
	refused := &refusal{status: http.StatusUnauthorized, title: "Sign in", how: true}
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case r.Method == http.MethodPost:
		refused.words = []string{"Nothing was decided: the sign-in of this page is over. It ends after 12 hours, and with the program that served the page."}
	case (site == "cross-site" || site == "same-site") && ownPath.MatchString(r.URL.Path):
		refused.words = []string{"A link of another page led here. If this browser is signed in, go on:"}
		refused.again = r.URL.Path
	}
	return refused
}

// ownPath is what a page of ours may be called.
var ownPath = regexp.MustCompile(`^/([a-z]{1,8}(/[a-z]{1,4}_[0-9a-f]{16}(/[a-z]{1,8})?)?)?$`)

// notice is a page of the door itself.
type notice struct {
	Title   string
	Words   []string
	Command string // what to type for a sign-in
	Token   string // that a button offers
	Again   string // where a link leads on
}

var noticePage = template.Must(template.New("notice").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{{.Title}} · Patterngate</title></head>
<body><main>
<h1>{{.Title}}</h1>
{{range .Words}}<p>{{.}}</p>
{{end}}{{with .Again}}<p><a href="{{.}}">Go on</a></p>
{{end}}{{with .Token}}<form method="post" action="/sign-in"><input type="hidden" name="token" value="{{.}}"><button autofocus>Sign in</button></form>
{{end}}{{with .Command}}<p>To sign in, type at a terminal of this machine:</p>
<pre><code>{{.}}</code></pre>
<p>It opens this page with a sign-in that counts once, within 60 seconds. Then load this page again.</p>
{{end}}</main></body>
</html>
`))

func writePage(w http.ResponseWriter, status int, n notice) {
	var page bytes.Buffer
	if err := noticePage.Execute(&page, n); err != nil {
		panic(err) // a template of ours over texts
	}
	h := w.Header()
	if n.Again != "" && n.Again[0] == '/' {
		h.Set("Refresh", "0; url="+n.Again) // who has a cookie is there at once, without a click
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(page.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // who does not read it is gone
}
