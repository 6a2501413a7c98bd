package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// These are the bounds of a call's arguments, in bytes (spec/surface.md section 2). An intent cannot be longer than the
// call that holds it, so the bound of the call also applies to it.
const (
	maxCall  = ijson.MaxBytes
	maxGoal  = gateway.MaxGoal
	maxInput = 256
)

// argument describes one argument that a tool takes.
type argument struct {
	name     string
	shape    shape
	required bool // unless the call continues a run
	most     int  // bytes of a text; seconds
	words    []string
	bounds   *bounds // of a number
	kind     string  // of an input: its schema's type
}

// shape is the form that an argument must have.
type shape int

const (
	shapeText    shape = iota
	shapeIntent        // an object or array, or a text holding a JSON document
	shapeList          // an array, or a text holding one
	shapeFlag          // true or false
	shapeCount         // a whole number from 1 on
	shapeWord          // one of words
	shapeSeconds       // a number from 0 to most
	shapeKey           // printable ASCII
	shapeStep          // the name of a step: a text or a whole number
	shapeTime          // a text that is a time
	shapePage          // the number of rows
	shapeWhole         // a whole number within bounds
	shapeDelay         // a number of seconds, 0 or more
	shapePlan          // an object, or a text: JSON or a checklist
	shapeResults       // the caller's results of subtasks, by their ids
	shapeInput         // a value of the pattern's own schema
)

// want returns the words for a shape.
func (s shape) want() string {
	return [...]string{
		shapeText: "a string", shapeIntent: "an object, or a string holding its JSON",
		shapeList: "an array, or a string holding its JSON", shapeFlag: "true or false",
		shapeCount: "a whole number from 1 on", shapeWord: "a string", shapeSeconds: "a number of seconds",
		shapeKey: "1 to 255 printable ASCII characters", shapeStep: "a step number, task or subtask id, attempt or effect key",
		shapeTime: "a time such as 2026-11-21T09:30:00Z", shapePage: "a whole number",
		shapeWhole: "a whole number", shapeDelay: "a number of seconds", shapePlan: "an object, or a string: its JSON or a checklist",
		shapeResults: "an object of {status: completed or failed, result} by subtask id", shapeInput: "a value",
	}[s]
}

// argumentsOf returns the arguments of a pattern, in the order in which faults are reported.
func argumentsOf(spec patterns.Spec) []argument {
	front := append([]argument{goalRow(spec)}, inputRows(spec)...)
	finalize := argument{name: "finalize", shape: shapeFlag}
	switch spec.Kind {
	case gateway.Planning:
		return planArguments(spec)
	case gateway.TaskDecomposition:
		return append(front, argument{name: "plan", shape: shapeIntent}, finalize)
	case gateway.Orchestrator:
		if !spec.Declared {
			builtin := []argument{front[0], {name: "report_date", required: true, most: maxInput}, {name: "region", required: true, most: maxInput}}
			front = append(builtin, front[1:]...)
		}
		return append(front, argument{name: "plan", shape: shapeIntent}, finalize)
	case gateway.Routing:
		return slices.Concat(front, []argument{{name: "route", shape: shapeIntent}, finalize}, continuing)
	case gateway.Supervisor:
		return slices.Concat(front, []argument{{name: "actions", shape: shapeList}}, continuing)
	}
	return nil
}

// continuing lists the arguments of the kinds whose caller may propose step by step.
var continuing = []argument{
	{name: "run_id", most: maxInput}, {name: "turn", shape: shapeCount},
	{name: "continue_with", shape: shapeWord, words: []string{"caller", "model"}},
}

// class is a kind of fault of a request. Faults are reported class by class, in this order.
type class int

const (
	classUnknown class = iota
	classMissing
	classType
	classLimit
	classTooLarge
	classNotFound
	classMismatch
	classReused
	classCount
)

