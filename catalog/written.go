package catalog

import (
	"encoding/json"
	"regexp"
	"slices"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"

	"patterngate/ijson"
)

// SchemaFault is one fault of a written schema, or a warning about it (spec/config.md section 4, "Schemas written
// here"). A written schema comes from the configuration.
type SchemaFault struct {
	Pointer    ijson.Pointer // in the text: an unknown keyword, or the value
	Reason     string        // what is wrong, one line
	Got        string        // the value, cut if long; "" if nothing is there
	Want       string        // what would be right; may be ""
	DidYouMean string
	Warning    bool // only a warning: the schema is still used
	Unknown    bool // the keyword itself is wrong
	Misfit     bool // the value has the wrong type or form, so the value says more than the reason
}

// These are the bounds of a written schema.
const (
	maxWritten      = 256 << 10 // bytes
	maxWrittenDepth = 16        // nested schemas
	maxWrittenNodes = 2000      // schemas in total
	maxWrittenFault = 50
	maxEnum         = 1000
	maxPattern      = 1000 // bytes
)

// argumentName matches the argument names that every client accepts.
var argumentName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// CompileArguments compiles an object `name: schema` into the schema of an object with these members and no others. The
// order of the text is that of declaration. Each member is required unless it has optional: true or a default. The
// defaults are for [Tool.Defaults]. If there are faults, the Schema is nil; warnings alone do not matter.
func CompileArguments(text json.RawMessage) (*Schema, map[string]any, []SchemaFault) {
	w := &writing{named: true}
	list := w.arguments(text)
	var required []string
	defaults := map[string]any{}
	properties := make([]member, len(list))
	for i, a := range list {
		properties[i] = member{a.name, a.schema}
		if a.required() {
			required = append(required, a.name)
		}
		if a.hasDefault {
			defaults[a.name] = a.value
		}
	}
	if w.refused() {
		return nil, nil, w.list()
	}
	members := []member{{"type", json.RawMessage(`"object"`)}, {"properties", objectOf(properties)}}
	if len(required) > 0 {
		names, _ := json.Marshal(required) // a list of strings always marshals
		members = append(members, member{"required", names})
	}
	return newWritten(objectOf(append(members, member{"additionalProperties", json.RawMessage(`false`)}))), defaults, w.list()
}

// CompileBounds compiles the object of `bound`: one narrower schema for each argument, for [Schema.Bounded]. A bounded
// argument is required unless its bound has optional: true or a default, because omitting it would bypass the bound. If
// there are faults, the bounds are nil.
func CompileBounds(text json.RawMessage) (map[string]json.RawMessage, []SchemaFault) {
	w := &writing{}
	bounds := map[string]json.RawMessage{}
	for _, a := range w.arguments(text) {
		if bounds[a.name] = a.schema; a.optional {
			bounds[a.name] = objectOf(append(membersOf(a.schema), member{optionalKeyword, json.RawMessage(`true`)}))
		}
	}
	if w.refused() {
		return nil, w.list()
	}
	return bounds, w.list()
}

// BoundDefaults returns the defaults that bounds set: see [Tool.Defaults].
func BoundDefaults(bounds map[string]json.RawMessage) map[string]any {
	defaults := map[string]any{}
	for name, bound := range bounds {
		for _, m := range membersOf(bound) {
			if m.name == "default" {
				defaults[name] = m.decoded()
			}
		}
	}
	return defaults
}

// newWritten returns a written schema. It checks only the formats of the list formats.
func newWritten(text json.RawMessage) *Schema {
	s := newSchema(text, nil)
	s.judgeBy(func(raw []byte) (*santhosh.Schema, error) { return compile(lessShown(raw)) })
	return s
}

// lessShown returns a written schema without the formats that are only shown, because the library checks some of them.
func lessShown(schema json.RawMessage) json.RawMessage {
	var kept []member
	for _, m := range membersOf(schema) {
		switch m.name {
		case "format":
			if !slices.Contains(formats, m.text()) {
				continue
			}
		case "items", "additionalProperties":
			if m.value[0] == '{' {
				m.value = lessShown(m.value)
			}
		case "properties":
			list := membersOf(m.value)
			for i, p := range list {
				list[i].value = lessShown(p.value)
			}
			m.value = objectOf(list)
		}
		kept = append(kept, m)
	}
	return objectOf(kept)
}

