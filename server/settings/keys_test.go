package settings

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// The table of keys makes four things: the reader, the JSON schema, docs/config.md and "config show". Each key of the table is in all of
// them, so that a new key needs no other edit. If this test has no value that a new key accepts, add one to exampleTexts.
func TestEveryKeyIsInAllFour(t *testing.T) {
	schema, page := publishedSchema(t), readReference(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pg.yaml"), nil, 0o600); err != nil { // keys of certificates name a file that is there
		t.Fatal(err)
	}
	for _, k := range tableKeys() {
		if !schema.has(k) {
			t.Errorf("the schema does not have %s", k)
		}
		if !page.has(k) {
			t.Errorf("docs/config.md does not have %s", k)
		}
		if k.leaf() {
			k.readAndShow(t, schema, dir)
		}
	}
}

// A tableKey is one key of the table, with the way to it.
type tableKey struct {
	grammar.Key
	// steps lead to it in a file. "NAME" is a name that the file chooses, "[]" an item of a list.
	steps []string
	kind  string // of the pattern that has the key; "" outside patterns
	brief int    // how many of the last steps the reference describes in the line of the key above them
}

// chosen is the name that the test chooses in the place of NAME.
const chosen = "name1"

func (k tableKey) String() string { return strings.ReplaceAll(strings.Join(k.steps, "."), ".[]", "") }

// leaf reports whether the key has a value of its own and not only keys below it.
func (k tableKey) leaf() bool { return k.Below == nil }

// tableKeys returns all keys of the table. The keys of patterns are there for each kind, and for each built-in pattern.
func tableKeys() (list []tableKey) {
	var walk func(above tableKey, keys []grammar.Key)
	walk = func(above tableKey, keys []grammar.Key) {
		for _, k := range keys {
			here := tableKey{k, append(slices.Clone(above.steps), k.Name), above.kind, above.brief}
			if above.Brief || above.brief > 0 {
				here.brief++
			}
			group, grouped := k.Show().([]grammar.Key)
			switch {
			case k.Name == "patterns" && len(above.steps) == 0:
			case k.Below != nil:
				list = append(list, here)
				if k.Entries {
					here.steps = append(here.steps, "NAME")
				} else if k.Form != nil && k.Form()["type"] == "array" {
					here.steps = append(here.steps, "[]")
				}
				walk(here, k.Below())
			case grouped && k.Form == nil, grouped && k.Meaning == "":
				walk(here, group)
			default:
				list = append(list, here)
			}
		}
	}
	walk(tableKey{}, new(Config).Keys(nil))
	for _, kind := range OwnKinds {
		p := newPattern(chosen, gateway.Kind(kind), grammar.Position{})
		walk(tableKey{steps: []string{"patterns", "NAME"}, kind: kind}, p.Keys(nil))
	}
	for _, p := range embeddedConfig().Patterns {
		walk(tableKey{steps: []string{"patterns", p.Name}, kind: string(p.Kind)}, p.Keys(nil))
	}
	return list
}

// A jsonSchema is the published schema.
type jsonSchema struct{ root map[string]any }

