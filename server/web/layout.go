package web

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"sync"

	"patterngate/server/web/wording"
)

//go:embed html/*.html
var files embed.FS

// templates returns all pages. html/template escapes each value for its place, and no data is ever marked as safe. They
// are parsed when the first page is shown, because most starts of the program show none.
var templates = sync.OnceValue(func() *template.Template { return template.Must(template.ParseFS(files, "html/*.html")) })

// frame is what all pages have in common.
type frame struct {
	Title   string // Patterngate's own words and ids; never an outsider's text
	Section string // inbox or runs: the part that the page belongs to; "" for neither
	CSRF    string // the token that forms send; "": not signed in, and no navigation
	Watch   string // ids that the page watches, separated by blanks, or [patterns.Everything]; "": none
	From    string // the mark from which it watches
	Version string
}

// frame returns the frame of a page for a signed-in person.
func (p *Pages) frame(ctx context.Context, title, section string) frame {
	return frame{Title: title, Section: section, CSRF: sessionOf(ctx).csrf, Version: p.config.Version}
}

// watching returns the frame of a page that watches changes. It must be made before the page's data is read.
func (p *Pages) watching(f frame, id string) frame {
	f.Watch, f.From = id, strconv.FormatUint(p.mark(), 10)
	return f
}

// message is a page with a short text.
type message struct {
	frame
	Lines []string
	Links []link
}

// link leads to one of the inbox's pages.
type link struct{ To, Text string }

// toInbox and toRuns are the links of a message.
var (
	toInbox = link{"/", wording.LinkInbox}
	toRuns  = link{"/r", wording.LinkRuns}
)

// refuse answers with a page that says why the request is refused.
func (p *Pages) refuse(w http.ResponseWriter, r *http.Request, status int, lines ...string) {
	render(w, status, "message.html", message{p.frame(r.Context(), http.StatusText(status), ""), lines, []link{toInbox, toRuns}})
}

// render writes a page. It makes the whole page before it sends any of it.
func render(w http.ResponseWriter, status int, name string, data any) {
	var page bytes.Buffer
	if err := templates().ExecuteTemplate(&page, name, data); err != nil {
		http.Error(w, wording.PageFailed, http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(page.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // an error means that the browser disconnected
}
