package describe

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
)

// The limits of describe_catalog's arguments (spec/surface.md section 2).
const (
	maxNames = 50
	maxQuery = 256 // bytes

)

// catalogArguments returns the argument table of describe_catalog, in the order in which problems are reported.
func catalogArguments() []arguments.Row {
	return []arguments.Row{{Name: "pattern"}, {Name: "names", Shape: arguments.List}, {Name: "query"}, {Name: "cursor"}, {Name: "limit"}}
}

// take reads the arguments that a principal sent. If there are problems, nothing is listed, and the first problem names
// the stop reason. A blank or empty filter counts as absent, because many clients fill in all arguments of a schema.
func (d *Tool) take(raw json.RawMessage, principal string) (search, arguments.Call, []document.Problem) {
	r := arguments.NewRequest(arguments.CatalogTool)
	decoded, problem := arguments.Decode(raw)
	if problem != nil {
		return search{}, r.Call, []document.Problem{*problem}
	}
	r.Arguments = decoded
	r.Unknown(catalogArguments())
	listed := d.directory()
	s := search{pattern: listed.readPattern(r), names: listed.readNames(r), words: readQuery(r), limit: arguments.ReadLimit(r)}
	s.bound = boundTo(s, principal)
	if cursor := r.Text("cursor"); cursor != "" && r.Clean() {
		var ours bool
		if s.from, ours = d.cursors.open(cursor, s.bound); !ours {
			r.Add(arguments.OutOfLimit, "cursor", cursor, wantCursor)
		}
	}
	return s, r.Call, document.CapProblems(r.Problems())
}

// readPattern returns the position of the pattern that the request names, or -1 for none.
func (d *directory) readPattern(r *arguments.Request) int {
	name := r.Text("pattern")
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
	p := r.Add(arguments.OutOfLimit, "pattern", name, oneOf(names))
	p.Means(p.Pointer, name, gateway.Near(name, names))
	return -1
}

// readNames returns the tools that the request names, sorted and without duplicates. A name that is not in the
// directory is a problem.
func (d *directory) readNames(r *arguments.Request) []string {
	list, at := r.List("names")
	if len(list) > maxNames {
		r.Add(arguments.OutOfLimit, "names", r.Arguments["names"], wantNames(maxNames))
		return nil
	}
	var names, all []string
	for i, v := range list {
		name, isText := v.(string)
		c, want := arguments.WrongType, wantName
		if isText {
			c, want = arguments.NotFound, wantCallable
		}
		if isText && d.place[name] {
			names = append(names, name)
			continue
		}
		p := r.Add(c, "names", v, want)
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

// oneOf words a choice of names for a problem's want. It stops with "..." before a name that would exceed 190 bytes; it
// never cuts a name.
func oneOf(names []string) string {
	const most = 190
	words := wantOneOf
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

// readQuery returns the words of the query.
func readQuery(r *arguments.Request) []string {
	query := r.Text("query")
	if len(query) > maxQuery {
		r.Add(arguments.TooLarge, "query", query, wantBytes(maxQuery))
		return nil
	}
	return queryWords(query)
}

// names returns the names of all tools.
func (d *directory) names() []string {
	names := make([]string, len(d.tools))
	for i, e := range d.tools {
		names[i] = e.name
	}
	return names
}

// boundTo returns what a cursor of a search is bound to: the filters and the principal.
func boundTo(s search, principal string) string {
	text, _ := envelope.AppendJSON(nil, []any{s.pattern, s.names, s.words, principal}) // numbers and texts always encode
	return string(text)
}

// cursors signs positions in lists with a key of this process. A cursor is valid only for the list for which it was
// made.
type cursors struct{ key [sha256.Size]byte }

func newCursors() cursors {
	var c cursors
	_, _ = rand.Read(c.key[:]) // never fails, see crypto/rand
	return c
}

// cursorText is strict, so that a cursor has only one spelling.
var cursorText = base64.RawURLEncoding.Strict()

const sealBytes = 16

// seal returns the cursor of a position in the list that bound identifies.
func (c cursors) seal(place int, bound string) string {
	mac := hmac.New(sha256.New, c.key[:])
	at := binary.BigEndian.AppendUint32(nil, uint32(place))
	mac.Write(at)
	mac.Write([]byte(bound))
	return cursorText.EncodeToString(append(at, mac.Sum(nil)[:sealBytes]...))
}

// open returns the position that a cursor of this list holds. It returns false for any other text.
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