func (c class) reason(name string) string {
	family := [...]string{
		classUnknown: "unknown_field:", classMissing: "missing:", classType: "type:", classLimit: "limit:", classTooLarge: "too_large:",
		classNotFound: "not_found:", classMismatch: "mismatch:", classReused: "reused:",
	}[c]
	return family + name
}

// request reads the arguments of one call and collects their faults.
type request struct {
	call
	asked
	faults [classCount][]document.Problem

	inputs  map[string]any     // the pattern's own inputs with defaults; nil: not read yet
	misfits []catalog.Mismatch // mismatches of inputs
}

// newRequest returns a request to a tool, without arguments.
func newRequest(tool string) *request {
	return &request{call: call{Tool: tool, Intents: map[string]any{}, IntentWas: map[string]bool{}}}
}

// problems returns the faults found so far, class by class.
func (r *request) problems() []document.Problem { return slices.Concat(r.faults[:]...) }

// of returns the faults of a class that were found so far.
func (r *request) of(c class) []document.Problem { return r.faults[c] }

// readAll judges the arguments of a table, and refuses those that the table does not have.
func (r *request) readAll(table []argument) {
	r.unknown(table)
	for _, a := range table {
		r.read(a)
	}
}

// needRun refuses a turn without the run that it belongs to.
func (r *request) needRun(t reader) {
	if turn := r.Arguments["turn"]; turn != nil && slices.ContainsFunc(t.Takes, func(a argument) bool { return a.name == "turn" }) {
		r.add(classMissing, "run_id", document.Missing, "the run whose turn it is")
	}
}

// decodeArguments decodes the arguments of the whole call strictly. An absent value and null count as no arguments.
func decodeArguments(raw json.RawMessage) (map[string]any, *document.Problem) {
	const whole = "arguments"
	if len(raw) > maxCall {
		head := strings.ToValidUTF8(ijson.Cut(string(raw[:256]), 160), "�")
		return nil, &document.Problem{
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
		return nil, &document.CapProblems([]document.Problem{p})[0]
	}
	switch v := v.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return v, nil
	}
	return nil, &document.Problem{Reason: classType.reason(whole), Got: document.Got(v), Want: "an object of arguments"}
}

// decodingProblem says why a text was refused. A text that is too deep or has a number out of range is beyond a limit.
// Any other one has the wrong type. The fault is below the place at. name names the value at the top.
func decodingProblem(err error, at ijson.Pointer, name string) (document.Problem, class) {
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
	return document.Problem{Pointer: at, Reason: c.reason(name), Want: want}, c
}

// maxReasonName is the longest part of a client's name for an argument that a stop reason shows, in bytes.
const maxReasonName = 4096

// add notes a fault of the argument with that name.
func (r *request) add(c class, name string, got any, want string) *document.Problem {
	r.faults[c] = append(r.faults[c], document.Problem{
		Pointer: ijson.Pointer("").Member(name), Reason: c.reason(ijson.Cut(name, maxReasonName)), Got: document.Got(got), Want: want,
	})
	return &r.faults[c][len(r.faults[c])-1]
}

// unknown notes the arguments that the table does not have, by name.
func (r *request) unknown(table []argument) {
	var names []string
	for _, a := range table {
		names = append(names, a.name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Arguments)) {
		if !slices.Contains(names, name) {
			p := r.add(classUnknown, name, r.Arguments[name], "one of "+strings.Join(names, ", "))
			p.DidYouMean, p.Choose = gateway.Near(name, names), document.RemoveOrRename
			p.Fix = r.goalUnder(name, names)
		}
	}
}

