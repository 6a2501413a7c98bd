package server

import (
	"fmt"
	"maps"
	"slices"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// The inputs that a pattern takes besides the arguments of its kind (spec/config.md section 7, input). Each is a row of
// the argument table. Its schema checks it after the defaults are filled in.

// maxOwnInput is the maximum size of one input, in bytes of its compact JSON.
const maxOwnInput = 16 << 10

// builtinInputs are the inputs of the built-in orchestrator. Its table has them even without an input schema.
var builtinInputs = []string{"report_date", "region"}

// ownInputs returns the inputs of a pattern that the table of its kind does not have already.
func ownInputs(spec patterns.Spec) []catalog.Property {
	return slices.DeleteFunc(spec.Input.Properties(), func(p catalog.Property) bool {
		return !spec.Declared && spec.Kind == gateway.Orchestrator && slices.Contains(builtinInputs, p.Name)
	})
}

// inputRows returns the argument rows of a pattern's own inputs.
func inputRows(spec patterns.Spec) []argument {
	var rows []argument
	for _, p := range ownInputs(spec) {
		rows = append(rows, argument{name: p.Name, shape: shapeInput, required: p.Required, kind: p.Type})
	}
	return rows
}

// goalRow returns the argument row of the goal.
func goalRow(spec patterns.Spec) argument {
	return argument{name: spec.GoalArgument(), required: true, most: maxGoal}
}

// givenInputs returns the inputs of a call as its schema checks them: the given values and the defaults of the others.
// An object or list may also be given as a text that holds JSON. An input that is null counts as absent.
func givenInputs(spec patterns.Spec, arguments map[string]any) map[string]any {
	given := spec.Input.Defaults()
	for _, p := range spec.Input.Properties() {
		v := arguments[p.Name]
		if text, isText := v.(string); isText && (p.Type == "object" || p.Type == "array") {
			if decoded, err := ijson.Decode([]byte(text)); err == nil {
				v = decoded
			}
		}
		if v != nil {
			given[p.Name] = v
		}
	}
	return given
}

// inputsOf returns the inputs of a call without problems, or nil if the pattern takes none.
func inputsOf(spec patterns.Spec, arguments map[string]any) patterns.Inputs {
	if spec.Input != nil {
		return givenInputs(spec, arguments)
	}
	if spec.Kind != gateway.Orchestrator || spec.Declared {
		return nil
	}
	inputs := patterns.Inputs{}
	for _, name := range builtinInputs {
		inputs[name], _ = arguments[name].(string)
	}
	return inputs
}

// ofPlan adds the problems with the inputs of a planning tool's call. A stored plan has its own inputs, so the call
// must not give any.
func (r *request) ofPlan(stored bool) {
	for _, p := range ownInputs(r.Spec) {
		switch v := r.Arguments[p.Name]; {
		case stored && v != nil:
			r.add(classMismatch, p.Name, v, "nothing: the plan has its own").Choose = "remove it, or make another plan"
		case !stored && v == nil && p.Required:
			r.absent(argument{name: p.Name, shape: shapeInput, kind: p.Type}, v)
		}
	}
}

// readInput checks one input against the pattern's schema.
func (r *request) readInput(a argument) {
	given := r.Arguments[a.name]
	if given == nil {
		return
	}
	if text, isText := given.(string); isText && (a.kind == "object" || a.kind == "array") {
		if _, err := ijson.Decode([]byte(text)); err != nil {
			p, c := decodingProblem(err, ijson.Pointer("").Member(a.name), a.name)
			p.Got = document.Got(given)
			r.faults[c] = append(r.faults[c], p)
			return
		}
	}
	if n := len(ijson.Canonical(given)); n > maxOwnInput {
		r.add(classTooLarge, a.name, given, fmt.Sprintf("at most %d bytes", maxOwnInput))
		return
	}
	if r.inputs == nil {
		r.inputs = givenInputs(r.Spec, r.Arguments)
		r.misfits = r.Spec.Input.Check(r.inputs)
	}
	for _, m := range r.misfits {
		if tokens := m.Pointer.Tokens(); len(tokens) > 0 && tokens[0] == a.name {
			r.misfit(a, m, len(tokens) == 1)
		}
	}
}

// misfit adds a problem for one mismatch of an input. whole says that the mismatch is about the input itself and not
// about a part of it.
func (r *request) misfit(a argument, m catalog.Mismatch, whole bool) {
	got, there := m.Pointer.In(r.inputs)
	if !there {
		got = document.Missing
	}
	c := map[catalog.MismatchKind]class{
		catalog.MismatchUnknown: classUnknown, catalog.MismatchMissing: classMissing, catalog.MismatchType: classType, catalog.MismatchValue: classLimit,
	}[m.Kind]
	r.place(c, a.name, m.Pointer, got, m.Want)
	p := r.lastOf(c)
	if m.Kind == catalog.MismatchUnknown {
		p.Choose = document.RemoveOrRename
	}
	if !whole {
		return
	}
	if m.Kind == catalog.MismatchType {
		p.Fix = document.Retype(a.kind, m.Pointer, got)
	}
	if word, isText := got.(string); isText && m.Kind == catalog.MismatchValue {
		p.Means(p.Pointer, word, gateway.Near(word, enumOf(r.Spec, a.name)))
	}
}

// enumOf returns the texts that an input allows, or nil if it has no enum.
func enumOf(spec patterns.Spec, input string) []string {
	var words []string
	for _, p := range spec.Input.Properties() {
		if p.Name != input {
			continue
		}
		for _, v := range p.Enum {
			if word, isText := v.(string); isText {
				words = append(words, word)
			}
		}
	}
	return words
}

// fromTexts converts arguments that a person filled in as texts to the types that the pattern's inputs need. A text
// that is valid JSON becomes its value, unless the input is a string or the text is one of its enum. A blank optional
// input is removed.
func fromTexts(spec patterns.Spec, given map[string]string) map[string]any {
	arguments := make(map[string]any, len(given))
	for name, text := range given {
		arguments[name] = text
	}
	for _, p := range ownInputs(spec) {
		text, there := given[p.Name]
		if there && !p.Required && ijson.Blank(text) { // clients fill in all arguments of a prompt
			delete(arguments, p.Name)
			continue
		}
		if !there || p.Type == "string" || slices.ContainsFunc(p.Enum, func(v any) bool { return v == any(text) }) {
			continue
		}
		if v, err := ijson.Decode([]byte(ijson.Trim(text))); err == nil {
			arguments[p.Name] = v
		}
	}
	maps.DeleteFunc(arguments, func(_ string, v any) bool { return v == nil })
	return arguments
}
