package gateway

import (
	"encoding/json"
	"fmt"
	"strings"

	"patterngate/ijson"
)

// Bounds of what a problem shows (spec/surface.md section 1).
const (
	maxProblems = 50
	maxGot      = 200
	gotHead     = 160
	maxWant     = 200
	maxNamed    = 4096 // of the part of a stop reason that an outsider named
)

// Problem is one fault of an intent or a request, with what would have been right.
type Problem struct {
	Pointer ijson.Pointer   `json:"pointer"`       // RFC 6901, into the caller's arguments or the model's reply
	Reason  string          `json:"reason"`        // the stop reason less its family
	Got     json.RawMessage `json:"got,omitempty"` // absent where nothing was there
	Want    string          `json:"want"`          // one line
	// DidYouMean is the one allowed name that comes near.
	DidYouMean string `json:"did_you_mean,omitempty"`
	// Fix is the sure repair, if there is one; it is offered, never applied.
	Fix *Fix `json:"-"`
}

// Fix is a repair that cannot be wrong about what was meant: one near name, the number in a text.
type Fix struct {
	At     ijson.Pointer
	Value  any  // what stands there afterwards
	Remove bool // nothing stands there afterwards
}

// Refusal is why an intent was not accepted: the first fault in the contract's order, and all of them.
type Refusal struct {
	Reason   string // the stop reason
	Problems []Problem
}

func (r *Refusal) Error() string { return r.Reason }

// Filled is a member with one possible value that the caller left out.
type Filled struct {
	Pointer ijson.Pointer `json:"pointer"`
	Value   any           `json:"value"`
}

// faults collects what is wrong with one intent, in the order in which it is found.
type faults struct {
	family string // invalid_plan, invalid_route, invalid_action
	first  string
	list   []Problem
	more   int
}

// add notes a fault and returns its problem for further words. got is absent where it is the missing value.
func (f *faults) add(reason string, at ijson.Pointer, got any, want string) *Problem {
	if f.first == "" {
		f.first = ijson.Cut(f.family+":"+reason, len(f.family)+1+maxNamed)
	}
	if len(f.list) == maxProblems {
		f.more++
		return &Problem{}
	}
	f.list = append(f.list, Problem{Pointer: at, Reason: ijson.Cut(reason, maxNamed), Got: Got(got), Want: ijson.Cut(want, maxWant)})
	return &f.list[len(f.list)-1]
}

// refusal is nil if nothing is wrong.
func (f *faults) refusal() *Refusal {
	if f.first == "" {
		return nil
	}
	return &Refusal{Reason: f.first, Problems: endWith(f.list, f.more)}
}

// CapProblems bounds a list of problems to what a result shows.
func CapProblems(list []Problem) []Problem {
	if len(list) <= maxProblems {
		return list
	}
	return endWith(list[:maxProblems:maxProblems], len(list)-maxProblems)
}

func endWith(list []Problem, more int) []Problem {
	if more == 0 {
		return list
	}
	return append(list, Problem{Reason: "more", Got: Got(float64(more))})
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

// member is a named member of an object, or the missing value.
func member(obj map[string]any, name string) any {
	if v, ok := obj[name]; ok {
		return v
	}
	return Missing
}

// oneOf words an allowlist.
func oneOf(names []string) string {
	if len(names) == 0 {
		return "none is allowed"
	}
	return "one of " + strings.Join(names, ", ")
}

// text returns a string's stripped form if it is one and not blank.
func text(v any) (string, bool) {
	s, ok := v.(string)
	if !ok {
		return "", false
	}
	s = ijson.Trim(s)
	return s, s != ""
}

// asText repairs a number or boolean where just a text is wanted.
func asText(at ijson.Pointer, v any) *Fix {
	switch v.(type) {
	case float64, bool:
		return &Fix{At: at, Value: string(ijson.Canonical(v))}
	}
	return nil
}

func validText(s string) string { return strings.ToValidUTF8(s, "�") }

func ordinal(n int) string { return fmt.Sprintf("step_%d_", n) }
