package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Page is a page of a browser, with cookies of its own.
type Page struct {
	t       testing.TB
	browser *Browser
	wire    *wire
	session string
	frame   string

	mu     sync.Mutex    // over what is heard
	loaded chan struct{} // closed at each load
	loader string        // of the document that was loaded last
	heard  heard
}

// object is a JSON object.
type object map[string]any

// Page opens an empty page of 1280 by 800 pixels, with no cookies or other stored state.
func (b *Browser) Page(t testing.TB) *Page {
	t.Helper()
	p := &Page{t: t, browser: b, wire: b.wire, loaded: make(chan struct{})}
	var made struct{ BrowserContextID, TargetID, SessionID string }
	p.do("Target.createBrowserContext", object{"disposeOnDetach": true}, &made)
	p.do("Target.createTarget", object{"url": "about:blank", "browserContextId": made.BrowserContextID}, &made)
	p.do("Target.attachToTarget", object{"targetId": made.TargetID, "flatten": true}, &made)
	p.session, p.frame = made.SessionID, made.TargetID
	b.wire.hear(p.session, p.hear)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.do(domain+".enable", object{}, nil)
	}
	p.do("Page.setLifecycleEventsEnabled", object{"enabled": true}, nil)
	p.Size(1280, 800)
	return p
}

// For is the same page in another test, a subtest mostly: its failures are that test's.
func (p *Page) For(t testing.TB) *Page {
	p.t = t
	return p
}

// do has the browser do something, or ends the test.
func (p *Page) do(method string, params, result any) {
	p.t.Helper()
	if err := p.try(method, params, result); err != nil {
		p.t.Fatal(err)
	}
}

func (p *Page) try(method string, params, result any) error {
	return p.tryFor(patience, method, params, result)
}

func (p *Page) tryFor(limit time.Duration, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return p.wire.call(ctx, p.session, method, params, result)
}

// Open goes to an address and returns when it is loaded.
func (p *Page) Open(url string) {
	p.t.Helper()
	p.loads("opening "+url, func() (loader string) {
		p.t.Helper()
		var went struct{ ErrorText, LoaderID string }
		p.do("Page.navigate", object{"url": url}, &went)
		if went.ErrorText != "" {
			p.t.Fatalf("%s: %s", url, went.ErrorText)
		}
		return went.LoaderID
	})
}

// Loads does something that leads to another page, and returns when that is loaded.
func (p *Page) Loads(what string, do func()) {
	p.t.Helper()
	p.loads(what, func() string { do(); return "" })
}

// loads returns when the document is loaded that do names; where it names none, when another than there is now is.
func (p *Page) loads(what string, do func() (loader string)) {
	p.t.Helper()
	var tree struct {
		FrameTree struct{ Frame struct{ LoaderID string } }
	}
	p.do("Page.getFrameTree", object{}, &tree)
	wanted := do()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		loaded, loader := p.load()
		if loader == wanted && wanted != "" || wanted == "" && loader != "" && loader != tree.FrameTree.Frame.LoaderID {
			return
		}
		select {
		case <-loaded:
		case <-ctx.Done():
			p.t.Fatalf("%s: no page was loaded within %v; the page is %s with\n%.2000s", what, patience, p.Address(), p.Text("body"))
		}
	}
}

// load is what is closed at the next load, and which document was loaded last.
func (p *Page) load() (next chan struct{}, loader string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loaded, p.loader
}

// Reload loads the page again.
func (p *Page) Reload() {
	p.t.Helper()
	p.Loads("reload", func() { p.do("Page.reload", object{}, nil) })
}

// SignIn opens a one-time link and presses the button on its page.
func (p *Page) SignIn(link string) {
	p.t.Helper()
	p.Open(link)
	p.Follow("form button")
}

// Address is where the page is.
func (p *Page) Address() string {
	p.t.Helper()
	return Eval[string](p, "location.href")
}

// Title is the page's title.
func (p *Page) Title() string {
	p.t.Helper()
	return Eval[string](p, "document.title")
}

// find is a script's function from a selector to the first such element or null. A selector is one of CSS, or
// "text=" and the whole text of a link, button, summary or label.
const find = `(s => { if (!s.startsWith("text=")) return document.querySelector(s);
	const said = e => (e.matches("input") ? e.value : e.innerText).trim();
	return [...document.querySelectorAll("a, button, summary, label, input[type=submit]")].find(e => said(e) === s.slice(5)) ?? null })`

