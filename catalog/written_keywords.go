package catalog

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"patterngate/ijson"
)

// reader returns the function that reads a keyword of written schemas, or nil if the keyword is not one of them.
func (k keyword) reader() func() json.RawMessage {
	switch k.name {
	case "type":
		return k.typeWord
	case "description":
		return k.words
	case "enum":
		return k.enum
	case "const":
		return k.constant
	case "default": // checked where the whole schema is read
		return k.asItIs
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return k.number
	case "multipleOf":
		return k.divisor
	case "minLength", "maxLength", "minItems", "maxItems":
		return k.count
	case "pattern":
		return k.expression
	case "format":
		return k.format
	case "uniqueItems":
		return k.boolean
	case "items":
		return k.schemaOrFault
	case "properties":
		return k.properties
	case "required":
		return k.required
	case "additionalProperties":
		return k.additional
	case withinKeyword:
		if !k.named && k.depth == 1 {
			return k.directory
		}
	}
	return nil
}

// keywords are the keywords that may be written, in the order in which a fault lists them.
var keywords = []string{
	"type", "description", "enum", "const", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minLength", "maxLength", "pattern", "format", "items", "minItems", "maxItems", "uniqueItems", "properties", "required",
	"additionalProperties", withinKeyword, optionalKeyword,
}

// of names the types to which a keyword applies; a keyword that is absent applies to all types.
var of = map[string]string{
	"minimum": "number integer", "maximum": "number integer", "exclusiveMinimum": "number integer", "exclusiveMaximum": "number integer",
	"multipleOf": "number integer", "minLength": "string", "maxLength": "string", "pattern": "string",
	"items": "array", "minItems": "array", "maxItems": "array", "uniqueItems": "array",
	"properties": "object", "required": "object", "additionalProperties": "object", withinKeyword: "string array",
}

// branching are keywords of JSON Schema that must not be written: clients drop them, and rules cannot get types from
// them.
var branching = []string{"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref"}

// formats are the formats that are checked.
var formats = []string{"date", "date-time", "time", "email", "uri", "uuid", "ipv4", "ipv6"}

// keyword is one member of a schema that is being read.
type keyword struct {
	*writing
	member
	at    ijson.Pointer
	kind  string // the schema's type; "" if it has none
	depth int
	whole []member // the schema
}

// schema reads one schema and returns its text with closed objects.
func (w *writing) schema(at ijson.Pointer, members []member, depth int) json.RawMessage {
	if w.nodes++; w.nodes > maxWrittenNodes || depth > maxWrittenDepth {
		if w.nodes <= maxWrittenNodes+1 {
			w.wrong(at, nil, tooManySchemas, atMostSchemas(maxWrittenNodes, maxWrittenDepth))
		}
		return json.RawMessage(`{}`)
	}
	kind := ""
	for _, m := range members {
		if m.name == "type" && slices.Contains(types, m.text()) {
			kind = m.text()
		}
	}
	written := make([]member, 0, len(members)+1)
	for _, m := range members {
		k := keyword{writing: w, member: m, at: at.Member(m.name), kind: kind, depth: depth, whole: members}
		if text := k.read(); text != nil {
			written = append(written, member{m.name, text})
		}
	}
	w.ranges(at, members)
	return objectOf(w.closed(at, kind, written))
}

// closed adds additionalProperties: false to the schema of an object that does not set it.
func (w *writing) closed(at ijson.Pointer, kind string, members []member) []member {
	has := func(name string) bool {
		return slices.ContainsFunc(members, func(m member) bool { return m.name == name })
	}
	if kind != "object" && !has("properties") || has("additionalProperties") {
		return members
	}
	if !has("properties") {
		w.warn(at, nil, noProperties, wantProperties)
	}
	return append(members, member{"additionalProperties", json.RawMessage(`false`)})
}

