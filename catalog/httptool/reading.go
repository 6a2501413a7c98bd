package httptool

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"patterngate/catalog"
)

// reading collects the faults of a configuration while reading it.
type reading struct {
	config Config
	used   map[string]bool // arguments that are in URL or query
	faults []Fault
}

func (r *reading) fault(f Fault) { r.faults = append(r.faults, f) }

// quoted returns a text of a configuration in quotes, cut.
func quoted(text string) string {
	const longest = 80
	if len(text) > longest {
		text = text[:longest] + "..."
	}
	return strconv.Quote(text)
}

// template parses a template. A template with a fault becomes empty.
func (r *reading) template(path, text string) template {
	t, err := parseTemplate(text)
	if err != nil {
		r.fault(Fault{Path: path, Reason: err.Error(), Want: wantPlaceholder})
	}
	return t
}

// place is the place of an argument and the types that are allowed there.
type place struct {
	words       string
	list, whole bool // list: a list is allowed; whole: any type is allowed
}

// argument checks an argument's place: the argument must exist, with a type that is allowed there.
func (r *reading) argument(path, name string, at place) {
	kind, ok := "", false
	if r.config.Arguments != nil {
		kind, ok = r.config.Arguments(name)
	}
	if !ok {
		f := Fault{Path: path, Reason: noArgument(name), Want: wantInput}
		if r.config.Near != nil {
			f.DidYouMean = r.config.Near(name)
		}
		r.fault(f)
		return
	}
	if !at.whole && (kind == "object" || kind == "null" || kind == "array" && !at.list) {
		r.fault(Fault{Path: path, Reason: ofType(name, kind), Want: onlyWords(at.words)})
	}
}

// method checks the method.
func (r *reading) method() {
	known := []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	if slices.Contains(known, r.config.Method) {
		return
	}
	f := Fault{Path: "request.method", Reason: "missing", Want: "write " + strings.Join(known, ", ")}
	if r.config.Method != "" {
		f.Reason, f.Got = unknownMethod, quoted(r.config.Method)
	}
	if upper := strings.ToUpper(r.config.Method); slices.Contains(known, upper) {
		f.DidYouMean = upper
	}
	r.fault(f)
}

// query reads the query members that are not in the URL.
func (r *reading) query() []member {
	var members []member
	for _, q := range r.config.Query {
		path := "request.query." + q.Name
		if q.Name == "" {
			r.fault(Fault{Path: path, Reason: unnamedQuery, Want: wantQueryName})
		}
		if q.Secret != nil {
			continue // see [Tool.secretQuery]
		}
		m := member{name: encode(q.Name), value: r.template(path, q.Text)}
		_, alone := m.value.alone()
		for _, name := range m.value.arguments() {
			r.used[name] = true
			r.argument(path, name, place{words: queryBesideText, list: alone})
		}
		members = append(members, m)
	}
	return members
}

// setHere are headers that the program or the connection sets: Host, Content-Length and the hop-by-hop ones (RFC 9110,
// 7.6.1).
var setHere = []string{
	"Host", "Content-Length", "Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Proxy-Authenticate",
}

// header is one header of every request.
type header struct {
	name, text, prefix string
	secret             catalog.Secret
}

// headers reads the headers and the name of the idempotency header.
func (r *reading) headers() []header {
	var headers []header
	seen := map[string]bool{}
	for _, h := range r.config.Headers {
		path := "request.headers." + h.Name
		name := r.headerName(path, h.Name, seen)
		read := header{name: name, prefix: h.Prefix, secret: h.Secret}
		text := h.Prefix
		if h.Secret == nil {
			t := r.template(path, h.Text)
			if names := t.arguments(); len(names) > 0 {
				r.fault(Fault{Path: path, Reason: inHeader(names[0]), Want: wantNoArgument})
			}
			text, _, _ = t.fill(nil, plain)
			read.text = text
		}
		if !isFieldValue(text) {
			r.fault(Fault{Path: path, Reason: controlCharacter, Want: wantOneLine})
		}
		headers = append(headers, read)
	}
	if name := r.config.IdempotencyHeader; name != "" {
		r.headerName("request.idempotency_header", name, seen)
	}
	return headers
}

// headerName checks a name and returns it in canonical form.
func (r *reading) headerName(path, name string, seen map[string]bool) string {
	canonical := http.CanonicalHeaderKey(name)
	switch {
	case !isToken(name):
		r.fault(Fault{Path: path, Reason: notHeader(quoted(name)), Want: headerForm})
	case slices.Contains(setHere, canonical):
		r.fault(Fault{Path: path, Reason: setByConnection(name), Want: wantRemoved})
	case seen[canonical]:
		r.fault(Fault{Path: path, Reason: repeatedHeader(canonical), Want: wantOnce})
	}
	seen[canonical] = true
	return canonical
}

// isToken reports whether a text is a token (RFC 9110, 5.6.2).
func isToken(text string) bool {
	return text != "" && strings.IndexFunc(text, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	}) < 0
}

// isFieldValue reports whether a text is a valid header value.
func isFieldValue(text string) bool {
	return strings.IndexFunc(text, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) < 0
}
