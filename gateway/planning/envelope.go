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

// A plan may be put to a person whole before anything of it runs (design section 8). What they approve lets its steps through,
// each by a share of its own that is spent once:
//
//	unfinished subtasks ──▶ Envelope ──Value──▶ Question.Args ──digest──▶ a person
//	                                                                        │ approves
//	a step's call ──Covers: this step, as it was shown? ◀──ReadEnvelope─────┘

// envelopeType marks the arguments of a question that are an envelope.
const envelopeType = "patterngate/envelope/v1"

// MaxEnvelope is how long an envelope may be that is put to a person, in bytes of its canonical form: nobody reads more.
const MaxEnvelope = 256 << 10

// Envelope is what of a plan is to run, as a person is asked about it whole. The zero Envelope lets nothing through.
type Envelope struct {
	Plan     string // its id
	Revision int
	Goal     string         // a claim: who made the plan wrote it
	Steps    []EnvelopeStep // in the order of execution
	// Change is what the newest change of the plan's subtasks was; nil: the plan is as it was made.
	Change *EnvelopeChange
}

// EnvelopeStep is a subtask that is to run.
type EnvelopeStep struct {
	ID, Tool string
	Effect   catalog.Effect // "" of what is no tool of the catalog
	Schema   string         // hash of the tool's input schema; "" of what is no tool of the catalog
	Args     map[string]any // as in the plan: references stand as they are
	// Bounds are, by the place of each reference in Args, the JSON schema that what comes there fits; {} says nothing.
	Bounds map[string]any
	Claim  string // how its description begins, in the words of who made the plan
}

// EnvelopeChange is a replan or a further round.
type EnvelopeChange struct {
	Kind           string // replan or round
	Added, Removed []string
}

// maxClaim is how much of a goal or description is put to a person, in bytes.
const maxClaim = 512

// NewEnvelopeStep is a subtask as it is put to a person. A tool that the catalog does not have is nobody's to call.
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

// shownArgs are a subtask's arguments with what the tool's declaration puts in and sets, which are no references.
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

// literal is a value that is no reference and holds none: the inverse of what [Resolve] makes of it.
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

// Bounded reports whether each value that is not shown itself is within bounds that say how far it may go: one of a list,
// between two numbers, or a boolean.
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

// Writing are the steps whose tools write or destroy.
func (e Envelope) Writing() []EnvelopeStep {
	return slices.DeleteFunc(slices.Clone(e.Steps), func(s EnvelopeStep) bool { return !s.Writes() })
}

// Effect is the strongest of the steps' effects; read where nothing writes.
func (e Envelope) Effect() catalog.Effect {
	strongest := catalog.Read
	for _, s := range e.Writing() {
		if strongest != catalog.Destructive {
			strongest = s.Effect
		}
	}
	return strongest
}

// Step is the one of this id.
func (e Envelope) Step(id string) (EnvelopeStep, bool) {
	i := slices.IndexFunc(e.Steps, func(s EnvelopeStep) bool { return s.ID == id })
	if i < 0 {
		return EnvelopeStep{}, false
	}
	return e.Steps[i], true
}

// Covers reports whether a call is the step of this id as it was shown: the same tool with the same schema and the same
// arguments, where each value in the place of a reference fits its bounds.
func (e Envelope) Covers(id string, sent gateway.Question) bool {
	s, there := e.Step(id)
	return there && s.Effect != "" && s.Tool == sent.Tool && s.Schema == cmp.Or(sent.Schema, gateway.HashOfNone) && s.takes(orEmpty(s.Args), orEmpty(sent.Args), "")
}

// takes compares a value as it was shown with one that is sent.
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

// fitsBounds fails where there are no bounds: nobody was shown that place.
func fitsBounds(bounds, v any) bool {
	of, there := bounds.(map[string]any)
	if !there || len(of) == 0 {
		return there
	}
	schema, err := catalog.CompileSchema(ijson.Canonical(of))
	return err == nil && len(schema.Check(v)) == 0
}

// orEmpty returns the arguments, which are an empty object where there are none.
func orEmpty(args map[string]any) map[string]any {
	if args == nil {
		return map[string]any{}
	}
	return args
}
