package offline

import (
	"slices"
	"strconv"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/patterns/llm/offline/english"
)

// member of a result, as a tool's output schema tells it: what a later call could take as its argument.
type output struct {
	pointer string   // RFC 6901, from the result's root
	names   []string // what it may be called, each as stems: parcel_id, and what it is the id of
	kind    string   // its JSON type
	enum    []any
	first   bool // of a list: the pointer goes to its first entry
}

// Bounds of what is read of an output schema.
const (
	maxOutputs     = 128
	maxOutputDepth = 5
)

// outputsOf reads an output schema: its members of one type, in the order of their names. What it says by references or
// alternatives is not read.
func outputsOf(t catalog.Tool) []output {
	if t.Output == nil {
		return nil
	}
	schema, err := ijson.Decode(t.Output.JSON())
	if err != nil {
		return nil
	}
	w := outputWalk{subject: subjectStems(t.Name)}
	w.walk(schema, outputPlace{owner: w.subject}, 0)
	return w.found
}

// outputWalk collects the members of an output schema.
type outputWalk struct {
	subject []string
	found   []output
}

// outputPlace is where in a result the walk stands.
type outputPlace struct {
	pointer string
	owner   []string // whose members these are
	first   bool
}

func (w *outputWalk) walk(schema any, at outputPlace, depth int) {
	object, ok := schema.(map[string]any)
	if !ok || depth > maxOutputDepth || len(w.found) >= maxOutputs {
		return
	}
	switch typeOf(object) {
	case "array":
		items, _ := object["items"].(map[string]any)
		if typeOf(items) == "object" && !at.first { // one list in another: whose first entry it is says nothing any more
			at.pointer, at.first = at.pointer+"/0", true
			w.walk(items, at, depth+1)
		}
	case "object", "":
		properties, _ := object["properties"].(map[string]any)
		for _, name := range sortedKeys(properties) {
			w.member(name, properties[name], at, depth)
		}
	}
}

func (w *outputWalk) member(name string, schema any, at outputPlace, depth int) {
	object, _ := schema.(map[string]any)
	kind := typeOf(object)
	stems := stemsOfName(name)
	pointer := at.pointer + "/" + escaped(name)
	switch kind {
	case "object", "array":
		w.walk(object, outputPlace{pointer: pointer, owner: stems, first: at.first}, depth+1)
	case "string", "number", "integer", "boolean":
		if len(stems) == 0 || len(w.found) >= maxOutputs {
			return
		}
		o := output{pointer: pointer, kind: kind, first: at.first, names: []string{joinStems(at.owner, stems)}}
		if !saysLittle(stems) {
			o.names = append(o.names, joinStems(stems))
		}
		o.enum, _ = object["enum"].([]any)
		w.found = append(w.found, o)
	}
}

// typeOf is the one type that a schema names besides null, or "".
func typeOf(schema map[string]any) string {
	switch t := schema["type"].(type) {
	case string:
		return t
	case []any:
		list := slices.DeleteFunc(textsOf(t), func(s string) bool { return s == "null" })
		if len(list) == 1 {
			return list[0]
		}
	}
	return ""
}

// escaped is a member's name as a token of a JSON Pointer.
func escaped(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// littleWords are names that many things have: the id of one is not the id of another.
var littleWords = english.StemsOf(`id ids no nr num number code ref reference key uid uuid name title type kind status state value amount total count
 text message description note notes content body reason result results error warning date day time year month hour url link format
 language limit page query position index size`)

// saysLittle reports whether a name does not say what it is the name of.
func saysLittle(stems []string) bool { return len(stems) == 1 && littleWords[stems[0]] }

func stemsOfName(name string) []string {
	var stems []string
	for _, w := range english.NameWords(name) {
		stems = append(stems, w.Stem)
	}
	return stems
}

// subjectStems is what a tool's name is about: order for get_order.
func subjectStems(name string) []string {
	return stemsOfName(strings.ReplaceAll(subject(name), " ", "_"))
}

func joinStems(parts ...[]string) string { return strings.Join(slices.Concat(parts...), " ") }

// wants are the names under which another tool's result may hold the argument: its own, or with what its tool is about where
// it says little, as an id does. None for a name without letters.
func (a argument) wants(subject []string) []string {
	switch {
	case len(a.stems) == 0:
		return nil
	case saysLittle(a.stems):
		return []string{joinStems(subject, a.stems)}
	}
	return []string{joinStems(a.stems)}
}

// linkable reports whether an argument may be another call's result at all: a fact, and no text that somebody writes.
func (a argument) linkable() bool {
	switch a.need {
	case needProse, needQuery, needFlag:
		return false
	}
	return a.Type == "string" || a.Type == "integer" || a.Type == "number"
}

// takes reports how well a member of a result, which has its name, fits the argument; 0 is not at all. A member of its own kind
// is better than the first of a list, which may not be the right one. A tool that changes something takes no such guess.
func (a argument) takes(o output) int {
	typed := o.kind == a.Type || o.kind == "integer" && a.Type == "number"
	switch {
	case !typed || o.first && a.tool.writes:
		return 0
	case len(a.Enum) > 0 && !meet(a.Enum, o.enum):
		return 0
	case o.first:
		return 1
	}
	return 2
}

// meet reports whether two enumerations share a member.
func meet(a, b []any) bool {
	return slices.ContainsFunc(a, func(v any) bool {
		return slices.ContainsFunc(b, func(w any) bool { return ijson.Equal(v, w) })
	})
}

// reference is the text by which an argument refers to a member of a subtask's result.
func reference(id string, o output) string { return "$results." + id + "." + o.pointer }

// numbered is a name with a number from the second on: order, order_2.
func numbered(base string, n int) string {
	if n <= 1 {
		return base
	}
	return base + "_" + strconv.Itoa(n)
}
