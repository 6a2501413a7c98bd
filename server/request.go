package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// The bounds of a call's arguments, in bytes (spec/surface.md section 2). An intent cannot be longer than the call
// that holds it, so the bound of the call is its bound too.
const (
	maxCall  = ijson.MaxBytes
	maxGoal  = 16 << 10
	maxInput = 256
)

// argument is one row of the table of what a tool takes.
type argument struct {
	name     string
	shape    shape
	required bool
	most     int // bytes of a text
}

// shape is what an argument has to be.
type shape int

const (
	shapeText   shape = iota
	shapeIntent       // an object or array, or a text holding a JSON document
	shapeList         // an array, or a text holding one
	shapeFlag         // true or false
)

// want words a shape.
func (s shape) want() string {
	return [...]string{
		shapeText: "a string", shapeIntent: "an object, or a string holding its JSON",
		shapeList: "an array, or a string holding its JSON", shapeFlag: "true or false",
	}[s]
}

// argumentsOf is the table of a kind, in the order in which faults are told.
func argumentsOf(kind gateway.Kind) []argument {
	goal := argument{name: "goal", required: true, most: maxGoal}
	finalize := argument{name: "finalize", shape: shapeFlag}
	switch kind {
	case gateway.TaskDecomposition:
		return []argument{goal, {name: "plan", shape: shapeIntent}, finalize}
	case gateway.Orchestrator:
		return []argument{
			goal, {name: "report_date", required: true, most: maxInput}, {name: "region", required: true, most: maxInput},
			{name: "plan", shape: shapeIntent}, finalize,
		}
	case gateway.Routing:
		return []argument{{name: "ticket", required: true, most: maxGoal}, {name: "route", shape: shapeIntent}, finalize}
	case gateway.Supervisor:
		return []argument{goal, {name: "actions", shape: shapeList}}
	}
	return nil
}

// class is a kind of fault of a request. Faults are told class by class, in this order.
type class int

const (
	classUnknown class = iota
	classMissing
	classType
	classLimit
	classTooLarge
	classCount
)

func (c class) reason(name string) string {
	family := [...]string{
		classUnknown: "unknown_field:", classMissing: "missing:", classType: "type:", classLimit: "limit:", classTooLarge: "too_large:",
	}[c]
	return family + name
}

// request reads the arguments of one call and collects what is wrong with them.
type request struct {
	call
	faults [classCount][]gateway.Problem
}

// take reads the arguments as they came. With problems nothing may run; the first names the stop reason.
func (t *tool) take(raw json.RawMessage) (call, []gateway.Problem) {
	r := request{call: call{
		Tool: t.spec.Name, Spec: t.spec, Demo: t.demo, Intents: map[string]any{}, IntentWas: map[string]bool{},
	}}
	arguments, problem := decodeArguments(raw)
	if problem != nil {
		return r.call, []gateway.Problem{*problem}
	}
	r.Arguments = arguments
	r.unknown(t.takes)
	for _, a := range t.takes {
		r.read(a)
	}
	return r.call, gateway.CapProblems(slices.Concat(r.faults[:]...))
}

// decodeArguments decodes the whole call's arguments strictly; none and null are no arguments.
func decodeArguments(raw json.RawMessage) (map[string]any, *gateway.Problem) {
	const whole = "arguments"
	if len(raw) > maxCall {
		head := strings.ToValidUTF8(ijson.Cut(string(raw[:256]), 160), "�")
		return nil, &gateway.Problem{
			Reason: classTooLarge.reason(whole), Want: fmt.Sprintf("at most %d bytes in all", maxCall),
			Got: ijson.Canonical(map[string]any{"truncated": true, "bytes": float64(len(raw)), "head": head}),
		}
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	v, err := ijson.Decode(raw)
	if err != nil {
		p, _ := decodingProblem(err, "", whole)
		return nil, &p
	}
	switch v := v.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return v, nil
	}
	return nil, &gateway.Problem{Reason: classType.reason(whole), Got: gateway.Got(v), Want: "an object of arguments"}
}

// decodingProblem words why a text was refused: one that is too deep or holds a number out of range is beyond a limit,
// any other is of the wrong type. The fault stands below the place at; name names what stands at the top.
func decodingProblem(err error, at ijson.Pointer, name string) (gateway.Problem, class) {
	fault, ok := errors.AsType[*ijson.Fault](err)
	if !ok {
		fault = &ijson.Fault{Reason: ijson.ReasonNotJSON}
	}
	at += fault.Pointer
	if tokens := at.Tokens(); len(tokens) > 0 {
		name = ijson.Cut(tokens[0], maxReasonName)
	}
	c, want := classType, "one JSON document as RFC 7493 wants it; here: "+fault.Reason
	switch fault.Reason {
	case ijson.ReasonTooDeep:
		c, want = classLimit, fmt.Sprintf("at most %d levels", ijson.MaxDepth)
	case ijson.ReasonIntegerRange, ijson.ReasonNumberRange:
		c, want = classLimit, fmt.Sprintf("numbers within the finite doubles, integers within +-%d; longer ids as strings", ijson.MaxInteger)
	}
	return gateway.Problem{Pointer: at, Reason: c.reason(name), Want: want}, c
}

