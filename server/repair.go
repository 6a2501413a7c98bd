package server

import (
	"encoding/json"
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// maxArguments is how large the arguments of a next may be; larger ones are left out.
const maxArguments = 8 << 10

// change is one sure repair that next.arguments hold.
type change struct {
	Pointer ijson.Pointer   `json:"pointer"`
	From    json.RawMessage `json:"from,omitempty"` // absent where nothing was
	To      json.RawMessage `json:"to,omitempty"`   // absent where nothing is any more
}

// repair is the caller's own call with the sure repairs made. It is offered, never carried out.
type repair struct {
	arguments map[string]any
	changed   []change
	fill      []ijson.Pointer // places only the reader can fill, each holding a skeleton
	left      []document.Problem
	// decide reports that a place of left cannot be filled: no call can be offered that means the same.
	decide bool
}

// repaired makes the sure repairs of the problems in the caller's call and points at what is left. Places in also are
// left to the reader besides.
func (c call) repaired(problems []document.Problem, also ...ijson.Pointer) repair {
	if c.Arguments == nil { // they could not be read at all
		return repair{left: problems, decide: true}
	}
	before := c.opened(problems, also)
	r := repair{arguments: before, changed: []change{}, fill: []ijson.Pointer{}}
	for _, p := range problems {
		if !slices.Contains(noFaults, p.Reason) && !r.mend(p) {
			r.left = append(r.left, p)
			r.decide = r.decide || p.Choose != "" || p.Fix != nil || p.Pointer == ""
		}
	}
	if r.decide {
		return r
	}
	for _, p := range r.left {
		_, was := p.Pointer.In(before)
		if _, is := p.Pointer.In(r.arguments); is && !was {
			continue // a member under a misspelt name stands there now
		}
		also = append(also, p.Pointer)
	}
	for _, at := range also {
		r.leave(c, at)
	}
	return r
}

// opened is the caller's call as sent, with the intents that came as texts put as values where a place inside them is
// to be changed.
func (c call) opened(problems []document.Problem, also []ijson.Pointer) map[string]any {
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

// mend makes a problem's sure repair, if it has one.
func (r *repair) mend(p document.Problem) bool {
	fix := r.sure(p)
	if fix == nil {
		return false
	}
	was, there := fix.At.In(r.arguments)
	if there && fix.From != "" { // the right name was given meanwhile
		return false
	}
	root, ok := fix.Apply(r.arguments)
	fixed, isObject := root.(map[string]any)
	if !ok || !isObject {
		return false
	}
	row := change{Pointer: fix.At}
	if there {
		row.From = document.Got(was)
	}
	if !fix.Remove {
		row.To = document.Got(fix.Value)
	}
	if fix.From != "" {
		moved, _ := fix.From.In(r.arguments)
		r.changed = append(r.changed, change{Pointer: fix.From, From: document.Got(moved)})
	}
	r.changed = append(r.changed, row)
	r.arguments = fixed
	return true
}

// sure is a problem's repair: its own, or for an unknown member that is a misspelt known one that is free, its right
// name.
func (r *repair) sure(p document.Problem) *document.Fix {
	if p.Fix != nil || p.DidYouMean == "" || p.Unsure {
		return p.Fix
	}
	tokens := p.Pointer.Tokens()
	v, there := p.Pointer.In(r.arguments)
	if !there || len(tokens) == 0 || tokens[len(tokens)-1] == p.DidYouMean || !gateway.Misspelt(tokens[len(tokens)-1], p.DidYouMean) {
		return nil
	}
	right := parent(p.Pointer).Member(p.DidYouMean)
	holder, _ := parent(p.Pointer).In(r.arguments)
	if _, isObject := holder.(map[string]any); !isObject {
		return nil
	}
	if _, taken := right.In(r.arguments); taken {
		return nil
	}
	return &document.Fix{At: right, Value: v, From: p.Pointer}
}

// leave points the reader at a place, with a skeleton where nothing usable stands.
func (r *repair) leave(c call, at ijson.Pointer) {
	for ; at != ""; at = parent(at) {
		if root, ok := c.withSkeleton(r.arguments, at); ok {
			r.arguments = root
			break
		}
	}
	if !slices.Contains(r.fill, at) {
		r.fill = append(r.fill, at)
	}
}

// withSkeleton returns the arguments with something at a place: what is there already, else the form of what is
// wanted. It is false where nothing can stand there.
func (c call) withSkeleton(args map[string]any, at ijson.Pointer) (map[string]any, bool) {
	tokens := at.Tokens()
	if v, _ := at.In(args); v != nil && (len(tokens) > 1 || tokens[0] != c.intentName() || isContainer(v)) {
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

// skeleton is the form of what is wanted at a place. A text that must be filled is blank, whatever type is wanted, so
// that a skeleton sent as it is gets refused.
func (c call) skeleton(tokens []string) any {
	switch name := tokens[len(tokens)-1]; {
	case len(tokens) == 1 && name == c.intentName():
		return c.intentSkeleton()
	case len(tokens) == 2 && (name == "steps" || name == "tasks" || name == "subtasks"):
		return []any{}
	case name == "args":
		return map[string]any{}
	}
	return ""
}

// intentName is the argument that holds the caller's intent.
func (c call) intentName() string {
	switch c.Spec.Kind {
	case gateway.Routing:
		return "route"
	case gateway.Supervisor:
		return "actions"
	case gateway.Call: // it has none
		return ""
	}
	return "plan"
}

// intentSkeleton is the form of an intent of this kind; its blanks do not pass the gate.
func (c call) intentSkeleton() any {
	switch c.Spec.Kind {
	case gateway.Orchestrator:
		task := map[string]any{"id": "task_1", "worker": "", "args": map[string]any{}, "critical": false}
		return map[string]any{"tasks": []any{task}}
	case gateway.Routing:
		return map[string]any{"target": ""}
	case gateway.Supervisor:
		return []any{callSkeleton(""), finalSkeleton()}
	case gateway.Planning:
		return planSkeleton()
	}
	step := map[string]any{"id": "step_1", "title": "", "tool": "", "args": map[string]any{}}
	return map[string]any{"steps": []any{step}}
}

func callSkeleton(tool string) map[string]any {
	return map[string]any{"kind": "tool", "name": tool, "args": map[string]any{}}
}

func finalSkeleton() map[string]any { return map[string]any{"kind": "final", "answer": ""} }

// parent is the place that holds the place.
func parent(at ijson.Pointer) ijson.Pointer {
	up := ijson.Pointer("")
	tokens := at.Tokens()
	for _, token := range tokens[:max(0, len(tokens)-1)] {
		up = up.Member(token)
	}
	return up
}

func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}
