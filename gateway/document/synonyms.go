package document

import (
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Synonym is the name of a member and the names that other tools and models use for it. A value is moved to the right name only if
// it means the same there.
type Synonym struct {
	Name  string
	Words []string // in lower case, without _ and -
	// As returns the value as it must be under the right name. It is false if the value does not fit there.
	As func(v any) (any, bool)
}

// Names that other tools and models use for members.
var (
	wordsOfArgs = []string{"arguments", "argument", "inputs", "input", "params", "parameters", "toolinput", "toolargs"}
	WordsOfTool = []string{"name", "action", "function", "tool", "toolname", "functionname"}
)

// wordsThatSay are members in which models explain themselves. A document without them means the same.
var wordsThatSay = []string{"reasoning", "rationale", "thought", "thoughts", "thinking", "explanation", "why", "confidence"}

// Folded returns a name as [Synonym] holds it: depends_on, dependsOn and depends-on are one name.
func Folded(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(ijson.Cut(name, maxGot)))
}

// saysNothing reports whether a document without this member means the same.
func saysNothing(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return slices.Contains(wordsThatSay, Folded(name))
	case float64:
		return Folded(name) == "confidence"
	case map[string]any:
		return name == "args" && len(v) == 0 // an empty object means no arguments
	}
	return false
}

// renamed returns the repair of each unknown member that is clearly a known one, by its present name. The known name must be
// absent, no other member may mean it, also as a misspelling, and the value must fit.
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
			continue // the misspelling counts
		}
		v, fits := row.As(obj[from[0]])
		if _, meant := fixes[from[0]]; fits && !meant {
			fixes[from[0]] = Fix{At: ijson.Pointer(row.Name), Value: v} // in completes At
		}
	}
	return fixes
}

// in returns the fix with its place: the object stands at at, and the member has this name.
func (f Fix) in(at ijson.Pointer, name string) *Fix {
	return &Fix{At: at.Member(string(f.At)), Value: f.Value, From: at.Member(name)}
}

// NamedIn returns a [Synonym.As] that takes a text which is one of these names.
func NamedIn(names []string) func(any) (any, bool) {
	return func(v any) (any, bool) {
		n, ok := Text(v)
		return v, ok && slices.Contains(names, n)
	}
}

// Textual is a [Synonym.As] that takes a text which is not blank.
func Textual(v any) (any, bool) {
	_, ok := Text(v)
	return v, ok
}

func listed(v any) (any, bool) {
	_, ok := v.([]any)
	return v, ok
}

// objectual takes an object, or a text that holds one.
func objectual(v any) (any, bool) {
	if fix := AsObject("", v); fix != nil {
		v = fix.Value
	}
	_, ok := v.(map[string]any)
	return v, ok
}

// ArgsSynonym returns the other names of args.
func ArgsSynonym() Synonym { return Synonym{Name: "args", Words: wordsOfArgs, As: objectual} }

// PlanSynonyms returns the other names of the members of a plan; list is the name of the member that holds its steps.
func PlanSynonyms(list string) []Synonym {
	return []Synonym{
		{Name: "kind", Words: []string{"type"}, As: NamedIn([]string{"plan"})},
		{Name: list, Words: []string{"steps", "tasks", "subtasks", "plan", "workers"}, As: listed},
	}
}