// on is a script that does something with the element e that is meant, or answers null.
func on(selector, do string) string {
	return "(e => e === null ? null : " + do + ")(" + find + "(" + strconv.QuoteToASCII(selector) + "))"
}

// element reads something of the element that is meant, or ends the test.
func element[T any](p *Page, selector, read string) T {
	p.t.Helper()
	v := Eval[*T](p, on(selector, read))
	if v == nil {
		p.t.Fatalf("%s has no %s; it reads\n%.2000s", p.Address(), selector, Eval[string](p, "document.body.innerText"))
	}
	return *v
}

// Text is what can be read of the first element that is meant.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return element[string](p, selector, "e.innerText")
}

// Texts is what can be read of all elements of a CSS selector.
func (p *Page) Texts(selector string) []string {
	p.t.Helper()
	return Eval[[]string](p, "[...document.querySelectorAll("+strconv.QuoteToASCII(selector)+")].map(e => e.innerText)")
}

// Attribute is an attribute's value, "" where there is none.
func (p *Page) Attribute(selector, name string) string {
	p.t.Helper()
	return element[string](p, selector, "(e.getAttribute("+strconv.QuoteToASCII(name)+") ?? '')")
}

// Has reports whether there is such an element.
func (p *Page) Has(selector string) bool {
	p.t.Helper()
	return Eval[bool](p, find+"("+strconv.QuoteToASCII(selector)+") !== null")
}

// Shown reports whether such an element takes up room on the page.
func (p *Page) Shown(selector string) bool {
	p.t.Helper()
	return Eval[bool](p, "("+on(selector, "e.checkVisibility({visibilityProperty: true})")+") === true")
}

// Says returns when the page's text holds these words, over loads and changes by script.
func (p *Page) Says(words string) {
	p.t.Helper()
	p.Until("document.body.innerText.includes(" + strconv.QuoteToASCII(words) + ")")
}

// Until returns when a script's expression is true, which is looked at again at each change and load of the page.
func (p *Page) Until(expression string) {
	p.t.Helper()
	script := `new Promise((done, late) => {
		const look = () => { if (document.body && (` + expression + `)) { seen.disconnect(); done(true) } };
		const seen = new MutationObserver(look);
		seen.observe(document, {subtree: true, childList: true, characterData: true, attributes: true});
		setTimeout(() => late(new Error("not within the test's patience")), ` + strconv.FormatInt(patience.Milliseconds()-1000, 10) + `);
		look() })`
	for {
		loaded, _ := p.load()
		_, err := p.eval(script, 0)
		if err == nil {
			return
		}
		var r *refusal
		if !errors.As(err, &r) { // the page's own fault, no refusal of the browser's
			p.t.Fatalf("%s: %v; %s reads\n%.2000s", expression, err, p.Address(), p.Text("body"))
		}
		select { // the page went away while it was looked at
		case <-loaded:
		case <-p.t.Context().Done():
			p.t.Fatal(err)
		}
	}
}

// Eval is the value of a script's expression in the page, where a promise is awaited. The page's own policy for scripts
// does not hold for it.
func Eval[T any](p *Page, expression string) (v T) {
	p.t.Helper()
	raw, err := p.eval(expression, 0)
	if err != nil {
		p.t.Fatalf("%.300s: %v", expression, err)
	}
	return decoded[T](p, raw)
}

// decoded is a value that a script answered with.
func decoded[T any](p *Page, raw json.RawMessage) (v T) {
	p.t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		p.t.Fatalf("a script answered %.300s: %v", raw, err)
	}
	return v
}

// eval evaluates in a context of the page, 0 is its own.
func (p *Page) eval(expression string, world int) (json.RawMessage, error) {
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *thrown
	}
	params := object{"expression": expression, "awaitPromise": true, "returnByValue": true}
	if world != 0 {
		params["contextId"] = world
	}
	if err := p.try("Runtime.evaluate", params, &got); err != nil {
		return nil, err
	}
	if got.ExceptionDetails != nil {
		return nil, got.ExceptionDetails
	}
	if got.Result.Value == nil {
		return json.RawMessage("null"), nil // undefined
	}
	return got.Result.Value, nil
}

// thrown is an exception of a script.
type thrown struct {
	Text      string
	Exception struct{ Description string }
}

func (e *thrown) Error() string { return strings.TrimSpace(e.Text + " " + e.Exception.Description) }
