package server

import (
	"encoding/json"
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
)

// change describes one sure repair in next.arguments.
type change struct {
	Pointer ijson.Pointer   `json:"pointer"`
	From    json.RawMessage `json:"from,omitempty"` // absent if there was no value
	To      json.RawMessage `json:"to,omitempty"`   // absent if the value was removed
}

// repair is the caller's own call with the sure repairs. It is only offered. It never runs by itself.
type repair struct {
	arguments map[string]any
	changed   []change
	fill      []ijson.Pointer // places that only the reader can fill; each holds a skeleton
	left      []document.Problem
	// decide reports that a place in left cannot be filled, so no call with the same meaning can be offered.
	decide bool
}

// repaired makes the sure repairs of the problems in the caller's call, and points at the places that are left. The
// reader must also fill the places in also.
func (c call) repaired(problems []document.Problem, also ...ijson.Pointer) repair {
	if c.Arguments == nil { // they could not be read
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

// mend makes the sure repair of a problem. It returns false if there is none.
func (r *repair) mend(p document.Problem) bool {
	fix := r.sure(p)
	if fix == nil {
		return false
	}
	was, there := fix.At.In(r.arguments)
	if there && fix.From != "" { // the call has the right name too
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

// sure returns the repair of a problem: its own fix, or the right name of a misspelled member if that name is free. It
// returns nil if there is none.
func (r *repair) sure(p document.Problem) *document.Fix {
	if p.Fix != nil || p.DidYouMean == "" || p.Unsure {
		return p.Fix
	}
	tokens := p.Pointer.Tokens()
	v, there := p.Pointer.In(r.arguments)
	if !there || len(tokens) == 0 || tokens[len(tokens)-1] == p.DidYouMean || !gateway.Misspelt(tokens[len(tokens)-1], p.DidYouMean) {
		return nil
	}
	right := p.Pointer.Parent().Member(p.DidYouMean)
	holder, _ := p.Pointer.Parent().In(r.arguments)
	if _, isObject := holder.(map[string]any); !isObject {
		return nil
	}
	if _, taken := right.In(r.arguments); taken {
		return nil
	}
	return &document.Fix{At: right, Value: v, From: p.Pointer}
}

// leave points the reader at a place, and puts a skeleton there if it has no usable value.
func (r *repair) leave(c call, at ijson.Pointer) {
	for ; at != ""; at = at.Parent() {
		if root, ok := c.withSkeleton(r.arguments, at); ok {
			r.arguments = root
			break
		}
	}
	if !slices.Contains(r.fill, at) {
		r.fill = append(r.fill, at)
	}
}

// withSkeleton returns the arguments with a value at a place: the present value, or else the form of the value that is
// wanted. It returns false if no value can be there.
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

// skeleton returns the form of the value that is wanted at a place. A text to fill is blank, whatever type is wanted,
// so an unchanged skeleton is refused.
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

// intentName returns the name of the argument that holds the caller's intent.
func (c call) intentName() string {
	switch c.Spec.Kind {
	case gateway.Routing:
		return "route"
	case gateway.Supervisor:
		return "actions"
	case gateway.Call: // it has no intent
		return ""
	}
	return "plan"
}

// intentSkeleton returns the form of an intent of this kind. The gate refuses a form with blanks.
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
func (r *request) goalUnder(name string, known []string) *document.Fix {
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
	reasonMore      = "more"      // the row that counts the omitted problems
	reasonCandidate = "candidate" // a name that the goal may mean
	reasonNotTaken  = "not_taken" // a continuation that the run does not wait for
	reasonEnded     = "already_ended"
)

var noFaults = []string{reasonMore, reasonCandidate, reasonNotTaken, reasonEnded}

// planSkeleton returns the form of a plan of subtasks. The gate refuses a form with blanks.
func planSkeleton() any {
	subtask := map[string]any{"id": "", "description": "", "dependencies": []any{}, "tool": planning.CallerExecutor, "args": map[string]any{}}
	return map[string]any{"kind": "plan", "subtasks": []any{subtask}}
}
