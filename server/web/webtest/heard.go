package webtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// heard is what a page said of itself since it was opened.
type heard struct {
	requested  []string
	complaints []string
	status     int
	headers    map[string]string
}

// hear takes in an event.
func (p *Page) hear(m message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Method {
	case "Page.lifecycleEvent":
		var e struct{ Name, FrameID, LoaderID string }
		if json.Unmarshal(m.Params, &e) == nil && e.Name == "load" && e.FrameID == p.frame {
			close(p.loaded)
			p.loaded, p.loader = make(chan struct{}), e.LoaderID
		}
	case "Network.requestWillBeSent":
		var e struct{ Request struct{ URL, Method string } }
		if json.Unmarshal(m.Params, &e) == nil {
			p.heard.requested = append(p.heard.requested, e.Request.Method+" "+e.Request.URL)
		}
	case "Network.responseReceived":
		var e struct {
			Type, FrameID string
			Response      struct {
				Status  int
				Headers map[string]string
			}
		}
		if json.Unmarshal(m.Params, &e) == nil && e.Type == "Document" && e.FrameID == p.frame {
			p.heard.status, p.heard.headers = e.Response.Status, e.Response.Headers
		}
	case "Log.entryAdded":
		var e struct {
			Entry struct{ Level, Source, Text, URL string }
		}
		if json.Unmarshal(m.Params, &e) == nil && (e.Entry.Level == "error" || e.Entry.Level == "warning") {
			p.heard.complaints = append(p.heard.complaints, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case "Runtime.exceptionThrown":
		var e struct{ ExceptionDetails thrown }
		if json.Unmarshal(m.Params, &e) == nil {
			p.heard.complaints = append(p.heard.complaints, "script: "+e.ExceptionDetails.Error())
		}
	}
}

// Requested are the requests of the page since it was opened, each as "GET http://...".
func (p *Page) Requested() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.heard.requested)
}

// Complaints are the errors and warnings of the browser's console since the page was opened: what its policy forbade,
// what was not found, what a script threw.
func (p *Page) Complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.heard.complaints)
}

// Status returns the HTTP status of the last load of the page.
func (p *Page) Status() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard.status
}

// Header is a header of the answer that the page was loaded from last, "" for none.
func (p *Page) Header(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, value := range p.heard.headers {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

// Cookie is a cookie as the browser keeps it.
type Cookie struct {
	Name, Value, Domain, Path, SameSite string
	HTTPOnly, Secure, Session           bool
}

// Cookies are those that the page's address would be sent.
func (p *Page) Cookies() []Cookie {
	p.t.Helper()
	var got struct{ Cookies []Cookie }
	p.do("Network.getCookies", object{}, &got)
	return got.Cookies
}
