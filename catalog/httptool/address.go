package httptool

import (
	"net/url"
	"strconv"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// address is a URL with places for arguments. It was split before any argument is inserted. Scheme, host, the number of
// path segments and the query names are fixed.
type address struct {
	scheme, host string     // host with its port, as in the config
	segments     []template // literals are percent-encoded; the path has a / before each segment
	query        []member
}

// member is one query member. Its name is percent-encoded.
type member struct {
	name  string
	value template
	bare  bool // without a =
	raw   bool // its literals are percent-encoded already: it comes from the URL
}

// maxURL is the longest URL, in bytes, that arguments may produce.
const maxURL = 64 << 10

// build inserts arguments into the URL. Mismatches name the arguments that are rejected.
func (a *address) build(args map[string]any) (*url.URL, []catalog.Mismatch) {
	var bad []catalog.Mismatch
	refuse := func(name, want string) {
		bad = append(bad, catalog.Mismatch{Pointer: ijson.Pointer("").Member(name), Kind: catalog.MismatchValue, Want: want})
	}
	path := a.path(args, refuse)
	query := a.queryText(args, refuse)
	if len(bad) == 0 && len(path)+len(query) > maxURL {
		bad = append(bad, catalog.Mismatch{Kind: catalog.MismatchValue, Want: urlBytes(strconv.Itoa(maxURL))})
	}
	if len(bad) > 0 {
		return nil, bad
	}
	plainPath, err := url.PathUnescape(path)
	if err != nil { // literals were checked, values are encoded here
		return nil, []catalog.Mismatch{{Kind: catalog.MismatchValue, Want: decodablePath}}
	}
	return &url.URL{Scheme: a.scheme, Host: a.host, Path: plainPath, RawPath: path, RawQuery: query}, nil
}

// path returns the encoded path. It rejects arguments that make a segment empty, . or .., because that is another path
// than the configured one.
func (a *address) path(args map[string]any, refuse func(name, want string)) string {
	var b strings.Builder
	for _, segment := range a.segments {
		b.WriteByte('/')
		text, got, name := segment.fill(args, encode)
		switch {
		case got == absent:
			refuse(name, valueInPath)
		case got == unusual:
			refuse(name, wordInPath)
		case len(segment.arguments()) > 0 && isDots(text):
			refuse(segment.arguments()[0], noDots)
		}
		b.WriteString(text)
	}
	return b.String()
}

const noDots = safeSegment

// isDots reports whether an encoded segment is empty, . or .., in any spelling. A slash in the segment stays encoded.
// If a server decodes a path before it resolves it, the argument's pattern must exclude slashes.
func isDots(segment string) bool {
	text, err := url.PathUnescape(segment)
	return err != nil || text == "" || text == "." || text == ".."
}

// queryText returns the encoded query, in the order of the configuration.
func (a *address) queryText(args map[string]any, refuse func(name, want string)) string {
	var b strings.Builder
	add := func(m member, value string) {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(m.name)
		if !m.bare {
			b.WriteString("=" + value)
		}
	}
	for _, m := range a.query {
		values, name := m.values(args)
		if name != "" {
			refuse(name, m.want())
		}
		for _, v := range values {
			add(m, v)
		}
	}
	return b.String()
}

// want describes which values a query member's argument may have.
func (m member) want() string {
	if _, alone := m.value.alone(); alone && !m.raw {
		return wordsInQuery
	}
	return wordInQuery
}

// values returns the encoded values of a member: none if an argument is absent, several if it is a list. The result
// refused is the name of an argument that is not allowed there.
func (m member) values(args map[string]any) (values []string, refused string) {
	if name, alone := m.value.alone(); alone && !m.raw {
		if list, ok := args[name].([]any); ok {
			return listed(name, list)
		}
	}
	literal := encode
	if m.raw {
		literal = plain
	}
	var b strings.Builder
	for _, p := range m.value {
		if p.argument == "" {
			b.WriteString(literal(p.literal))
			continue
		}
		text, got, name := template{p}.fill(args, encode)
		switch got {
		case absent:
			return nil, ""
		case unusual:
			return nil, name
		}
		b.WriteString(text)
	}
	return []string{b.String()}, ""
}

// listed encodes the elements of a list. It skips nulls.
func listed(name string, list []any) (values []string, refused string) {
	for _, element := range list {
		text, ok := scalar(element)
		switch {
		case element == nil:
		case !ok:
			return nil, name
		default:
			values = append(values, encode(text))
		}
	}
	return values, ""
}