// read checks a keyword and returns its value for the written schema; nil: the keyword is left out.
func (k keyword) read() json.RawMessage {
	reader := k.reader()
	switch {
	case reader != nil:
	case slices.Contains(branching, k.name):
		k.fault(keywordForbidden, wantPlainSchema)
		return nil
	case k.name == withinKeyword:
		k.fault(withinOnlyInBound, wantBoundWithin)
		return nil
	case k.name == optionalKeyword:
		k.fault(optionalInObject, wantRequiredList)
		return nil
	default:
		k.add(SchemaFault{
			Pointer: k.at, Unknown: true, Reason: unknownKeyword, Got: ijson.Cut(string(k.value), maxWant), DidYouMean: Near(k.name, keywords),
			Want: oneOfNames(strings.Join(keywords, ", ")),
		})
		return nil
	}
	if allowed := of[k.name]; allowed != "" && k.kind != "" && !slices.Contains(strings.Fields(allowed), k.kind) {
		k.fault(keywordOfType(strings.ReplaceAll(allowed, " ", " or "), k.kind), "")
		return nil
	}
	return reader()
}

func (k keyword) fault(reason, want string) { k.wrong(k.at, k.value, reason, want) }

func (k keyword) asItIs() json.RawMessage { return k.value }

func (k keyword) typeWord() json.RawMessage {
	if word := k.text(); !slices.Contains(types, word) {
		k.add(SchemaFault{
			Pointer: k.at, Reason: noType, Misfit: true, Got: ijson.Cut(string(k.value), maxWant), DidYouMean: Near(word, types),
			Want: oneWord(strings.Join(types, ", ")),
		})
	}
	return k.value
}

func (k keyword) words() json.RawMessage {
	if k.value[0] != '"' {
		k.misfit(k.at, k.value, notText, aText)
	}
	return k.value
}

func (k keyword) boolean() json.RawMessage {
	if string(k.value) != "true" && string(k.value) != "false" {
		k.misfit(k.at, k.value, notBoolean, aBoolean)
	}
	return k.value
}

func (k keyword) number() json.RawMessage {
	if _, ok := k.decoded().(float64); !ok {
		k.misfit(k.at, k.value, notNumber, aNumber)
	}
	return k.value
}

func (k keyword) divisor() json.RawMessage {
	if n, ok := k.decoded().(float64); !ok || n <= 0 {
		k.misfit(k.at, k.value, notPositive, aPositive)
	}
	return k.value
}

func (k keyword) count() json.RawMessage {
	if n, ok := ijson.Integer(k.decoded()); !ok || n < 0 {
		k.misfit(k.at, k.value, notCount, aCount)
	}
	return k.value
}

// enum reads a list of different values of the schema's type.
func (k keyword) enum() json.RawMessage {
	list, _ := k.decoded().([]any)
	if len(list) == 0 || len(list) > maxEnum {
		k.misfit(k.at, k.value, notValueList, valueList(maxEnum))
		return k.value
	}
	seen := make(map[string]bool, len(list))
	for i, v := range list {
		text := ijson.Canonical(v)
		if seen[string(text)] {
			k.wrong(k.at.Index(i), text, valueRepeated, differentValues)
		}
		seen[string(text)] = true
		k.ofType(k.at.Index(i), v)
	}
	return k.value
}

func (k keyword) constant() json.RawMessage {
	k.ofType(k.at, k.decoded())
	return k.value
}

// ofType adds a fault if a value is not of the schema's own type.
func (k keyword) ofType(at ijson.Pointer, v any) {
	if n := (&node{kind: k.kind}); k.kind != "" && !n.fits(v) {
		k.misfit(at, ijson.Canonical(v), notOfType(k.kind), k.kind)
	}
}

func (k keyword) expression() json.RawMessage {
	text := k.text()
	_, err := regexp.Compile(text)
	switch {
	case k.value[0] != '"':
		k.misfit(k.at, k.value, notText, aRegexp)
	case len(text) > maxPattern:
		k.fault(patternBytes(len(text)), atMostBytes(maxPattern))
	case err != nil:
		k.fault(strings.TrimPrefix(err.Error(), "error parsing regexp: "), plainRegexp)
	}
	return k.value
}

