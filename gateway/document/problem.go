package document

import (
	"encoding/json"
	"strconv"
	"strings"

	"patterngate/ijson"
)

// Bounds of what a problem shows (spec/surface.md section 1).
const (
	maxProblems = 50
	maxGot      = 200
	gotHead     = 160
	maxPlace    = 1024 // bytes of a pointer: member names come from outside and can be long

	// MaxWant bounds what a problem says would have been right, in bytes.
	MaxWant = 200
	// MaxNamed bounds a name from outside in a stop reason, in bytes.
	MaxNamed = 4096
)

// moreProblems is the reason of the last row of a list that was cut at maxProblems. Its Got is the number of problems left out.
const moreProblems = "more"

// Problem is one fault of a document or a request, and says what would have been right.
type Problem struct {
	// Pointer is the place (RFC 6901) in the caller's arguments or the model's reply. If it is longer than 1 KiB, it is the pointer
	// of the nearest container with a shorter one.
	Pointer ijson.Pointer   `json:"pointer"`
	Reason  string          `json:"reason"`        // the stop reason without its family
	Got     json.RawMessage `json:"got,omitempty"` // absent where nothing was there
	Want    string          `json:"want"`          // one line
	// DidYouMean is the one allowed name that is close to the given one.
	DidYouMean string `json:"did_you_mean,omitempty"`
	// Choose says what the caller must decide about a place where no value fits. Empty means that a value can fit there. A call that
	// keeps such a place is never suggested.
	Choose string `json:"-"`
	// Unsure says that DidYouMean must not replace the given name: it can mean something else, or not fit.
	Unsure bool `json:"-"`
	// Turn numbers the model's refused replies from 1. It is 0 if only one was refused.
	Turn int `json:"turn,omitempty"`
	// Fix is the sure repair; nil if there is none. It is offered, never applied.
	Fix *Fix `json:"-"`
}

// Value returns the problem as a decoded value, for the record.
func (p Problem) Value() map[string]any {
	v := map[string]any{"pointer": string(p.Pointer), "reason": p.Reason, "want": p.Want}
	if got, err := ijson.DecodeCanonical(p.Got); err == nil { // an absent Got stays absent
		v["got"] = got
	}
	if p.DidYouMean != "" {
		v["did_you_mean"] = p.DidYouMean
	}
	return v
}

// Refusal says why a document was not accepted: by the first fault in the order of the specification, and with all faults.
type Refusal struct {
	Reason   string // the stop reason
	Problems []Problem
	Cycle    []string // ids of a cycle in a plan, dependency before dependent, the first id also last; nil if there is none
}

// Error returns the stop reason.
func (r *Refusal) Error() string { return r.Reason }

// Filled is a member that the caller left out and that was filled in, because only one value is possible.
type Filled struct {
	Pointer ijson.Pointer `json:"pointer"`
	Value   any           `json:"value"`
}

// Faults collects the faults of one document in the order in which they are found.
type Faults struct {
	family string // invalid_plan, invalid_route, invalid_action
	first  string
	list   []Problem
	more   int
}

// NewFaults returns an empty collection. The stop reason is the family, a colon and the reason of the first fault.
func NewFaults(family string) *Faults { return &Faults{family: family} }

// Add notes a fault and returns its problem, so that the caller can add a repair. After 50 problems Add only counts the fault and
// returns a problem that is not in the list. A got of [Missing] means that nothing is there.
func (f *Faults) Add(reason string, at ijson.Pointer, got any, want string) *Problem {
	if f.first == "" {
		f.first = f.family + ":" + reason
	}
	if len(f.list) == maxProblems {
		f.more++
		return &Problem{} // not in the list
	}
	f.list = append(f.list, NewProblem(reason, at, got, want))
	return &f.list[len(f.list)-1]
}

// Full reports whether the list holds as many problems as are shown.
func (f *Faults) Full() bool { return len(f.list) == maxProblems }

