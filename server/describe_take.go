package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// The bounds of describe_catalog's arguments (spec/surface.md section 2).
const (
	maxNames     = 50
	maxQuery     = 256 // bytes
	maxPage      = 100
	ordinaryPage = 20
)

// catalogArguments is the table of describe_catalog, in the order in which faults are told.
func catalogArguments() []argument {
	return []argument{{name: "pattern"}, {name: "names", shape: shapeList}, {name: "query"}, {name: "cursor"}, {name: "limit"}}
}

// take reads the arguments as they came from a principal. With problems nothing is listed; the first names the stop
// reason. A filter that is blank or empty filters nothing, as if it were absent: many clients fill in all that a schema
// names.
func (d *describer) take(raw json.RawMessage, principal string) (search, call, []document.Problem) {
	r := request{call: call{Tool: catalogTool, Intents: map[string]any{}, IntentWas: map[string]bool{}}}
	arguments, problem := decodeArguments(raw)
	if problem != nil {
		return search{}, r.call, []document.Problem{*problem}
	}
	r.Arguments = arguments
	r.unknown(catalogArguments())
	listed := d.directory()
	s := search{pattern: listed.readPattern(&r), names: listed.readNames(&r), words: readQuery(&r), limit: readLimit(&r)}
	s.bound = boundTo(s, principal)
	if cursor := r.text("cursor"); cursor != "" && r.clean() {
		var ours bool
		if s.from, ours = d.cursors.open(cursor, s.bound); !ours {
			r.add(classLimit, "cursor", cursor, "the next_cursor of a call with the same pattern, names and query; without one the list begins anew")
		}
	}
	return s, r.call, document.CapProblems(slices.Concat(r.faults[:]...))
}

// clean reports whether nothing was wrong so far.
func (r *request) clean() bool {
	return !slices.ContainsFunc(r.faults[:], func(found []document.Problem) bool { return len(found) > 0 })
}

// text is an optional text; empty where it is absent, blank or no text.
func (r *request) text(name string) string {
	v := r.Arguments[name]
	text, isText := v.(string)
	if v != nil && !isText {
		r.wrong(argument{name: name}, v, "string")
	}
	if ijson.Blank(text) {
		return ""
	}
	return text
}

// readPattern is the place of the pattern that is asked for; -1 for none.
func (d *directory) readPattern(r *request) int {
	name := r.text("pattern")
	if name == "" {
		return -1
	}
	var names []string
	for i, p := range d.patterns {
		if p.name == name {
			return i
		}
		names = append(names, p.name)
	}
	p := r.add(classLimit, "pattern", name, oneOf(names))
	p.Means(p.Pointer, name, gateway.Near(name, names))
	return -1
}

// readNames are the tools that are asked for, sorted, each once. Those that nothing may call are as good as absent.
func (d *directory) readNames(r *request) []string {
	list, at := r.list("names")
	if len(list) > maxNames {
		r.add(classLimit, "names", r.Arguments["names"], fmt.Sprintf("at most %d names", maxNames))
		return nil
	}
	var names, all []string
	for i, v := range list {
		name, isText := v.(string)
		c, want := classType, "a tool's name"
		if isText {
			c, want = classNotFound, "the name of a tool that may be called; describe_catalog without names lists them"
		}
		if isText && d.place[name] {
			names = append(names, name)
			continue
		}
		p := r.add(c, "names", v, want)
		p.Pointer = at.Index(i)
		if isText {
			if all == nil {
				all = d.names()
			}
			p.Means(p.Pointer, name, gateway.Near(name, all))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// oneOf words a choice of names as a problem's want, which is short; a name is never cut.
func oneOf(names []string) string {
	const most = 190
	words := "one of "
	for i, name := range names {
		if i > 0 {
			words += ", "
		}
		if len(words)+len(name) > most {
			return words + "..."
		}
		words += name
	}
	return words
}

// list is an optional array, or what a text holds of one, and its place.
func (r *request) list(name string) ([]any, ijson.Pointer) {
	at := ijson.Pointer("").Member(name)
	a := argument{name: name, shape: shapeList}
	v := r.Arguments[name]
	if text, isText := v.(string); isText && ijson.Blank(text) {
		return nil, at
	}
	if v != nil {
		r.readIntent(a, v)
	}
	list, _ := r.Intents[name].([]any)
	return list, at
}

// readQuery are the words to look for.
func readQuery(r *request) []string {
	query := r.text("query")
	if len(query) > maxQuery {
		r.add(classTooLarge, "query", query, fmt.Sprintf("at most %d bytes", maxQuery))
		return nil
	}
	return queryWords(query)
}

func readLimit(r *request) int {
	v := r.Arguments["limit"]
	if v == nil {
		return ordinaryPage
	}
	const name = "limit"
	want := fmt.Sprintf("a whole number from 1 to %d", maxPage)
	n, isWhole := ijson.Integer(v)
	switch {
	case !isWhole:
		p := r.add(classType, name, v, want)
		p.Fix = document.Retype("integer", p.Pointer, v)
	case n < 1 || n > maxPage:
		r.add(classLimit, name, v, want)
	}
	return int(n)
}

// names are all tools' names.
func (d *directory) names() []string {
	names := make([]string, len(d.tools))
	for i, e := range d.tools {
		names[i] = e.name
	}
	return names
}

// boundTo is what a cursor of a search is good for: the same filters, asked for by the same principal.
func boundTo(s search, principal string) string {
	text, _ := appendJSON(nil, []any{s.pattern, s.names, s.words, principal}) // numbers and texts
	return string(text)
}

// cursors seals places in lists with a key of this process, so that a cursor is good for the list it was made for alone.
type cursors struct{ key [sha256.Size]byte }

func newCursors() cursors {
	var c cursors
	_, _ = rand.Read(c.key[:]) // never fails, see crypto/rand
	return c
}

// cursorText is strict, so that no two texts are the same cursor.
var cursorText = base64.RawURLEncoding.Strict()

const sealBytes = 16

// seal makes the cursor of a place in the list that bound names.
func (c cursors) seal(place int, bound string) string {
	mac := hmac.New(sha256.New, c.key[:])
	at := binary.BigEndian.AppendUint32(nil, uint32(place))
	mac.Write(at)
	mac.Write([]byte(bound))
	return cursorText.EncodeToString(append(at, mac.Sum(nil)[:sealBytes]...))
}

// open is the place that a cursor of this list stands for. It is false for any other text.
func (c cursors) open(text, bound string) (int, bool) {
	if len(text) != cursorText.EncodedLen(4+sealBytes) {
		return 0, false
	}
	raw, err := cursorText.DecodeString(text)
	if err != nil || len(raw) != 4+sealBytes {
		return 0, false
	}
	place := int(binary.BigEndian.Uint32(raw))
	return place, hmac.Equal([]byte(text), []byte(c.seal(place, bound)))
}