// read judges one argument of the table.
func (r *request) read(a argument) {
	v := r.Arguments[a.name]
	s, isText := v.(string)
	switch {
	case a.required && r.Arguments["run_id"] != nil && v == nil: // the run has the value
	case a.shape == shapeInput && v == nil && r.said("parent_plan_id") != "": // the plan has the value
	case (a.required || a.name == "run_id" && v != nil) && (v == nil || isText && ijson.Blank(s)):
		r.absent(a, v)
	case a.shape == shapeInput:
		r.readInput(a)
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
	case a.shape == shapeCount:
		r.readCount(a, v)
	case a.shape == shapeWord:
		r.readWord(a, v)
	case a.shape == shapeSeconds:
		r.readSeconds(a, v)
	case a.shape == shapeKey:
		r.readKey(a, v)
	case a.shape == shapeStep:
		r.readStep(a, v)
	case a.shape == shapeTime:
		r.readTime(a, v)
	case a.shape == shapePage:
		r.Limit = readLimit(r)
	case a.shape == shapeWhole:
		r.readWhole(a, v)
	case a.shape == shapeDelay:
		r.readDelay(a, v)
	case a.shape == shapePlan:
		r.readPlan(a, v)
	case a.shape == shapeResults:
		r.readResults(a, v)
	}
}

func (r *request) readCount(a argument, v any) {
	n, isNumber := v.(float64)
	switch {
	case !isNumber || n != math.Trunc(n):
		r.wrong(a, v, "integer")
	case n < 1:
		r.add(classLimit, a.name, v, a.shape.want())
	}
}

func (r *request) readWord(a argument, v any) {
	s, isText := v.(string)
	switch {
	case !isText:
		r.wrong(a, v, "string")
	case !slices.Contains(a.words, s):
		p := r.add(classLimit, a.name, v, "one of "+strings.Join(a.words, ", "))
		p.Means(p.Pointer, s, gateway.Near(s, a.words))
	}
}

func (r *request) absent(a argument, v any) {
	if v == nil {
		v = document.Missing
	}
	want := fmt.Sprintf("%s that is not blank, at most %d bytes", a.shape.want(), a.most)
	if a.shape == shapeInput {
		want = strings.TrimSpace("a value " + a.kind)
	}
	r.add(classMissing, a.name, v, want)
}

func (r *request) wrong(a argument, v any, schemaType string) {
	p := r.add(classType, a.name, v, a.shape.want())
	p.Fix = document.Retype(schemaType, p.Pointer, v)
}

// readIntent reads a plan, a route or a list of actions, also from its text. The gate judges its content.
func (r *request) readIntent(a argument, v any) {
	r.Proposes = true
	s, isText := v.(string)
	if isText {
		var err error
		if v, err = ijson.Decode([]byte(s)); err != nil {
			p, c := decodingProblem(err, ijson.Pointer("").Member(a.name), a.name)
			p.Got = document.Got(s)
			r.faults[c] = append(r.faults[c], p)
			return
		}
		r.Size += ijson.Weight(v)
	}
	_, isObject := v.(map[string]any)
	_, isArray := v.([]any)
	if a.shape == shapeList && !isArray || !isText && !isObject && !isArray {
		r.add(classType, a.name, r.Arguments[a.name], a.shape.want())
		return
	}
	r.Intents[a.name], r.IntentWas[a.name] = v, isText
}

// task returns the task of a call without problems. If finalize is absent, there is a final text unless the caller
// proposes and no model is configured.
func (c call) task(configured bool) patterns.Task {
	switch c.Spec.Kind {
	case gateway.Planning:
		return c.planTask()
	case gateway.Call:
		return patterns.Task{Args: c.toolArguments()}
	}
	t := patterns.Task{Finalize: c.Spec.Finalizes(c.Proposes, configured), Inputs: inputsOf(c.Spec, c.Arguments)}
	if asked, ok := c.Arguments["finalize"].(bool); ok {
		t.Finalize = asked
	}
	t.Goal, _ = c.Arguments[c.Spec.GoalArgument()].(string)
	t.Handover = c.Arguments["continue_with"] == "model"
	for name, v := range c.Intents { // at most one
		t.Caller = patterns.Proposals(name, v)
	}
	return t
}
