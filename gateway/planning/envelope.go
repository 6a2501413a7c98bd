package planning

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
)

// A person can be asked about a whole plan before it runs (design section 8). Their approval lets the steps of the plan through. Each
// step has a share of the approval, which is spent once:
//
//	unfinished subtasks ──▶ Envelope ──Value──▶ Question.Args ──digest──▶ a person
//	                                                                        │ approves
//	a step's call ──Covers: this step, as it was shown? ◀──ReadEnvelope─────┘

// envelopeType is the type member of a question that shows an envelope.
const envelopeType = "patterngate/envelope/v1"

// MaxEnvelope bounds the canonical form of an envelope that a person is asked about, in bytes.
const MaxEnvelope = 256 << 10

// Envelope is the part of a plan that has not run yet, as a person is asked about it. The zero Envelope lets nothing through.
type Envelope struct {
	Plan     string // its id
	Revision int
	Goal     string         // a claim, written by the author of the plan
	Steps    []EnvelopeStep // in the order of execution
	// Change is the newest change of the plan's subtasks; nil if the plan was never changed.
	Change *EnvelopeChange
}

// EnvelopeStep is a subtask that will run.
type EnvelopeStep struct {
	ID, Tool string
	Effect   catalog.Effect // "" if it is not a tool of the catalog
	Schema   string         // hash of the tool's input schema; "" if it is not a tool of the catalog
	Args     map[string]any // as in the plan, with its references
	// Bounds has, for the place of each reference in Args, the JSON schema that its value fits. {} fits anything.
	Bounds map[string]any
	Claim  string // the beginning of its description, written by the author of the plan
}

// EnvelopeChange is a replan or another round.
type EnvelopeChange struct {
	Kind           string // replan or round
	Added, Removed []string
}

// maxClaim bounds what a person is shown of a goal or description, in bytes.
const maxClaim = 512

// NewEnvelopeStep returns a subtask as a person is shown it. If the catalog does not have the tool, the step has no effect and covers no
// call.
func NewEnvelopeStep(s Subtask, c *catalog.Catalog) EnvelopeStep {
	step := EnvelopeStep{ID: s.ID, Tool: s.Tool, Args: s.Args, Claim: ijson.Cut(s.Description, maxClaim)}
	tool, there := c.Tool(s.Tool)
	if !there || s.Tool == ModelExecutor || s.Tool == CallerExecutor {
		return step
	}
	step.Effect, step.Schema = tool.Effect, cmp.Or(tool.Asked().Hash(), gateway.HashOfNone)
	step.Args = shownArgs(tool, s.Args)
	rewrite(s.Args, "", func(at ijson.Pointer, _ string) any {
		if step.Bounds == nil {
			step.Bounds = map[string]any{}
		}
		step.Bounds[string(at)] = tool.Input.BoundsAt(at)
		return nil
	})
	return step
}

// shownArgs returns a subtask's arguments with the defaults and fixed values of the tool's declaration, which are not references.
func shownArgs(tool catalog.Tool, args map[string]any) map[string]any {
	shown := maps.Clone(tool.Whole(tool.Filled(args)))
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		_, proposed := args[name]
		if _, fixed := tool.Fixed[name]; fixed || !proposed {
			shown[name] = literal(shown[name])
		}
	}
	return shown
}

// literal returns a value that [Resolve] turns back into v: its texts are escaped so that none is a reference.
func literal(v any) any {
	switch v := v.(type) {
	case string:
		if isReference(v) || strings.HasPrefix(v, escapeMark) {
			return "$" + v
		}
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = literal(element)
		}
		return list
	case map[string]any:
		members := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members[name] = literal(v[name])
		}
		return members
	}
	return v
}

// Bounded reports whether each reference has bounds that limit its value: to a list, to a range of numbers, or to a boolean.
func (s EnvelopeStep) Bounded() bool {
	for _, at := range slices.Sorted(maps.Keys(s.Bounds)) {
		of, _ := s.Bounds[at].(map[string]any)
		_, listed := of["enum"]
		_, fixed := of["const"]
		number := of["type"] == "number" || of["type"] == "integer"
		low := of["minimum"] != nil || of["exclusiveMinimum"] != nil
		high := of["maximum"] != nil || of["exclusiveMaximum"] != nil
		if !listed && !fixed && of["type"] != "boolean" && (!number || !low || !high) {
			return false
		}
	}
	return true
}

// Writes reports whether the step's tool writes or destroys.
func (s EnvelopeStep) Writes() bool { return s.Effect != "" && s.Effect != catalog.Read }

// Writing returns the steps whose tools write or destroy.
func (e Envelope) Writing() []EnvelopeStep {
	return slices.DeleteFunc(slices.Clone(e.Steps), func(s EnvelopeStep) bool { return !s.Writes() })
}

// Effect returns the strongest effect of the steps; read if no step writes.
func (e Envelope) Effect() catalog.Effect {
	strongest := catalog.Read
	for _, s := range e.Writing() {
		if strongest != catalog.Destructive {
			strongest = s.Effect
		}
	}
	return strongest
}

// Step returns the step with this id.
func (e Envelope) Step(id string) (EnvelopeStep, bool) {
	i := slices.IndexFunc(e.Steps, func(s EnvelopeStep) bool { return s.ID == id })
	if i < 0 {
		return EnvelopeStep{}, false
	}
	return e.Steps[i], true
}

// Covers reports whether a call is the step with this id, as the person was shown it. The tool, its schema and the arguments must be
// the same; the value of a reference must fit its bounds.
func (e Envelope) Covers(id string, sent gateway.Question) bool {
	s, there := e.Step(id)
	return there && s.Effect != "" && s.Tool == sent.Tool && s.Schema == cmp.Or(sent.Schema, gateway.HashOfNone) && s.takes(orEmpty(s.Args), orEmpty(sent.Args), "")
}

// takes reports whether the sent value is the one that was shown.
func (s EnvelopeStep) takes(shown, sent any, at ijson.Pointer) bool {
	switch shown := shown.(type) {
	case string:
		if isReference(shown) {
			return fitsBounds(s.Bounds[string(at)], sent)
		}
		if strings.HasPrefix(shown, escapeMark) {
			return sent == shown[1:]
		}
	case []any:
		list, isList := sent.([]any)
		if !isList || len(list) != len(shown) {
			return false
		}
		for i, v := range shown {
			if !s.takes(v, list[i], at.Index(i)) {
				return false
			}
		}
		return true
	case map[string]any:
		of, isObject := sent.(map[string]any)
		if !isObject || len(of) != len(shown) {
			return false
		}
		for _, name := range slices.Sorted(maps.Keys(shown)) {
			if v, there := of[name]; !there || !s.takes(shown[name], v, at.Member(name)) {
				return false
			}
		}
		return true
	}
	return ijson.Equal(shown, sent)
}

// fitsBounds is false if there are no bounds: then the person was not shown that place.
func fitsBounds(bounds, v any) bool {
	of, there := bounds.(map[string]any)
	if !there || len(of) == 0 {
		return there
	}
	schema, err := catalog.CompileSchema(ijson.Canonical(of))
	return err == nil && len(schema.Check(v)) == 0
}

// orEmpty returns the arguments, or an empty object for nil.
func orEmpty(args map[string]any) map[string]any {
	if args == nil {
		return map[string]any{}
	}
	return args
}
