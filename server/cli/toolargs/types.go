package toolargs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"patterngate/ijson"
	"patterngate/server/cli/console"
)

// jsonTypes has the types that a schema can name, each with a description of a valid value.
var jsonTypes = map[string]string{
	"string": "a text", "integer": "a whole number such as 42", "number": "a number such as 42 or 99.5", "boolean": "true or false",
	"object": `a JSON object such as {"key": "value"}`, "array": `a JSON array such as ["a", "b"]`, "null": "null",
}

// Types holds the types of a tool's arguments. It is only for reading typed text: the server validates the call.
type Types struct{ root, Properties map[string]any }

// ReadTypes reads an input schema. If it cannot be read, every argument is a text.
func ReadTypes(schema json.RawMessage) Types {
	var t Types
	if json.Unmarshal(schema, &t.root) == nil {
		t.Properties, _ = t.target(t.root)["properties"].(map[string]any)
	}
	return t
}

// Names returns the arguments that the schema knows, sorted.
func (t Types) Names() []string {
	var names []string
	for name := range t.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Of returns the types of an argument in the order of the schema. It returns none if the schema has no type for it.
func (t Types) Of(name string) []string {
	property, _ := t.Properties[name].(map[string]any)
	w := typeWalk{in: t, left: maxSchemas}
	w.visit(property)
	if name == "plan" && t.checklists() {
		w.add("string")
	}
	return w.types
}

// checklists reports whether a plan can be a checklist, which is so if plans have ids (spec/planning-reference.md
// section 15, Arguments).
func (t Types) checklists() bool {
	return t.Properties["plan_id"] != nil || t.Properties["parent_plan_id"] != nil
}

// maxSchemas limits the number of visited schemas, and the length of a chain of references.
const maxSchemas = 100

// typeWalk collects the types that a schema names directly, by reference or as alternatives.
type typeWalk struct {
	in    Types
	types []string
	left  int
}

func (w *typeWalk) visit(schema map[string]any) {
	if w.left--; w.left < 0 {
		return
	}
	schema = w.in.target(schema)
	w.add(schema["type"])
	several, _ := schema["type"].([]any)
	for _, one := range several {
		w.add(one)
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		alternatives, _ := schema[keyword].([]any)
		for _, alternative := range alternatives {
			inner, _ := alternative.(map[string]any)
			w.visit(inner)
		}
	}
}

func (w *typeWalk) add(v any) {
	if name, ok := v.(string); ok && jsonTypes[name] != "" && !slices.Contains(w.types, name) {
		w.types = append(w.types, name)
	}
}

// target follows references within the schema.
func (t Types) target(schema map[string]any) map[string]any {
	for range maxSchemas {
		ref, ok := schema["$ref"].(string)
		if !ok || !strings.HasPrefix(ref, "#") {
			return schema
		}
		v, _ := ijson.Pointer(ref[1:]).In(t.root)
		schema, _ = v.(map[string]any)
	}
	return schema
}

// Value returns a key's value as JSON. It uses the first type that fits the text. Without types the value is a text.
func (k Key) Value(types []string) (json.RawMessage, error) {
	if k.JSON {
		return json.RawMessage(k.Text), nil
	}
	if len(types) == 0 {
		types = []string{"string"}
	}
	var wants []string
	why := ""
	for _, name := range types {
		value, err := k.as(name)
		if err == nil {
			return value, nil
		}
		wants = append(wants, jsonTypes[name])
		if text := err.Error(); text != "" {
			why = "; it is " + text
		}
	}
	return nil, fmt.Errorf("got %s%s; want %s", console.Typed(k.Text), why, strings.Join(wants, ", or "))
}

// errOther is returned if a text does not have the expected type.
var errOther = errors.New("")

// as reads the value as one type.
func (k Key) as(name string) (json.RawMessage, error) {
	if name == "string" {
		return k.asText()
	}
	text := strings.TrimSpace(k.Text)
	switch name {
	case "boolean":
		return matching(text, text == "true" || text == "false")
	case "null":
		return matching(text, text == "null")
	case "integer":
		n, err := strconv.ParseFloat(text, 64)
		return matching(text, isNumber(text) && (err != nil || n == math.Trunc(n)))
	case "number":
		return matching(text, isNumber(text))
	}
	opening := map[string]string{"object": "{", "array": "["}[name]
	if !strings.HasPrefix(text, opening) {
		return nil, errOther
	}
	if !json.Valid([]byte(text)) {
		return nil, errors.New(notJSON([]byte(text)))
	}
	return json.RawMessage(text), nil
}

// asText returns the text as a JSON string. It removes one line end from the end of a text that came from a file.
func (k Key) asText() (json.RawMessage, error) {
	text := k.Text
	if k.file != "" {
		text, _ = strings.CutSuffix(text, "\n")
		if len(text) < len(k.Text) {
			text, _ = strings.CutSuffix(text, "\r")
		}
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("not UTF-8")
	}
	return ijson.Canonical(text), nil
}

func matching(text string, ok bool) (json.RawMessage, error) {
	if !ok {
		return nil, errOther
	}
	return json.RawMessage(text), nil
}

// isNumber reports whether a text is a JSON number.
func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid([]byte(text))
}