func (k keyword) format() json.RawMessage {
	name := k.text()
	switch {
	case name == "":
		k.misfit(k.at, k.value, notFormat, oneOfNames(strings.Join(formats, ", ")))
	case !slices.Contains(formats, name):
		k.add(SchemaFault{
			Pointer: k.at, Reason: formatNotChecked, Got: ijson.Cut(string(k.value), maxWant), Warning: true,
			Want: formatOrPattern(strings.Join(formats, ", ")), DidYouMean: Near(name, formats),
		})
	}
	return k.value
}

func (k keyword) schemaOrFault() json.RawMessage { return k.below(k.at, k.value) }

// below reads a schema within this one.
func (k keyword) below(at ijson.Pointer, value json.RawMessage) json.RawMessage {
	if value[0] != '{' {
		k.misfit(at, value, notSchema, schemaForm)
		return nil
	}
	return k.schema(at, membersOf(value), k.depth+1)
}

func (k keyword) properties() json.RawMessage {
	if k.value[0] != '{' {
		k.misfit(k.at, k.value, notObject, schemasByName)
		return nil
	}
	var list []member
	for _, m := range membersOf(k.value) {
		at := k.at.Member(m.name)
		k.callable(at, m.name)
		if text := k.below(at, m.value); text != nil {
			list = append(list, member{m.name, text})
		}
	}
	return objectOf(list)
}

// required reads a list of names. If the object allows no other members, each name must be a property.
func (k keyword) required() json.RawMessage {
	list, isList := k.decoded().([]any)
	if !isList {
		k.misfit(k.at, k.value, notList, requiredList)
		return nil
	}
	known, open := k.known()
	var names []string
	for i, v := range list {
		name, isText := v.(string)
		switch {
		case !isText || slices.Contains(names, name):
			k.misfit(k.at.Index(i), ijson.Canonical(v), nameRepeated, differentNames)
			continue
		case !open && !slices.Contains(known, name):
			k.add(SchemaFault{
				Pointer: k.at.Index(i), Reason: noProperty, Misfit: true, Got: ijson.Cut(string(ijson.Canonical(v)), maxWant),
				Want: oneOfNames(strings.Join(known, ", ")), DidYouMean: Near(name, known),
			})
		}
		names = append(names, name)
	}
	return k.value
}

// known returns the properties beside this keyword, and whether the object may have others.
func (k keyword) known() (names []string, open bool) {
	for _, m := range k.whole {
		switch m.name {
		case "properties":
			if m.value[0] == '{' {
				for _, p := range membersOf(m.value) {
					names = append(names, p.name)
				}
			}
		case "additionalProperties":
			open = string(m.value) != "false"
		}
	}
	return names, open
}

func (k keyword) additional() json.RawMessage {
	if string(k.value) == "true" || string(k.value) == "false" {
		return k.value
	}
	if k.value[0] != '{' {
		k.misfit(k.at, k.value, notBooleanOrSchema, booleanOrSchema)
		return nil
	}
	return k.below(k.at, k.value)
}

// ranges adds a fault for each lower bound above its upper bound.
func (w *writing) ranges(at ijson.Pointer, members []member) {
	values := map[string]float64{}
	for _, m := range members {
		if n, ok := m.decoded().(float64); ok {
			values[m.name] = n
		}
	}
	for _, pair := range [...]struct {
		low, high string
		apart     bool // equal bounds allow no value either
	}{
		{"minimum", "maximum", false}, {"exclusiveMinimum", "maximum", true}, {"minimum", "exclusiveMaximum", true},
		{"exclusiveMinimum", "exclusiveMaximum", true}, {"minLength", "maxLength", false}, {"minItems", "maxItems", false},
	} {
		low, one := values[pair.low]
		high, two := values[pair.high]
		if one && two && (low > high || pair.apart && low == high) {
			w.wrong(at.Member(pair.low), ijson.Canonical(low), nothingBetween(pair.high, ijson.Canonical(high)),
				pair.low+" below "+pair.high)
		}
	}
}