// Take notes a problem that was made before, under this reason. The last row of a list that [CapProblems] cut counts as the number in it.
func (f *Faults) Take(reason string, q Problem) {
	if q.Reason == moreProblems {
		n, _ := strconv.Atoi(string(q.Got))
		f.more += n
		return
	}
	if noted := f.Add(reason, q.Pointer, Missing, ""); noted.Listed() {
		q.Reason = reason
		*noted = q
	}
}

// Count returns the number of faults.
func (f *Faults) Count() int { return len(f.list) + f.more }

// Skip counts n more faults without a problem for each. Use it when the list is [Faults.Full].
func (f *Faults) Skip(n int) { f.more += n }

// Listed reports whether the problem is in the list, and not one beyond its bound.
func (p *Problem) Listed() bool { return p.Reason != "" }

// NewProblem returns a problem with its texts cut to what is shown.
func NewProblem(reason string, at ijson.Pointer, got any, want string) Problem {
	return Problem{Pointer: place(at), Reason: reason, Got: Got(got), Want: ijson.Cut(ijson.Words(want), MaxWant)}
}

// place returns the pointer, or that of the nearest container if it is too long.
func place(at ijson.Pointer) ijson.Pointer {
	for len(at) > maxPlace {
		at = at[:strings.LastIndexByte(string(at), '/')]
	}
	return at
}

// Refusal returns the faults as a refusal; nil if there are none.
func (f *Faults) Refusal() *Refusal {
	if f.first == "" {
		return nil
	}
	return &Refusal{Reason: f.first, Problems: endWith(f.list, f.more)}
}

// CapProblems cuts a list of problems and their pointers to what a result shows. The list may be joined from lists that were cut
// before.
func CapProblems(list []Problem) []Problem {
	var kept []Problem
	more := 0
	for _, p := range list {
		p.Pointer = place(p.Pointer)
		switch {
		case p.Reason == moreProblems:
			n, _ := strconv.Atoi(string(p.Got)) // endWith wrote it
			more += n
		case len(kept) == maxProblems:
			more++
		default:
			kept = append(kept, p)
		}
	}
	return endWith(kept, more)
}

func endWith(list []Problem, more int) []Problem {
	if more == 0 {
		return list
	}
	return append(list, Problem{Reason: moreProblems, Got: Got(float64(more))})
}

// missing is the type of [Missing].
type missing struct{}

// Missing is the got of a problem where nothing is there. It is not a JSON value.
var Missing any = missing{}

// Got returns a value as a problem shows it: whole up to 200 bytes, else its size and its beginning.
func Got(v any) json.RawMessage {
	if _, none := v.(missing); none {
		return nil
	}
	text := ijson.Canonical(v)
	if len(text) <= maxGot {
		return text
	}
	return ijson.Canonical(map[string]any{
		"truncated": true, "bytes": float64(len(text)), "head": ijson.Cut(string(text), gotHead),
	})
}

// Member returns the member of this name, or [Missing].
func Member(obj map[string]any, name string) any {
	if v, ok := obj[name]; ok {
		return v
	}
	return Missing
}

// OneOf says which names are allowed, within the length of a want.
func OneOf(names []string) string {
	if len(names) == 0 {
		return noneAllowed
	}
	return Listing(oneOfPrefix, names)
}

// Listing returns the words and as many of the names as a want holds. Half a name can be taken for another, so no name is cut.
func Listing(words string, names []string) string {
	for i, n := range names {
		comma, rest := ", ", ", ..."
		if i == 0 {
			comma = ""
		}
		if i == len(names)-1 {
			rest = ""
		}
		if i > 0 && len(words+comma+n+rest) > MaxWant {
			return words + ", ..."
		}
		words += comma + n
	}
	return words
}

// Text returns a string without blanks around it. It is false for a blank string and for any other value.
func Text(v any) (string, bool) {
	s, ok := v.(string)
	if !ok {
		return "", false
	}
	s = ijson.Trim(s)
	return s, s != ""
}
