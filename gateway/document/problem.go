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
	MaxWant     = 200
	MaxNamed    = 4096 // of the part of a stop reason that an outsider named
	maxPlace    = 1024 // of a pointer, which an outsider's member names could make endless
)

// moreProblems is the reason of the row that stands for the problems beyond maxProblems.
const moreProblems = "more"

// Problem is one fault of an intent or a request, with what would have been right.
type Problem struct {
	// Pointer is the place (RFC 6901) in the caller's arguments or the model's reply; the nearest container of it
	// where its own pointer is longer than 1 KiB.
	Pointer ijson.Pointer   `json:"pointer"`
	Reason  string          `json:"reason"`        // the stop reason less its family
	Got     json.RawMessage `json:"got,omitempty"` // absent where nothing was there
	Want    string          `json:"want"`          // one line
	// DidYouMean is the one allowed name that comes near.
	DidYouMean string `json:"did_you_mean,omitempty"`
	// Choose is what the caller must decide about a place where no value fits; "": a value can be put there. No call can be
	// suggested that keeps such a place.
	Choose string `json:"-"`
	// Unsure says that DidYouMean must not be put in the place of what stands there: it may mean another thing, or not fit.
	Unsure bool `json:"-"`
	// Turn counts the model's refused replies from 1, where more than one was refused; else it is 0.
	Turn int `json:"turn,omitempty"`
	// Fix is the sure repair, if there is one; it is offered, never applied.
	Fix *Fix `json:"-"`
}

// Value is the problem as a decoded value, for the record.
func (p Problem) Value() map[string]any {
	v := map[string]any{"pointer": string(p.Pointer), "reason": p.Reason, "want": p.Want}
	if got, err := ijson.DecodeCanonical(p.Got); err == nil { // none where nothing was there
		v["got"] = got
	}
	if p.DidYouMean != "" {
		v["did_you_mean"] = p.DidYouMean
	}
	return v
}

// Refusal is why an intent was not accepted: the first fault in the contract's order, and all of them.
type Refusal struct {
	Reason   string // the stop reason
	Problems []Problem
	Cycle    []string // of a plan that has one: ids, dependency before dependent, the first also last
}

func (r *Refusal) Error() string { return r.Reason }

// Filled is a member with one possible value that the caller left out.
type Filled struct {
	Pointer ijson.Pointer `json:"pointer"`
	Value   any           `json:"value"`
}

// Faults collects what is wrong with one intent, in the order in which it is found.
type Faults struct {
	family string // invalid_plan, invalid_route, invalid_action
	first  string
	list   []Problem
	more   int
}

// NewFaults collects the faults of a document; their stop reasons begin with the family.
func NewFaults(family string) *Faults { return &Faults{family: family} }

// Add notes a fault and returns its problem for further words. got is absent where it is the missing value.
func (f *Faults) Add(reason string, at ijson.Pointer, got any, want string) *Problem {
	if f.first == "" {
		f.first = f.family + ":" + reason
	}
	if len(f.list) == maxProblems {
		f.more++
		return &Problem{} // nobody will see it
	}
	f.list = append(f.list, NewProblem(reason, at, got, want))
	return &f.list[len(f.list)-1]
}

// Full reports whether no more problems are shown.
func (f *Faults) Full() bool { return len(f.list) == maxProblems }

// Take notes a fault that is worded already, or a number of them.
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

// Count is how many faults there are.
func (f *Faults) Count() int { return len(f.list) + f.more }

// Skip counts faults that are not shown, as no more problems are.
func (f *Faults) Skip(n int) { f.more += n }

// Listed reports whether the problem is one of those that are shown.
func (p *Problem) Listed() bool { return p.Reason != "" }

// NewProblem words a fault within the bounds of what is shown.
func NewProblem(reason string, at ijson.Pointer, got any, want string) Problem {
	return Problem{Pointer: place(at), Reason: reason, Got: Got(got), Want: ijson.Cut(ijson.Words(want), MaxWant)}
}

// place is the pointer itself, or its nearest container with a pointer of bearable length.
func place(at ijson.Pointer) ijson.Pointer {
	for len(at) > maxPlace {
		at = at[:strings.LastIndexByte(string(at), '/')]
	}
	return at
}

// Refusal is nil if nothing is wrong.
func (f *Faults) Refusal() *Refusal {
	if f.first == "" {
		return nil
	}
	return &Refusal{Reason: f.first, Problems: endWith(f.list, f.more)}
}

// CapProblems bounds a list of problems, perhaps put together from bounded ones, and their pointers to what a result shows.
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

// missing is the value of a member that is not there.
type missing struct{}

// Missing stands for "nothing is there" where a problem is worded; it is no JSON value.
var Missing any = missing{}

// Got is a value as a problem shows it: whole up to 200 bytes, else its size and its beginning.
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

// Member is a named member of an object, or the missing value.
func Member(obj map[string]any, name string) any {
	if v, ok := obj[name]; ok {
		return v
	}
	return Missing
}

// OneOf words an allowlist.
func OneOf(names []string) string {
	if len(names) == 0 {
		return "none is allowed"
	}
	return Listing("one of ", names)
}

// Listing names as many as a want holds; a name is never cut, as half of it could be taken for another.
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

// Text returns a string's stripped form if it is one and not blank.
func Text(v any) (string, bool) {
	s, ok := v.(string)
	if !ok {
		return "", false
	}
	s = ijson.Trim(s)
	return s, s != ""
}
