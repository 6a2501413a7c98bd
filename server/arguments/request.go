package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
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
	MaxGoal  = gateway.MaxGoal
	MaxInput = 256
)

// Row describes one argument that a tool takes.
type Row struct {
	Name     string
	Shape    Shape
	Required bool     // unless the call continues a run
	Most     int      // bytes of a text; seconds
	Words    []string // of a [Word]: the allowed values
	bounds   *bounds  // of a number
	kind     string   // of an input: its schema's type
}

// Shape is the form that an argument must have.
type Shape int

const (
	Text    Shape = iota
	Intent        // an object or array, or a text holding a JSON document
	List          // an array, or a text holding one
	Flag          // true or false
	Count         // a whole number from 1 on
	Word          // one of Words
	Seconds       // a number from 0 to Most
	Key           // printable ASCII
	Step          // the name of a step: a text or a whole number
	Time          // a text that is a time
	Page          // the number of rows
	Whole         // a whole number within bounds
	Delay         // a number of seconds, 0 or more
	Plan          // an object, or a text: JSON or a checklist
	Results       // the caller's results of subtasks, by their ids
	Input         // a value of the pattern's own schema
)

// want returns the words for a shape.
func (s Shape) want() string {
	return [...]string{
		Text: aString, Intent: objectOrString,
		List: arrayOrString, Flag: aBool,
		Count: wholeFromOne, Word: aString, Seconds: secondsNumber,
		Key: printable, Step: stepHandle,
		Time: aTime, Page: wholeNumber,
		Whole: wholeNumber, Delay: secondsNumber, Plan: planOrString,
		Results: resultsByID, Input: aValue,
	}[s]
}

// Class is a kind of fault of a request. Faults are reported class by class, in this order.
type Class int

const (
	Unknown    Class = iota // the tool has no such argument
	Missing                 // a required argument is absent or blank
	WrongType               // not of the type or form that is wanted
	OutOfLimit              // of the right type, but not among the allowed values
	TooLarge                // too many bytes
	NotFound                // it names something that the caller does not have
	Mismatch                // it differs from what the run or plan has
	Reused                  // the idempotency key belongs to other arguments
	classes
)

// Reason returns the reason of a problem of this class with the argument of that name.
func (c Class) Reason(name string) string {
	family := [...]string{
		Unknown: "unknown_field:", Missing: "missing:", WrongType: "type:", OutOfLimit: "limit:", TooLarge: "too_large:",
		NotFound: "not_found:", Mismatch: "mismatch:", Reused: "reused:",
	}[c]
	return family + name
}

// Request reads the arguments of one call and collects their faults.
type Request struct {
	Call
	Filters
	faults [classes][]document.Problem

	inputs  map[string]any     // the pattern's own inputs with defaults; nil: not read yet
	misfits []catalog.Mismatch // mismatches of inputs
}

// NewRequest returns a request to a tool, without arguments.
func NewRequest(tool string) *Request {
	return &Request{Call: Call{Tool: tool, Intents: map[string]any{}, IntentWas: map[string]bool{}}}
}

// Problems returns the faults found so far, class by class.
func (r *Request) Problems() []document.Problem { return slices.Concat(r.faults[:]...) }

// Of returns the faults of a class that were found so far.
func (r *Request) Of(c Class) []document.Problem { return r.faults[c] }

// ReadAll judges the arguments of a table, and refuses those that the table does not have.
func (r *Request) ReadAll(table []Row) {
	r.Unknown(table)
	for _, a := range table {
		r.read(a)
	}
}

// needRun refuses a turn without the run that it belongs to.
func (r *Request) needRun(t Reader) {
	if turn := r.Arguments["turn"]; turn != nil && slices.ContainsFunc(t.Takes, func(a Row) bool { return a.Name == "turn" }) {
		r.Add(Missing, "run_id", document.Missing, runToContinue)
	}
}

