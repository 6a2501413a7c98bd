package web

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"sync"
)

//go:embed html/*.html
var files embed.FS

// templates are all pages. What is put into them is escaped for where it stands by html/template; no data is ever marked as
// safe. They are read when the first page is shown: most starts of the program show none.
var templates = sync.OnceValue(func() *template.Template { return template.Must(template.ParseFS(files, "html/*.html")) })

// frame is what is around every page.
type frame struct {
	Title   string // our own words and ids; never an outsider's text
	Section string // inbox or runs: the part that the page belongs to; "" for neither
	CSRF    string // what forms bring along; "": nobody has signed in, and there is no navigation
	Watch   string // the ids of whose changes the page is told, parted by blanks, or [patterns.Everything]; "": none
	From    string // from where on it is told
	Version string
}

// frame is that of a page for who has signed in.
func (p *Pages) frame(ctx context.Context, title, section string) frame {
	return frame{Title: title, Section: section, CSRF: sessionOf(ctx).csrf, Version: p.config.Version}
}

// watching is the frame of a page that is told of changes. It is made before what the page shows is read.
func (p *Pages) watching(f frame, id string) frame {
	f.Watch, f.From = id, strconv.FormatUint(p.mark(), 10)
	return f
}

// message is a page that says something in a few words.
type message struct {
	frame
	Lines []string
	Links []link
}

// link leads to a page of ours.
type link struct{ To, Text string }

// toInbox and toRuns lead back from a message.
var (
	toInbox = link{"/", "What waits for a decision"}
	toRuns  = link{"/r", "All runs"}
)

// refuse answers with a page that says why there is nothing else.
func (p *Pages) refuse(w http.ResponseWriter, r *http.Request, status int, lines ...string) {
	render(w, status, "message.html", message{p.frame(r.Context(), http.StatusText(status), ""), lines, []link{toInbox, toRuns}})
}

// render writes a page. It is made whole before anything of it is sent.
func render(w http.ResponseWriter, status int, name string, data any) {
	var page bytes.Buffer
	if err := templates().ExecuteTemplate(&page, name, data); err != nil {
		http.Error(w, "this page could not be made", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(page.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // a browser that went away
}