// argument is one schema of an object of them.
type argument struct {
	name       string
	schema     json.RawMessage // without the keyword optional
	optional   bool
	hasDefault bool
	value      any // the default
}

func (a argument) required() bool { return !a.optional && !a.hasDefault }

// writing reads written schemas and collects their faults.
type writing struct {
	named  bool // the names come from the configuration, not from a server
	faults []SchemaFault
	more   int
	nodes  int
}

func (w *writing) refused() bool {
	return w.more > 0 || slices.ContainsFunc(w.faults, func(f SchemaFault) bool { return !f.Warning })
}

func (w *writing) list() []SchemaFault { return w.faults }

func (w *writing) add(f SchemaFault) {
	if len(w.faults) >= maxWrittenFault {
		w.more++
		return
	}
	f.Reason, f.Want = oneLine(f.Reason), oneLine(f.Want)
	w.faults = append(w.faults, f)
}

// wrong adds a fault of a value.
func (w *writing) wrong(at ijson.Pointer, value json.RawMessage, reason, want string) {
	w.add(SchemaFault{Pointer: at, Reason: reason, Got: ijson.Cut(string(value), maxWant), Want: want})
}

// misfit adds a fault of a value with the wrong type or form.
func (w *writing) misfit(at ijson.Pointer, value json.RawMessage, reason, want string) {
	w.add(SchemaFault{Pointer: at, Reason: reason, Got: ijson.Cut(string(value), maxWant), Want: want, Misfit: true})
}

func (w *writing) warn(at ijson.Pointer, value json.RawMessage, reason, want string) {
	w.add(SchemaFault{Pointer: at, Reason: reason, Got: ijson.Cut(string(value), maxWant), Want: want, Warning: true})
}

// arguments reads an object of schemas. An absent one is empty.
func (w *writing) arguments(text json.RawMessage) []argument {
	if len(text) == 0 {
		return nil
	}
	if len(text) > maxWritten {
		w.wrong("", nil, schemasBytes(len(text)), atMostBytes(maxWritten))
		return nil
	}
	decoded, err := ijson.Decode(text)
	if err != nil {
		w.wrong("", nil, err.Error(), schemasByName)
		return nil
	}
	if _, ok := decoded.(map[string]any); !ok {
		w.misfit("", text, notObject, schemasByName)
		return nil
	}
	var list []argument
	for _, m := range membersOf(text) {
		at := ijson.Pointer("").Member(m.name)
		if w.named {
			w.callable(at, m.name)
		}
		list = append(list, w.argument(at, m))
	}
	return list
}

// callable adds a fault if not every client accepts a name.
func (w *writing) callable(at ijson.Pointer, name string) {
	if !argumentName.MatchString(name) {
		w.wrong(at, nil, badArgumentName, argumentNameForm)
	}
}

// optionalKeyword is Patterngate's own keyword: the argument may be omitted.
const optionalKeyword = "optional"

// argument reads one schema without our own keyword, and checks its default against it.
func (w *writing) argument(at ijson.Pointer, m member) argument {
	a := argument{name: m.name}
	if m.value[0] != '{' {
		w.misfit(at, m.value, notSchema, schemaForm)
		return a
	}
	var kept []member
	for _, k := range membersOf(m.value) {
		if k.name != optionalKeyword {
			kept = append(kept, k)
			continue
		}
		if a.optional = string(k.value) == "true"; !a.optional && string(k.value) != "false" {
			w.misfit(at.Member(k.name), k.value, notBoolean, aBoolean)
		}
	}
	before := len(w.faults)
	a.schema = w.schema(at, kept, 1)
	for _, k := range kept {
		if k.name == "default" {
			a.hasDefault, a.value = true, k.decoded()
			w.tryDefault(at.Member(k.name), k, a.schema, w.faults[before:])
		}
	}
	return a
}

// tryDefault checks a default against its own schema, if that is valid.
func (w *writing) tryDefault(at ijson.Pointer, m member, schema json.RawMessage, faults []SchemaFault) {
	if slices.ContainsFunc(faults, func(f SchemaFault) bool { return !f.Warning }) || w.more > 0 {
		return
	}
	wrong := newWritten(schema).Check(m.decoded())
	for _, k := range membersOf(schema) {
		if k.name == withinKeyword {
			wrong = append(wrong, pathsOutside("", k.text(), m.decoded())...)
		}
	}
	if len(wrong) > 0 {
		w.wrong(at+wrong[0].Pointer, m.value, defaultMisfits, wrong[0].Want)
	}
}