// maxReasonName is how much of a name that an outsider chose stands in a stop reason, in bytes.
const maxReasonName = 4096

// add notes a fault of the argument that name names.
func (r *request) add(c class, name string, got any, want string) *gateway.Problem {
	r.faults[c] = append(r.faults[c], gateway.Problem{
		Pointer: ijson.Pointer("").Member(name), Reason: c.reason(ijson.Cut(name, maxReasonName)), Got: gateway.Got(got), Want: want,
	})
	return &r.faults[c][len(r.faults[c])-1]
}

// unknown notes the arguments that are not in the table, by name.
func (r *request) unknown(table []argument) {
	var names []string
	for _, a := range table {
		names = append(names, a.name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Arguments)) {
		if !slices.Contains(names, name) {
			r.add(classUnknown, name, r.Arguments[name], "one of "+strings.Join(names, ", ")).DidYouMean = gateway.Near(name, names)
		}
	}
}

// read judges one argument of the table.
func (r *request) read(a argument) {
	v := r.Arguments[a.name]
	s, isText := v.(string)
	switch {
	case a.required && (v == nil || isText && ijson.Blank(s)):
		r.absent(a, v)
	case v == nil: // null counts as absent
	case a.shape == shapeText && !isText:
		r.wrong(a, v, "string")
	case a.shape == shapeText && len(s) > a.most:
		r.add(classTooLarge, a.name, v, fmt.Sprintf("at most %d bytes", a.most))
	case a.shape == shapeFlag:
		if _, isFlag := v.(bool); !isFlag {
			r.wrong(a, v, "boolean")
		}
	case a.shape == shapeIntent || a.shape == shapeList:
		r.readIntent(a, v)
	}
}

func (r *request) absent(a argument, v any) {
	if v == nil {
		v = gateway.Missing
	}
	r.add(classMissing, a.name, v, fmt.Sprintf("%s that is not blank, at most %d bytes", a.shape.want(), a.most))
}

func (r *request) wrong(a argument, v any, schemaType string) {
	p := r.add(classType, a.name, v, a.shape.want())
	p.Fix = gateway.Retype(schemaType, p.Pointer, v)
}

// readIntent takes a plan, route or list of actions, reading it from its text where it came as one. What it says is
// the gate's to judge.
func (r *request) readIntent(a argument, v any) {
	r.ByCaller = true
	s, isText := v.(string)
	if isText {
		var err error
		if v, err = ijson.Decode([]byte(s)); err != nil {
			p, c := decodingProblem(err, ijson.Pointer("").Member(a.name), a.name)
			p.Got = gateway.Got(s)
			r.faults[c] = append(r.faults[c], p)
			return
		}
	}
	_, isObject := v.(map[string]any)
	_, isArray := v.([]any)
	if a.shape == shapeList && !isArray || !isText && !isObject && !isArray {
		r.add(classType, a.name, r.Arguments[a.name], a.shape.want())
		return
	}
	r.Intents[a.name], r.IntentWas[a.name] = v, isText
}

// task is what a call without problems asks for. Without a final text asked for or declined there is one, unless the
// caller proposes and no model was set up.
func (c call) task(configured bool) patterns.Task {
	t := patterns.Task{Finalize: configured || !c.ByCaller}
	if asked, ok := c.Arguments["finalize"].(bool); ok {
		t.Finalize = asked
	}
	t.Goal, _ = c.Arguments["goal"].(string)
	switch c.Spec.Kind {
	case gateway.Routing:
		t.Goal, _ = c.Arguments["ticket"].(string)
	case gateway.Orchestrator:
		t.Inputs = patterns.Inputs{}
		for _, name := range []string{"report_date", "region"} {
			t.Inputs[name], _ = c.Arguments[name].(string)
		}
	}
	for name, v := range c.Intents { // one at most
		t.Caller = proposals(name, v)
	}
	return t
}

// proposals are what the caller hands in: each of a list of actions, or one plan or route.
func proposals(name string, v any) []gateway.Intent {
	at := ijson.Pointer("").Member(name)
	actions, isList := v.([]any)
	if name != "actions" || !isList {
		return []gateway.Intent{gateway.FromCaller(v, at)}
	}
	list := make([]gateway.Intent, len(actions)) // not nil where it is empty: the caller's proposals have run out
	for i, action := range actions {
		list[i] = gateway.FromCaller(action, at.Index(i))
	}
	return list
}
