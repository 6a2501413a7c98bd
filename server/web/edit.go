package web

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/server/web/wording"
)

// fieldKind is how a person types an argument.
type fieldKind string

const (
	textField   fieldKind = "text"   // the text itself
	numberField fieldKind = "number" // a number
	choiceField fieldKind = "choice" // one of a few values
	jsonField   fieldKind = "json"   // the value as JSON
)

// field is an argument as a form offers it. The same arguments and schema make the same fields, so a returned form is
// read against the fields that were shown.
type field struct {
	Name     string // of the form's field: edit.ARG
	Label    string // with hidden characters made visible
	Kind     fieldKind
	Shown    string // the value as the form shows it; an equal value is no change
	Typed    string // the value in the form now
	Choices  []choice
	Required bool
	Hint     string
	Rows     int // of a text area

	property catalog.Property
	value    any
	given    bool
}

// choice is one value of a field.
type choice struct {
	Value  string // as JSON
	Chosen bool
}

// fieldsOf returns the arguments that a form lets a person change, and the names of those that do not fit into a form.
func fieldsOf(args map[string]any, schema *catalog.Schema) (fields []field, left []string) {
	room := maxTyped
	for _, property := range ordered(args, schema) {
		f := fieldOf(property, args)
		size := len(url.QueryEscape(f.Name)) + len(url.QueryEscape(f.Shown)) + 2
		if size > room || f.Label != property.Name { // a browser would not send such a name back
			left = append(left, f.Label)
			continue
		}
		room -= size
		fields = append(fields, f)
	}
	return fields, left
}

func fieldOf(property catalog.Property, args map[string]any) field {
	v, given := args[property.Name]
	f := field{Name: "edit." + property.Name, Label: wording.Visible(property.Name), Required: property.Required, property: property, value: v, given: given, Rows: 1}
	f.Kind = f.kind()
	if given {
		f.Shown = f.show(v)
	}
	f.Typed, f.Hint = f.Shown, f.hint()
	f.Rows = min(16, max(f.Rows, 1+strings.Count(f.Shown, "\n")+len(f.Shown)/60))
	for _, v := range f.values() {
		text := wording.Visible(string(ijson.Canonical(v))) // the same JSON
		f.Choices = append(f.Choices, choice{text, given && text == f.Shown})
	}
	return f
}

// kind returns the kind of the schema, or else of the value. If a browser would not send back every character of a
// text, the text is typed as JSON.
func (f field) kind() fieldKind {
	text, isText := f.value.(string)
	switch {
	case len(f.values()) > 0:
		return choiceField
	case f.property.Type == "number", f.property.Type == "integer":
		return numberField
	case isText && text == plain(text), f.property.Type == "string" && !f.given:
		return textField
	}
	return jsonField
}

// plain returns a text as a browser sends it back, with hidden characters made visible.
func plain(text string) string {
	parts := strings.Split(text, "\n")
	for i, part := range parts {
		parts[i] = wording.Visible(part)
	}
	return strings.Join(parts, "\n")
}

// values returns the values that the schema allows, and the proposed one. It returns none if the schema does not list
// them.
func (f field) values() []any {
	list := slices.Clone(f.property.Enum)
	if len(list) == 0 && f.property.Type == "boolean" {
		list = []any{true, false}
	}
	if len(list) > 0 && f.given && !slices.ContainsFunc(list, func(v any) bool { return ijson.Equal(v, f.value) }) {
		list = append(list, f.value)
	}
	return list
}

func (f field) show(v any) string {
	if text, ok := v.(string); ok && f.Kind == textField {
		return text
	}
	return wording.Visible(string(ijson.Canonical(v)))
}

func (f field) hint() string {
	var parts []string
	switch f.Kind {
	case numberField:
		parts = append(parts, map[string]string{"integer": wording.HintWhole}[f.property.Type])
	case jsonField:
		parts = append(parts, wording.HintJSON)
	}
	if f.property.Spelling != "" {
		parts = append(parts, wording.HintSpelling(f.property.Spelling))
	}
	if !f.Required && f.Kind != choiceField {
		parts = append(parts, wording.HintOptional)
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// edited reads changed arguments from a form. changed is false if all fields have the values that were shown. problems
// says which values cannot be accepted. Arguments that are not in the form stay.
func edited(args map[string]any, fields []field, form url.Values) (result map[string]any, changed bool, problems []string) {
	result = maps.Clone(args)
	if result == nil {
		result = map[string]any{}
	}
	for i := range fields {
		f := &fields[i]
		typed, sent := form[f.Name]
		if !sent {
			continue
		}
		f.retype(strings.ReplaceAll(typed[0], "\r\n", "\n"))
		if f.Typed == f.Shown {
			continue
		}
		v, given, problem := f.read()
		switch {
		case problem != "":
			problems, changed = append(problems, f.Label+": "+problem), true
		case !given && f.given:
			delete(result, f.property.Name)
			changed = true
		case given && !(f.given && ijson.Equal(v, f.value)):
			result[f.property.Name] = v
			changed = true
		}
	}
	return result, changed, problems
}

// retype sets the field to the text that a person typed.
func (f *field) retype(text string) {
	f.Typed = text
	for i := range f.Choices {
		f.Choices[i].Chosen = f.Choices[i].Value == text
	}
}

// read returns the typed value. given is false if there is none.
func (f field) read() (v any, given bool, problem string) {
	text := ijson.Trim(f.Typed)
	switch {
	case f.Typed == "" && f.Required && f.Kind == textField:
		return "", true, ""
	case text == "" && f.Kind != textField && f.Required:
		return nil, false, wording.IsRequired(f.want())
	case f.Typed == "", text == "" && f.Kind != textField:
		return nil, false, ""
	case f.Kind == textField:
		return f.Typed, true, ""
	}
	v, err := ijson.Decode([]byte(text))
	number, isNumber := v.(float64)
	_, whole := ijson.Integer(v)
	switch {
	case f.Kind == numberField && (err != nil || !isNumber || f.property.Type == "integer" && !whole):
		return nil, false, wording.Got(text, f.want())
	case err != nil:
		return nil, false, wording.NotJSON(f.want())
	case f.Kind == numberField:
		return number, true, ""
	}
	return v, true, ""
}

func (f field) want() string {
	switch f.Kind {
	case numberField:
		if f.property.Type == "integer" {
			return wording.WantWhole
		}
		return wording.WantNumber
	case choiceField:
		return wording.WantChoice
	}
	return wording.WantJSON
}

// misfits says why the tool does not accept the arguments.
func misfits(args map[string]any, schema *catalog.Schema) []string {
	var list []string
	for _, m := range schema.Check(args) {
		list = append(list, wording.Misfit(strings.TrimPrefix(string(m.Pointer), "/"), m.Want))
	}
	return list
}

// unfit says where each problem is and what the right value is.
func unfit(problems []document.Problem) []string {
	list := make([]string, len(problems))
	for i, problem := range problems {
		at := strings.TrimPrefix(strings.TrimPrefix(string(problem.Pointer), "/args"), "/")
		list[i] = wording.Misfit(at, problem.Want)
	}
	return list
}