func publishedSchema(t *testing.T) (s jsonSchema) {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// has reports whether the schema describes a key.
func (s jsonSchema) has(k tableKey) bool { return len(s.of(k)) > 0 }

// of returns the schemas of a key's value.
func (s jsonSchema) of(k tableKey) []map[string]any {
	here := s.parts(s.root, "")
	for _, step := range k.steps {
		var below []map[string]any
		for _, part := range here {
			member, _ := part["properties"].(map[string]any)
			next, ok := member[step].(map[string]any)
			switch {
			case step == "NAME":
				next, ok = part["additionalProperties"].(map[string]any)
			case step == "[]":
				next, ok = part["items"].(map[string]any)
			}
			if ok {
				below = append(below, s.parts(next, k.kind)...)
			}
		}
		here = below
	}
	return here
}

// parts returns a schema and the schemas of which it consists. Of those that depend on a pattern's kind it takes only that of kind.
func (s jsonSchema) parts(schema map[string]any, kind string) []map[string]any {
	list := []map[string]any{schema}
	if ref, ok := schema["$ref"].(string); ok {
		definitions, _ := s.root["$defs"].(map[string]any)
		of, _ := definitions[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		list = append(list, s.parts(of, kind)...)
	}
	for _, word := range []string{"anyOf", "allOf"} {
		all, _ := schema[word].([]any)
		for _, one := range all {
			one, _ := one.(map[string]any)
			if then, conditional := one["then"].(map[string]any); !conditional {
				list = append(list, s.parts(one, kind)...)
			} else if strings.Contains(string(ijson.Canonical(one["if"])), `"const":"`+kind+`"`) {
				list = append(list, s.parts(then, kind)...)
			}
		}
	}
	return list
}

// A referencePage is docs/config.md: its lines of keys, by the path of the key.
type referencePage struct {
	lines map[string]string
	page  string
}

func readReference(t *testing.T) referencePage {
	t.Helper()
	p := referencePage{lines: map[string]string{}, page: readPage(t, "config.md")}
	above := map[string][]string{
		"<!-- pattern -->": {"patterns.NAME"}, "<!-- limits of one kind -->": {"patterns.NAME.budget"}, "<!-- limits of every kind -->": {"patterns.NAME.budget"},
		"<!-- built-in -->": {"built-in"},
	}
	var prefixes []string
	for line := range strings.Lines(p.page) {
		line = strings.TrimSpace(line)
		if m := keysMark.FindStringSubmatch(line); m != nil {
			if prefixes = strings.Fields(m[1]); len(prefixes) == 0 {
				prefixes = []string{""}
			}
		} else if strings.HasPrefix(line, "<!--") {
			prefixes = above[line]
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "- `"), "`")
		for _, prefix := range prefixes {
			p.lines[strings.TrimPrefix(prefix+"."+name, ".")] = line
		}
	}
	return p
}

// has reports whether the page has a line of a key, or names it in the line of the key that it belongs to.
func (p referencePage) has(k tableKey) bool {
	if k.kind == "" {
		return p.describes(k.steps, k.brief)
	}
	if k.steps[2] == "kind" {
		return strings.Contains(p.page, "needs `kind`: ")
	}
	name := k.steps[1]
	steps := append([]string{"patterns", "NAME"}, k.steps[2:]...)
	return p.describes(steps, k.brief) && p.ofKind(steps, k.brief, k.kind) ||
		strings.Contains(p.lines["built-in."+name], "`"+strings.Join(k.steps[2:], ".")+"`") // of one built-in pattern
}

// line returns the line of a key.
func (p referencePage) line(steps []string, brief int) string {
	path := tableKey{steps: steps}.String()
	for range brief { // the line of the key above
		path = path[:strings.LastIndexByte(path, '.')]
		path = strings.TrimSuffix(path, ".NAME")
	}
	return p.lines[path]
}

func (p referencePage) describes(steps []string, brief int) bool {
	line := p.line(steps, brief)
	if brief == 0 {
		return line != ""
	}
	words := strings.FieldsFunc(line, func(c rune) bool { return !(c == '_' || c >= 'a' && c <= 'z') })
	return slices.Contains(words, steps[len(steps)-1])
}

// ofKind reports whether the line of a key of patterns says that a kind has it.
func (p referencePage) ofKind(steps []string, brief int, kind string) bool {
	line := p.line(steps, brief)
	_, about, _ := strings.Cut(line, "` (")
	about, _, _ = strings.Cut(about, "; ")
	if only, some := strings.CutPrefix(about, "only "); some {
		return slices.Contains(strings.Split(only, ", "), kind)
	}
	if not, some := strings.CutPrefix(about, "not "); some {
		return !slices.Contains(strings.Split(not, ", "), kind)
	}
	return line != ""
}

// exampleTexts are the texts that the test tries as the value of a key that takes text.
var exampleTexts = []any{"name1", "name2", "https://example.com", "127.0.0.1:9876", "/args/card", "127.0.0.1/32", ".", "pg.yaml", "UTC", "2026-01-01T00:00:00Z"}

// examples returns values that fit a schema. They are few, and not all that fit are right.
func (s jsonSchema) examples(schemas []map[string]any) (list []any) {
	for _, schema := range schemas {
		if value, ok := schema["const"]; ok {
			list = append(list, value)
		}
		words, _ := schema["enum"].([]any)
		list = append(list, words...)
		switch schema["type"] {
		case "boolean":
			list = append(list, true, false)
		case "integer", "number":
			for _, bound := range []string{"minimum", "exclusiveMinimum"} {
				if least, ok := schema[bound].(float64); ok {
					list = append(list, least+1, least+2)
				}
			}
			if len(schema) == 1 {
				list = append(list, 1.0)
			}
		case "string":
			list = append(list, exampleTexts...)
		case "array":
			items, _ := schema["items"].(map[string]any)
			for _, item := range s.examples(s.parts(items, "")) {
				list = append(list, []any{item})
			}
		case "object":
			values, _ := schema["additionalProperties"].(map[string]any)
			for _, value := range s.examples(s.parts(values, "")) {
				list = append(list, map[string]any{chosen: value})
			}
			if len(schema) == 1 { // any mapping, mostly of schemas
				list = append(list, map[string]any{chosen: map[string]any{"type": "string"}})
			}
			if required, _ := schema["required"].([]any); len(required) == 1 && required[0] == "secret" {
				list = append(list, map[string]any{"secret": "env:NAME"})
			}
			if schema["additionalProperties"] == false {
				list = append(list, map[string]any{})
			}
		}
	}
	return list
}

// shownOtherwise are keys of which config show shows the meaning, not the key.
var shownOtherwise = []string{"policies.NAME.file"} // it shows the members of that file

// fixed are keys that have one value, so that nothing can be seen to change.
var fixed = []string{"version", "kind"}

// readAndShow holds that a value of the key is read without a fault, and that config show then shows another value than before.
func (k tableKey) readAndShow(t *testing.T, schema jsonSchema, dir string) {
	t.Helper()
	if slices.Contains(shownOtherwise, k.String()) {
		return
	}
	accepted := false
	_, before := k.show(t, dir, nil)
	for _, value := range schema.examples(schema.of(k)) {
		faults, shown := k.show(t, dir, value)
		if len(faults) > 0 {
			continue
		}
		accepted = true
		if shown != nil && (slices.Contains(fixed, k.Name) || !ijson.Equal(shown, before)) {
			return
		}
	}
	if !accepted {
		t.Errorf("no value of %s is read without a fault", k)
		return
	}
	t.Errorf("config show does not show %s", k)
}

// show reads a file in which only this key has a value, and returns the faults of that value and what config show shows for the key.
func (k tableKey) show(t *testing.T, dir string, value any) (faults []yamldoc.Fault, shown any) {
	t.Helper()
	found := &yamldoc.Faults{}
	var c Config
	if k.kind != "" && k.steps[1] != "NAME" {
		c.Patterns = slices.DeleteFunc(builtinPatterns(), func(p Pattern) bool { return p.Name != k.steps[1] })
	}
	read := newLoader(found, nil)
	read.File(yamldoc.Read(filepath.Join(dir, "pg.yaml"), k.file(value), found), c.Keys(nil))
	for _, f := range found.Found {
		path := strings.ReplaceAll(strings.ReplaceAll(k.String(), "NAME", chosen), ".[]", "")
		if strings.HasPrefix(strings.ReplaceAll(f.Path, "[0]", ""), path) {
			faults = append(faults, f)
		}
	}
	page := &yamldoc.Faults{}
	n := yamldoc.Read("shown", c.YAML(), page)
	if len(page.Found) > 0 {
		t.Fatalf("%s: what config show shows is not YAML: %v", k, page.Found)
	}
	for _, step := range k.steps {
		switch {
		case n == nil || step == "[]" && len(n.Items) == 0:
			return faults, nil
		case step == "[]":
			n = n.Items[0]
		default:
			n = n.Member(strings.ReplaceAll(step, "NAME", chosen))
		}
	}
	if n == nil {
		return faults, nil
	}
	return faults, n.Decoded()
}

// beside are members that a key needs beside it, by the last steps of its path.
var beside = map[string]map[string]any{
	".request.redirects":        {"method": "GET"},
	".workers.NAME.description": {"tool": chosen},
	".routes.NAME.description":  {"tool": chosen},
	".routes.NAME.reroute":      {"tool": chosen},
}

// file returns a file in which the key has a value.
func (k tableKey) file(value any) []byte {
	for i := len(k.steps) - 1; i >= 0; i-- {
		switch step := k.steps[i]; {
		case step == "[]":
			value = []any{value}
			continue
		case step == "NAME":
			value = map[string]any{chosen: value}
		default:
			value = map[string]any{step: value}
		}
		members, _ := value.(map[string]any)
		for suffix, others := range beside {
			if i == len(k.steps)-1 && strings.HasSuffix(k.String(), suffix) {
				maps.Copy(members, others)
			}
		}
		switch {
		case i == 2 && k.kind != "" && k.steps[1] == "NAME":
			members["kind"] = k.kind
		case i == 0:
			members["version"] = 1.0
		}
	}
	return ijson.Canonical(value)
}
