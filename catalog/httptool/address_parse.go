package httptool

import (
	"cmp"
	"net/url"
	"strings"
	"unicode/utf8"
)

// varies is the rule that faults of a URL's fixed parts name.
const varies = fixedPart

// parseURL splits a URL. It returns nil if there is a fault.
func (r *reading) parseURL(text string) *address {
	before := len(r.faults)
	const path = "request.url"
	scheme, rest, ok := strings.Cut(text, "://")
	if name := firstName(scheme); ok && name != "" {
		r.fault(Fault{Path: path, Reason: inScheme(name), Want: varies})
		return nil
	}
	scheme = strings.ToLower(scheme)
	if !ok || scheme != "http" && scheme != "https" {
		r.fault(Fault{Path: path, Got: quoted(text), Reason: notAbsolute, Want: wantAbsolute})
		return nil
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	a := &address{scheme: scheme, host: rest[:end]}
	if !r.authority(path, scheme, a.host) {
		return nil
	}
	rest, fragment, hasFragment := strings.Cut(rest[end:], "#")
	if hasFragment {
		r.fault(Fault{Path: path, Reason: fragmentNotSent(fragment), Want: wantRemoved})
	}
	rest, query, hasQuery := strings.Cut(rest, "?")
	for segment := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		a.segments = append(a.segments, r.segment(path, segment))
	}
	if hasQuery && query != "" {
		for text := range strings.SplitSeq(query, "&") {
			a.query = append(a.query, r.urlMember(path, text))
		}
	}
	if len(r.faults) > before {
		return nil
	}
	return a
}

// authority checks user, host and port, and reports whether they are valid.
func (r *reading) authority(path, scheme, authority string) bool {
	user, host, hasUser := strings.Cut(authority, "@")
	if !hasUser {
		user, host = "", authority
	}
	for _, part := range [][2]string{{userPart, user}, {"host", host}} {
		if name := firstName(part[1]); name != "" {
			r.fault(Fault{Path: path, Reason: inPart(name, part[0]), Want: varies})
			return false
		}
	}
	if hasUser {
		r.fault(Fault{Path: path, Reason: aUserPart, Want: wantAuthorization})
		return false
	}
	u, err := url.Parse(scheme + "://" + host + "/")
	if err != nil || u.Hostname() == "" || u.Host != host || strings.HasSuffix(host, ":") || !isPort(u.Port()) {
		r.fault(Fault{Path: path, Got: quoted(host), Reason: noHost, Want: wantHost})
		return false
	}
	return true
}

// isPort reports whether a port is a number from 1 to 65535, or absent.
func isPort(port string) bool {
	n := 0
	for _, c := range port {
		if n = n*10 + int(c-'0'); n > 65535 {
			return false
		}
	}
	return port == "" || n > 0
}

// firstName returns the text in the first braces of a text, or "" if there are no braces.
func firstName(text string) string {
	_, after, ok := strings.Cut(text, "{")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(after, "}")
	return cmp.Or(name, "...")
}

// segment reads one path segment.
func (r *reading) segment(path, text string) template {
	t := r.template(path, text)
	for _, name := range t.arguments() {
		r.used[name] = true
		r.argument(path, name, place{words: theURLPath})
	}
	for i := range t {
		t[i].literal = braces.Replace(t[i].literal)
		r.encoded(path, t[i].literal, "/?#")
	}
	if plain, err := url.PathUnescape(text); err == nil && (plain == "." || plain == "..") {
		r.fault(Fault{Path: path, Reason: pathSegment(text), Want: wantRealPath})
	}
	return t
}

// urlMember reads one name=value of a URL's query.
func (r *reading) urlMember(path, text string) member {
	name, value, full := strings.Cut(text, "=")
	if argument := firstName(name); argument != "" {
		r.fault(Fault{Path: path, Reason: inQueryName(argument), Want: varies})
		return member{}
	}
	r.encoded(path, name, "#&")
	m := member{name: name, value: r.template(path, value), bare: !full, raw: true}
	for _, argument := range m.value.arguments() {
		r.used[argument] = true
		r.argument(path, argument, place{words: theURLQuery})
	}
	for i := range m.value {
		m.value[i].literal = braces.Replace(m.value[i].literal)
		r.encoded(path, m.value[i].literal, "#&")
	}
	return m
}

// braces encodes the braces in a literal. A template's literal has them only where the text has {{ or }}.
var braces = strings.NewReplacer("{", "%7B", "}", "%7D")

// encoded adds a fault if a URL's literal contains a character that must be percent-encoded. The characters in but must
// be encoded too.
func (r *reading) encoded(path, literal, but string) {
	for i := 0; i < len(literal); i++ {
		c := literal[i]
		switch {
		case c == '%' && i+2 < len(literal) && isHex(literal[i+1]) && isHex(literal[i+2]):
			i += 2
		case isUnreserved(rune(c)) || strings.IndexByte("!$&'()*+,;=:@/?", c) >= 0 && strings.IndexByte(but, c) < 0:
		default:
			_, size := utf8.DecodeRuneInString(literal[i:])
			r.fault(Fault{Path: path, Reason: notInURL(quoted(literal[i : i+size])), Want: "write " + encode(literal[i:i+size])})
			return
		}
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
