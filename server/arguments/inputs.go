package arguments

import (
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

// MaxOwnInput is the maximum size of one input, in bytes of its compact JSON.
const MaxOwnInput = 16 << 10

// OwnInputs returns the inputs of a pattern that are not its text inputs.
func OwnInputs(spec patterns.Spec) []catalog.Property {
	return slices.DeleteFunc(spec.Input.Properties(), func(p catalog.Property) bool {
		return slices.ContainsFunc(spec.TextInputs, func(i patterns.TextInput) bool { return i.Name == p.Name })
	})
}

// InputRows returns the argument rows of a pattern's inputs, its text inputs first.
func InputRows(spec patterns.Spec) []Row {
	var rows []Row
	for _, i := range spec.TextInputs {
		rows = append(rows, Row{Name: i.Name, Required: true, Most: MaxInput})
	}
	for _, p := range OwnInputs(spec) {
		rows = append(rows, Row{Name: p.Name, Shape: Input, Required: p.Required, kind: p.Type})
	}
	return rows
}

// goalRow returns the argument row of the goal.
func goalRow(spec patterns.Spec) Row {
	return Row{Name: spec.GoalArgument(), Required: true, Most: MaxGoal}
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
	if len(spec.TextInputs) == 0 {
		return nil
	}
	inputs := patterns.Inputs{}
	for _, i := range spec.TextInputs {
		inputs[i.Name], _ = arguments[i.Name].(string)
	}
	return inputs
}

// ofPlan adds the problems with the inputs of a planning tool's call. A stored plan has its own inputs, so the call
// must not give any.
func (r *Request) ofPlan(stored bool) {
	for _, p := range OwnInputs(r.Spec) {
		switch v := r.Arguments[p.Name]; {
		case stored && v != nil:
			r.Add(Mismatch, p.Name, v, planHasGoal).Choose = removeOrPlan
		case !stored && v == nil && p.Required:
			r.absent(Row{Name: p.Name, Shape: Input, kind: p.Type}, v)
		}
	}
}

// readInput checks one input against the pattern's schema.
func (r *Request) readInput(a Row) {
	given := r.Arguments[a.Name]
	if given == nil {
		return
	}
	if text, isText := given.(string); isText && (a.kind == "object" || a.kind == "array") {
		if _, err := ijson.Decode([]byte(text)); err != nil {
			p, c := decodingProblem(err, ijson.Pointer("").Member(a.Name), a.Name)
			p.Got = document.Got(given)
			r.faults[c] = append(r.faults[c], p)
			return
		}
	}
	if n := len(ijson.Canonical(given)); n > MaxOwnInput {
		r.Add(TooLarge, a.Name, given, atMostBytes(MaxOwnInput))
		return
	}
	if r.inputs == nil {
		r.inputs = givenInputs(r.Spec, r.Arguments)
		r.misfits = r.Spec.Input.Check(r.inputs)
	}
	for _, m := range r.misfits {
		if tokens := m.Pointer.Tokens(); len(tokens) > 0 && tokens[0] == a.Name {
			r.misfit(a, m, len(tokens) == 1)
		}
	}
}

// misfit adds a problem for one mismatch of an input. whole says that the mismatch is about the input itself and not
// about a part of it.
func (r *Request) misfit(a Row, m catalog.Mismatch, whole bool) {
	got, there := m.Pointer.In(r.inputs)
	if !there {
		got = document.Missing
	}
	c := map[catalog.MismatchKind]Class{
		catalog.MismatchUnknown: Unknown, catalog.MismatchMissing: Missing, catalog.MismatchType: WrongType, catalog.MismatchValue: OutOfLimit,
	}[m.Kind]
	r.place(c, a.Name, m.Pointer, got, m.Want)
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
		p.Means(p.Pointer, word, gateway.Near(word, EnumTexts(r.Spec, a.Name)))
	}
}

// EnumTexts returns the texts that an input allows, or nil if it has no enum.
func EnumTexts(spec patterns.Spec, input string) []string {
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

// FromTexts converts arguments that a person filled in as texts to the types that the pattern's inputs need. A text
// that is valid JSON becomes its value, unless the input is a string or the text is one of its enum. A blank optional
// input is removed.
func FromTexts(spec patterns.Spec, given map[string]string) map[string]any {
	arguments := make(map[string]any, len(given))
	for name, text := range given {
		arguments[name] = text
	}
	for _, p := range OwnInputs(spec) {
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
