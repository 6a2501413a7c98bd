package web

import (
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"patterngate/server/web/wording"
)

// refusal says why a request is refused, in words for a person.
type refusal struct {
	status int
	title  string
	words  []string // one paragraph each
	how    bool     // also say how to sign in
	again  string   // target of a link onward; "": none
	back   string   // target of a link back, after a sign-in if needed; "": none
	close  bool     // the connection ends
}

// secure sets the headers of every answer. They allow no script, frame or form from elsewhere, no caching and no
// referrer.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
}

// admit checks the sender of a request, its Host and the page that it comes from.
//
// Host must be exactly the listener's. With DNS rebinding, a page of another site makes its own name lead here, and its
// requests have that name.
//
// A request caused by a page of another site shows this in Sec-Fetch-Site, which no page can set, and in Origin. Such a
// request may only be a link that a person follows.
//
// A POST must come from one of the inbox's own pages. It has the inbox's Origin, or Sec-Fetch-Site same-origin with no
// Origin or with null. Browsers send null from pages with Referrer-Policy no-referrer (Fetch standard, "append a
// request Origin header"), as the inbox's pages have. A page that hides its origin also sends null, so null alone is
// not enough.
func (d *Door) admit(r *http.Request) *refusal {
	foreign := &refusal{status: http.StatusForbidden, title: wording.TitleNotFromHere, close: true, words: []string{
		wording.OtherPage}}
	if !d.own(r.Context()) {
		return &refusal{status: http.StatusForbidden, title: wording.TitleOtherUser, close: true, words: []string{
			wording.OtherUser}}
	}
	if r.Host != d.host {
		return &refusal{status: http.StatusForbidden, title: wording.TitleOtherAddress, close: true, again: d.URL() + "/", words: []string{
			wording.OtherAddress(d.URL() + "/")}}
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		return &refusal{status: http.StatusMethodNotAllowed, title: wording.TitleWrongMethod, close: true, words: []string{wording.GetOrPost}}
	}
	site, origin := r.Header["Sec-Fetch-Site"], r.Header["Origin"]
	if len(site) > 1 || len(origin) > 1 {
		return foreign
	}
	here := len(site) == 1 && site[0] == "same-origin"
	ours := len(origin) == 1 && origin[0] == d.URL()
	hidden := len(origin) == 0 || origin[0] == "null"
	elsewhere := len(site) == 1 && !here && site[0] != "none"
	switch {
	case elsewhere && !d.leads(r):
		return foreign
	case len(origin) == 1 && !ours && !(hidden && here):
		return foreign
	case r.Method == http.MethodPost && !ours && !here:
		return foreign
	}
	return nil
}

// leads reports whether a request is a link of another page that a person follows. Such a request changes nothing and
// is shown as a page of its own.
func (d *Door) leads(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// readForm reads the whole form of a POST.
func readForm(w http.ResponseWriter, r *http.Request, most int) *refusal {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" || r.Header["Content-Encoding"] != nil {
		return &refusal{status: http.StatusUnsupportedMediaType, title: wording.TitleNoForm, close: true, words: []string{
			wording.WantForm}}
	}
	tooLong := &refusal{status: http.StatusRequestEntityTooLarge, title: wording.TitleTooLong, close: true, words: []string{
		wording.FormLimit(most >> 10)}}
	if r.ContentLength > int64(most) {
		return tooLong
	}
	r.Body = http.MaxBytesReader(w, r.Body, int64(most))
	r.URL.RawQuery = "" // only the body may say what to do
	err = r.ParseForm()
	_, long := errors.AsType[*http.MaxBytesError](err)
	switch {
	case long:
		return tooLong
	case tooLate(err):
		return &refusal{status: http.StatusRequestTimeout, title: wording.TitleTooSlow, close: true, words: []string{
			wording.FormTooSlow}}
	case err != nil:
		return &refusal{status: http.StatusBadRequest, title: wording.TitleNoForm, close: true, words: []string{
			wording.FormUnreadable}}
	}
	return nil
}

func wrongMethod(w http.ResponseWriter, allowed string) *refusal {
	w.Header().Set("Allow", allowed)
	return &refusal{status: http.StatusMethodNotAllowed, title: wording.TitleWrongMethod, words: []string{wording.Takes(allowed)}}
}

// refuse answers a request with a refusal.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, refused *refusal) {
	h := w.Header()
	switch refused.status {
	case http.StatusMethodNotAllowed:
		if h.Get("Allow") == "" {
			h.Set("Allow", "GET, HEAD, POST")
		}
	case http.StatusTooManyRequests:
		h.Set("Retry-After", "60")
	}
	if refused.close {
		h.Set("Connection", "close")
	}
	d.config.Log.DebugContext(r.Context(), "inbox request refused", "status", refused.status, "reason", refused.title) // the path may hold a token
	command := ""
	if refused.how {
		command = d.config.Command
	}
	show(w, refused.status, refused.title, notice{Words: refused.words, Command: command, Again: refused.again, Back: refused.back})
}

// lateHead returns the answer to a client that sends the head of its request too slowly.
func lateHead() string {
	const body = wording.HeadTooSlow + "\n"
	var b strings.Builder
	b.WriteString("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n")
	h := http.Header{}
	secure(h)
	_ = h.Write(&b) // writes to memory
	b.WriteString("\r\n" + body)
	return b.String()
}
