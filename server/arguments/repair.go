package arguments

import (
	"encoding/json"
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// Change describes one sure repair in next.arguments.
type Change struct {
	Pointer ijson.Pointer   `json:"pointer"`
	From    json.RawMessage `json:"from,omitempty"` // absent if there was no value
	To      json.RawMessage `json:"to,omitempty"`   // absent if the value was removed
}

// Repair is the caller's own call with the sure repairs. It is only offered. It never runs by itself.
type Repair struct {
	Arguments map[string]any
	Changed   []Change
	Fill      []ijson.Pointer // places that only the reader can fill; each holds a skeleton
	Left      []document.Problem
	// Undecided reports that a place in Left cannot be filled, so no call with the same meaning can be offered.
	Undecided bool
}

// Repaired makes the sure repairs of the problems in the caller's call, and points at the places that are left. The
// reader must also fill the places in also.
func (c Call) Repaired(problems []document.Problem, also ...ijson.Pointer) Repair {
	if c.Arguments == nil { // they could not be read
		return Repair{Left: problems, Undecided: true}
	}
	before := c.opened(problems, also)
	r := Repair{Arguments: before, Changed: []Change{}, Fill: []ijson.Pointer{}}
	for _, p := range problems {
		if !slices.Contains(noFaults, p.Reason) && !r.apply(p) {
			r.Left = append(r.Left, p)
			r.Undecided = r.Undecided || p.Choose != "" || p.Fix != nil || p.Pointer == ""
		}
	}
	if r.Undecided {
		return r
	}
	for _, p := range r.Left {
		_, was := p.Pointer.In(before)
		if _, is := p.Pointer.In(r.Arguments); is && !was {
			continue // a member with a misspelled name is now at this place
		}
		also = append(also, p.Pointer)
	}
	for _, at := range also {
		r.leave(c, at)
	}
	return r
}

// opened returns the caller's call as sent. If a place inside an intent that came as text must change, the intent
// becomes a value.
func (c Call) opened(problems []document.Problem, also []ijson.Pointer) map[string]any {
	args := maps.Clone(c.Arguments)
	touched := map[string]bool{}
	for _, p := range problems {
		also = append(also, p.Pointer)
	}
	for _, at := range also {
		if tokens := at.Tokens(); len(tokens) > 1 {
			touched[tokens[0]] = true
		}
	}
	for name, v := range c.Intents {
		if c.IntentWas[name] && touched[name] {
			args[name] = v
		}
	}
	return args
}

// apply makes the sure repair of a problem. It returns false if there is none.
func (r *Repair) apply(p document.Problem) bool {
	fix := r.sure(p)
	if fix == nil {
		return false
	}
	was, there := fix.At.In(r.Arguments)
	if there && fix.From != "" { // the call has the right name too
		return false
	}
	root, ok := fix.Apply(r.Arguments)
	fixed, isObject := root.(map[string]any)
	if !ok || !isObject {
		return false
	}
	row := Change{Pointer: fix.At}
	if there {
		row.From = document.Got(was)
	}
	if !fix.Remove {
		row.To = document.Got(fix.Value)
	}
	if fix.From != "" {
		moved, _ := fix.From.In(r.Arguments)
		r.Changed = append(r.Changed, Change{Pointer: fix.From, From: document.Got(moved)})
	}
	r.Changed = append(r.Changed, row)
	r.Arguments = fixed
	return true
}

// sure returns the repair of a problem: its own fix, or the right name of a misspelled member if that name is free. It
// returns nil if there is none.
func (r *Repair) sure(p document.Problem) *document.Fix {
	if p.Fix != nil || p.DidYouMean == "" || p.Unsure {
		return p.Fix
	}
	tokens := p.Pointer.Tokens()
	v, there := p.Pointer.In(r.Arguments)
	if !there || len(tokens) == 0 || tokens[len(tokens)-1] == p.DidYouMean || !gateway.Misspelt(tokens[len(tokens)-1], p.DidYouMean) {
		return nil
	}
	right := p.Pointer.Parent().Member(p.DidYouMean)
	holder, _ := p.Pointer.Parent().In(r.Arguments)
	if _, isObject := holder.(map[string]any); !isObject {
		return nil
	}
	if _, taken := right.In(r.Arguments); taken {
		return nil
	}
	return &document.Fix{At: right, Value: v, From: p.Pointer}
}

// leave points the reader at a place, and puts a skeleton there if it has no usable value.
func (r *Repair) leave(c Call, at ijson.Pointer) {
	for ; at != ""; at = at.Parent() {
		if root, ok := c.withSkeleton(r.Arguments, at); ok {
			r.Arguments = root
			break
		}
	}
	if !slices.Contains(r.Fill, at) {
		r.Fill = append(r.Fill, at)
	}
}

// withSkeleton returns the arguments with a value at a place: the present value, or else the form of the value that is
// wanted. It returns false if no value can be there.
func (c Call) withSkeleton(args map[string]any, at ijson.Pointer) (map[string]any, bool) {
	tokens := at.Tokens()
	if v, _ := at.In(args); v != nil && (len(tokens) > 1 || tokens[0] != c.IntentName() || isContainer(v)) {
		return args, true
	}
	var root any = args
	place := ijson.Pointer("")
	for _, token := range tokens[:len(tokens)-1] {
		place = place.Member(token)
		if _, there := place.In(root); there {
			continue
		}
		var ok bool
		if root, ok = ijson.Set(root, place, map[string]any{}); !ok {
			return nil, false
		}
	}
	root, ok := ijson.Set(root, at, c.skeleton(tokens))
	object, isObject := root.(map[string]any)
	return object, ok && isObject
}

// skeleton returns the form of the value that is wanted at a place. A text to fill is blank, whatever type is wanted,
// so an unchanged skeleton is refused.
func (c Call) skeleton(tokens []string) any {
	switch name := tokens[len(tokens)-1]; {
	case len(tokens) == 1 && name == c.IntentName():
		return c.IntentSkeleton()
	case len(tokens) == 2 && (name == "steps" || name == "tasks" || name == "subtasks"):
		return []any{}
	case name == "args":
		return map[string]any{}
	}
	return ""
}

func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// wordsOfGoal are names that other tools use for the goal of a run.
var wordsOfGoal = []string{"goal", "ticket", "task", "objective", "query", "prompt", "request", "question", "message"}

// goalUnder returns the fix of an unknown argument that is the missing goal under another name; nil if that is not clear.
func (r *Request) goalUnder(name string, known []string) *document.Fix {
	goal := r.Spec.GoalArgument()
	meansIt := func(name string) bool {
		return slices.Contains(wordsOfGoal, name) && !slices.Contains(known, name) || gateway.Near(name, known) == goal
	}
	if _, given := r.Arguments[goal]; given || !slices.Contains(known, goal) || !meansIt(name) {
		return nil
	}
	for other := range r.Arguments { // in any order: the answer is the same
		if other != name && meansIt(other) {
			return nil
		}
	}
	v, isText := r.Arguments[name].(string)
	if !isText || ijson.Blank(v) {
		return nil
	}
	at := ijson.Pointer("")
	return &document.Fix{At: at.Member(goal), Value: v, From: at.Member(name)}
}

// The reasons of problems that are not faults of an intent.
const (
	ReasonMore      = "more"      // the row that counts the omitted problems
	ReasonCandidate = "candidate" // a name that the goal may mean
	ReasonNotTaken  = "not_taken" // a continuation that the run does not wait for
	ReasonEnded     = "already_ended"
)

var noFaults = []string{ReasonMore, ReasonCandidate, ReasonNotTaken, ReasonEnded}

// CountProblems counts problems, including those that are not shown.
func CountProblems(problems []document.Problem) int {
	n := len(problems)
	if n > 0 && problems[n-1].Reason == ReasonMore {
		more := 0
		_ = json.Unmarshal(problems[n-1].Got, &more) // the gateway writes it as a number
		n += more - 1
	}
	return n
}