// Decode decodes the arguments of the whole call strictly. An absent value and null count as no arguments.
func Decode(raw json.RawMessage) (map[string]any, *document.Problem) {
	const whole = "arguments"
	if len(raw) > maxCall {
		head := strings.ToValidUTF8(ijson.Cut(string(raw[:256]), 160), "�")
		return nil, &document.Problem{
			Reason: TooLarge.Reason(whole), Want: atMostInAll(maxCall),
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
	return nil, &document.Problem{Reason: WrongType.Reason(whole), Got: document.Got(v), Want: argumentsObject}
}

// decodingProblem says why a text was refused. A text that is too deep or has a number out of range is beyond a limit.
// Any other one has the wrong type. The fault is below the place at. name names the value at the top.
func decodingProblem(err error, at ijson.Pointer, name string) (document.Problem, Class) {
	fault, ok := errors.AsType[*ijson.Fault](err)
	if !ok {
		fault = &ijson.Fault{Reason: ijson.ReasonNotJSON}
	}
	at += fault.Pointer
	if tokens := at.Tokens(); len(tokens) > 0 {
		name = ijson.Cut(tokens[0], MaxReasonName)
	}
	c, want := WrongType, oneDocument(fault.Reason)
	switch fault.Reason {
	case ijson.ReasonTooDeep:
		c, want = OutOfLimit, atMostLevels(ijson.MaxDepth)
	case ijson.ReasonIntegerRange, ijson.ReasonNumberRange:
		c, want = OutOfLimit, numberRange(ijson.MaxInteger)
	}
	return document.Problem{Pointer: at, Reason: c.Reason(name), Want: want}, c
}

// MaxReasonName is the longest part of a client's name for an argument that a stop reason shows, in bytes.
const MaxReasonName = 4096

// Add notes a fault of the argument with that name.
func (r *Request) Add(c Class, name string, got any, want string) *document.Problem {
	r.faults[c] = append(r.faults[c], document.Problem{
		Pointer: ijson.Pointer("").Member(name), Reason: c.Reason(ijson.Cut(name, MaxReasonName)), Got: document.Got(got), Want: want,
	})
	return &r.faults[c][len(r.faults[c])-1]
}

// Unknown notes the arguments that the table does not have, by name.
func (r *Request) Unknown(table []Row) {
	var names []string
	for _, a := range table {
		names = append(names, a.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Arguments)) {
		if !slices.Contains(names, name) {
			p := r.Add(Unknown, name, r.Arguments[name], oneOf(strings.Join(names, ", ")))
			p.DidYouMean, p.Choose = gateway.Near(name, names), document.RemoveOrRename
			p.Fix = r.goalUnder(name, names)
		}
	}
}

// read judges one argument of the table.
func (r *Request) read(a Row) {
	v := r.Arguments[a.Name]
	s, isText := v.(string)
	switch {
	case a.Required && r.Arguments["run_id"] != nil && v == nil: // the run has the value
	case a.Shape == Input && v == nil && r.Said("parent_plan_id") != "": // the plan has the value
	case (a.Required || a.Name == "run_id" && v != nil) && (v == nil || isText && ijson.Blank(s)):
		r.absent(a, v)
	case a.Shape == Input:
		r.readInput(a)
	case v == nil: // null counts as absent
	case a.Shape == Text && !isText:
		r.wrong(a, v, "string")
	case a.Shape == Text && len(s) > a.Most:
		r.Add(TooLarge, a.Name, v, atMostBytes(a.Most))
	case a.Shape == Flag:
		if _, isFlag := v.(bool); !isFlag {
			r.wrong(a, v, "boolean")
		}
	case a.Shape == Intent || a.Shape == List:
		r.readIntent(a, v)
	case a.Shape == Count:
		r.readCount(a, v)
	case a.Shape == Word:
		r.readWord(a, v)
	case a.Shape == Seconds:
		r.readSeconds(a, v)
	case a.Shape == Key:
		r.readKey(a, v)
	case a.Shape == Step:
		r.readStep(a, v)
	case a.Shape == Time:
		r.readTime(a, v)
	case a.Shape == Page:
		r.Limit = ReadLimit(r)
	case a.Shape == Whole:
		r.readWhole(a, v)
	case a.Shape == Delay:
		r.readDelay(a, v)
	case a.Shape == Plan:
		r.readPlan(a, v)
	case a.Shape == Results:
		r.readResults(a, v)
	}
}

func (r *Request) readCount(a Row, v any) {
	n, isNumber := v.(float64)
	switch {
	case !isNumber || n != math.Trunc(n):
		r.wrong(a, v, "integer")
	case n < 1:
		r.Add(OutOfLimit, a.Name, v, a.Shape.want())
	}
}

func (r *Request) readWord(a Row, v any) {
	s, isText := v.(string)
	switch {
	case !isText:
		r.wrong(a, v, "string")
	case !slices.Contains(a.Words, s):
		p := r.Add(OutOfLimit, a.Name, v, oneOf(strings.Join(a.Words, ", ")))
		p.Means(p.Pointer, s, gateway.Near(s, a.Words))
	}
}

func (r *Request) absent(a Row, v any) {
	if v == nil {
		v = document.Missing
	}
	want := notBlank(a.Shape.want(), a.Most)
	if a.Shape == Input {
		want = strings.TrimSpace(aValueOf(a.kind))
	}
	r.Add(Missing, a.Name, v, want)
}

func (r *Request) wrong(a Row, v any, schemaType string) {
	p := r.Add(WrongType, a.Name, v, a.Shape.want())
	p.Fix = document.Retype(schemaType, p.Pointer, v)
}

// readIntent reads a plan, a route or a list of actions, also from its text. The gate judges its content.
func (r *Request) readIntent(a Row, v any) {
	r.Proposes = true
	s, isText := v.(string)
	if isText {
		var err error
		if v, err = ijson.Decode([]byte(s)); err != nil {
			p, c := decodingProblem(err, ijson.Pointer("").Member(a.Name), a.Name)
			p.Got = document.Got(s)
			r.faults[c] = append(r.faults[c], p)
			return
		}
		r.Size += ijson.Weight(v)
	}
	_, isObject := v.(map[string]any)
	_, isArray := v.([]any)
	if a.Shape == List && !isArray || !isText && !isObject && !isArray {
		r.Add(WrongType, a.Name, r.Arguments[a.Name], a.Shape.want())
		return
	}
	r.Intents[a.Name], r.IntentWas[a.Name] = v, isText
}

// Task returns the task of a call without problems. If finalize is absent, there is a final text unless the caller
// proposes and no model is configured.
func (c Call) Task(configured bool) patterns.Task {
	switch c.Spec.Kind {
	case gateway.Planning:
		return c.PlanTask()
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
