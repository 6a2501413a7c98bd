package document

import (
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Synonym is a member's name here and the names that other tools and models give it. A value moves from one to the other only
// where it means the same there.
type Synonym struct {
	Name  string
	Words []string // in lower case, without _ and -
	// as returns the value as it must be under the right name, and false where it does not fit there.
	As func(v any) (any, bool)
}

// The names that members go by elsewhere.
var (
	wordsOfArgs = []string{"arguments", "argument", "inputs", "input", "params", "parameters", "toolinput", "toolargs"}
	WordsOfTool = []string{"name", "action", "function", "tool", "toolname", "functionname"}
)

// wordsThatSay are members in which models explain themselves. Nothing acts by them, so that a document without them means
// the same.
var wordsThatSay = []string{"reasoning", "rationale", "thought", "thoughts", "thinking", "explanation", "why", "confidence"}

// Folded is a member's name as the tables hold it: depends_on, dependsOn and depends-on are one name.
func Folded(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(ijson.Cut(name, maxGot)))
}

// saysNothing reports whether a member can be left out without another meaning.
func saysNothing(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return slices.Contains(wordsThatSay, Folded(name))
	case float64:
		return Folded(name) == "confidence"
	case map[string]any:
		return name == "args" && len(v) == 0 // no arguments, of what takes none
	}
	return false
}

// renamed finds the members that have one clear known name: by their own name, their repair. The right name is absent, no other
// member means it too, near names included, and the value fits there.
func renamed(obj map[string]any, unknown, known []string, table []Synonym) map[string]Fix {
	fixes := map[string]Fix{}
	for _, row := range table {
		if _, taken := obj[row.Name]; taken || !slices.Contains(known, row.Name) {
			continue
		}
		var from []string
		for _, name := range unknown {
			if slices.Contains(row.Words, Folded(name)) || catalog.Near(name, known) == row.Name {
				from = append(from, name)
			}
		}
		if len(from) != 1 {
			continue
		}
		if catalog.Near(from[0], known) != "" {
			continue // its near name counts
		}
		v, fits := row.As(obj[from[0]])
		if _, meant := fixes[from[0]]; fits && !meant {
			fixes[from[0]] = Fix{At: ijson.Pointer(row.Name), Value: v} // At is the name alone until the place is known
		}
	}
	return fixes
}

// in is the fix of the member under name in the object at a place.
func (f Fix) in(at ijson.Pointer, name string) *Fix {
	return &Fix{At: at.Member(string(f.At)), Value: f.Value, From: at.Member(name)}
}

// NamedIn takes a text that is one of these names.
func NamedIn(names []string) func(any) (any, bool) {
	return func(v any) (any, bool) {
		n, ok := Text(v)
		return v, ok && slices.Contains(names, n)
	}
}

func Textual(v any) (any, bool) {
	_, ok := Text(v)
	return v, ok
}

func listed(v any) (any, bool) {
	_, ok := v.([]any)
	return v, ok
}

// objectual takes an object, also as a text that holds one.
func objectual(v any) (any, bool) {
	if fix := AsObject("", v); fix != nil {
		v = fix.Value
	}
	_, ok := v.(map[string]any)
	return v, ok
}

// The tables, one for each document.

func ArgsSynonym() Synonym { return Synonym{Name: "args", Words: wordsOfArgs, As: objectual} }

// PlanSynonyms are those of a plan's own members; list is the one with the plan's parts.
func PlanSynonyms(list string) []Synonym {
	return []Synonym{
		{Name: "kind", Words: []string{"type"}, As: NamedIn([]string{"plan"})},
		{Name: list, Words: []string{"steps", "tasks", "subtasks", "plan", "workers"}, As: listed},
	}
}
