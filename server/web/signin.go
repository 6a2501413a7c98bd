package web

import (
	"crypto/sha256"
	"net/http"
	"regexp"
	"strings"

	"patterngate/server/web/wording"
)

// NewToken returns a token for one sign-in, and the offer that is stored for it, see [patterns.Approvals].OfferSignIn.
// Show the token only to the person who asked for it.
func NewToken() (token string, offer [32]byte) {
	token = secret()
	return token, sha256.Sum256([]byte(token))
}

// SignInPath returns the path of a token's sign-in page, below the door's URL.
func SignInPath(token string) string { return "/sign-in/" + token }

var tokenForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// offer shows a button and does not use up the offer, because a browser or a program may load the link in advance.
func (d *Door) offer(w http.ResponseWriter, r *http.Request, token string) *refusal {
	if r.Method == http.MethodPost {
		return wrongMethod(w, "GET, HEAD")
	}
	if !tokenForm.MatchString(token) {
		return &refusal{status: http.StatusNotFound, title: wording.TitleNoSignIn, how: true, words: []string{wording.LinkCut}}
	}
	show(w, http.StatusOK, wording.TitleSignIn, notice{Token: token, Words: []string{
		wording.SignsIn(d.URL())}})
	return nil
}

// signIn accepts a token once and answers with a cookie. A form of another page was refused before.
func (d *Door) signIn(w http.ResponseWriter, r *http.Request) *refusal {
	if r.Method != http.MethodPost {
		return &refusal{status: http.StatusUnauthorized, title: wording.TitleSignIn, how: true}
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
		return &refusal{status: http.StatusTooManyRequests, title: wording.TitleTooMany, how: true, words: []string{
			wording.WrongSignIns(maxWrong)}}
	case !ok:
		d.config.Log.WarnContext(r.Context(), "inbox sign-in refused")
		return &refusal{status: http.StatusUnauthorized, title: wording.TitleNotSignedIn, how: true, words: []string{
			wording.SignInUsed}}
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

// unknown asks for a sign-in. A link of another site arrives without the cookie (SameSite=Strict). So a browser that
// follows one gets a link of the inbox's own to the same page. The request of that link has the cookie, if the browser
// is signed in.
func unknown(r *http.Request) *refusal {
	refused := &refusal{status: http.StatusUnauthorized, title: wording.TitleSignIn, how: true, back: backTo(r)}
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case r.Method == http.MethodPost:
		refused.words = []string{wording.SignInOver}
	case (site == "cross-site" || site == "same-site") && ownPath.MatchString(r.URL.Path):
		refused.words = []string{wording.LinkedFromElsewhere}
		refused.again = r.URL.Path
	}
	return refused
}

// backTo returns the page of a request as the target of a link, or "" for none. Without such a link, a person would
// reload the answer, and the browser would send the old form again.
func backTo(r *http.Request) string {
	if page := strings.TrimSuffix(r.URL.Path, "/verify"); ownPath.MatchString(page) { // /verify accepts no GET
		return page
	}
	return ""
}

// ownPath matches the paths of the inbox's own pages.
var ownPath = regexp.MustCompile(`^/([a-z]{1,8}(/[a-z]{1,4}_[0-9a-f]{16}(/[a-z]{1,8})?)?)?$`)

// notice is a page of the door itself.
type notice struct {
	frame
	Words   []string
	Command string // the command to type for a sign-in
	Token   string // the token that a button sends
	Again   string // target of a link onward
	Back    string // target of a link back, after a sign-in if needed
}

// show writes a page of the door itself.
func show(w http.ResponseWriter, status int, title string, n notice) {
	if n.Title = title; strings.HasPrefix(n.Again, "/") {
		w.Header().Set("Refresh", "0; url="+n.Again) // a signed-in browser gets there at once, without a click
	}
	render(w, status, "door.html", n)
}
