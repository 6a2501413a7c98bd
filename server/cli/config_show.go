package cli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// JSON is the effective configuration as one indented document that loads to the same, the key as a reference to where it stands.
func (c Config) JSON() []byte {
	var out bytes.Buffer
	keys := c.keys(nil)
	_ = json.Indent(&out, keysJSON(keys, c.withKey(groupValue(keys, configKey.shown)), false), "", "  ") // what is made here is JSON
	out.WriteByte('\n')
	return out.Bytes()
}

// keysJSON are keys as an object, sorted but where their order says something, with the values that they come to; a key without one
// is left out. What is kept as JSON stands as it is: expressions read those above them, and 1000.0 is no whole number to them.
func keysJSON(keys []configKey, values map[string]any, ordered bool) json.RawMessage {
	shown := slices.DeleteFunc(slices.Clone(keys), func(k configKey) bool { _, there := values[k.name]; return !there })
	if !ordered {
		slices.SortStableFunc(shown, func(a, b configKey) int { return strings.Compare(a.name, b.name) })
	}
	return orderedJSON(len(shown), func(i int) (string, []byte) {
		k := shown[i]
		switch v := k.show().(type) {
		case json.RawMessage:
			return k.name, v
		case []configKey:
			members, _ := values[k.name].(map[string]any)
			return k.name, keysJSON(v, members, k.ordered)
		}
		return k.name, ijson.Canonical(values[k.name])
	})
}

// value is the effective configuration as a decoded value, as snapshots keep it. Secrets are in it as references only.
func (c Config) value() map[string]any { return c.withKey(groupValue(c.keys(nil), configKey.kept)) }

// withKey puts in where the model's key stands, if there is one.
func (c Config) withKey(root map[string]any) map[string]any {
	group, ok := root["llm"].(map[string]any)
	switch {
	case !ok:
	case c.LLM.APIKey.Set() && !c.LLM.Key.Set():
		group["api_key"] = secretReference()
	case !c.LLM.Key.Set():
		delete(group, "api_key")
	}
	return root
}

// shown is the value in force as people read it.
func (k configKey) shown() any { return k.show() }

// kept is the value in force as a snapshot has it.
func (k configKey) kept() any {
	if k.keep != nil {
		return k.keep()
	}
	return k.show()
}

func groupValue(keys []configKey, of func(configKey) any) map[string]any {
	group := make(map[string]any, len(keys))
	for _, k := range keys {
		switch v := of(k).(type) {
		case []configKey:
			group[k.name] = groupValue(v, of)
		case []string:
			group[k.name] = textValues(v)
		case json.RawMessage:
			group[k.name] = rawValue(v)
		case jsonLines:
			group[k.name] = v.values()
		default:
			group[k.name] = v
		}
	}
	return group
}

func textValues(texts []string) []any {
	items := make([]any, len(texts))
	for i, text := range texts {
		items[i] = text
	}
	return items
}

// YAML is the effective configuration as a file that loads to the same, in the order of the embedded default. What
// it cannot say as keys stands in comments: the provider in force and, masked, the key.
func (c Config) YAML() []byte {
	var out bytes.Buffer
	notes := map[string]string{"llm.provider": "in force: " + c.LLM.Resolved()}
	if c.LLM.keyed() {
		from := keyVariable
		if c.LLM.Key.Set() {
			from = c.LLM.Key.String()
		}
		notes["llm.provider"] += "; api_key: " + catalog.Masked + " from " + from
	}
	for _, p := range c.Policies {
		if p.file != "" {
			notes["policies."+p.Name] = "from " + yamlWord(p.file)
		}
	}
	for _, p := range c.Patterns {
		for name, figure := range p.Handed {
			notes["patterns."+p.Name+".budget."+name] = "in force: " + yamldoc.NumberText(figure) + ", or what is left to who calls it"
		}
	}
	writeYAML(&out, c.keys(nil), nil, func(path string, _ any) string { return notes[path] })
	return out.Bytes()
}

// groupOf is the value of a mapping whose members have notes of their own.
type groupOf struct{}

// writeYAML writes keys as a file, each value with its note. What holds nothing is written as such: a mapping without
// members in YAML is null.
func writeYAML(out *bytes.Buffer, keys []configKey, path *yamldoc.Path, note func(path string, value any) string) {
	depth := 0
	for p := path; p != nil; p = p.Up {
		depth++
	}
	for _, k := range keys {
		below := path.Key(k.name)
		out.WriteString(strings.Repeat("  ", depth) + yamlWord(k.name) + ":")
		value := k.show()
		if lines, ok := value.(jsonLines); ok && len(lines) > 0 {
			for _, line := range lines {
				out.WriteString("\n" + strings.Repeat("  ", depth+1) + "- " + string(line))
			}
			out.WriteByte('\n')
			continue
		}
		if group, ok := value.([]configKey); ok && len(group) > 0 {
			if words := note(below.String(), groupOf{}); words != "" {
				out.WriteString("  # " + words)
			}
			out.WriteByte('\n')
			writeYAML(out, group, below, note)
			continue
		} else if ok {
			value = map[string]any{}
		}
		out.WriteByte(' ')
		writeYAMLValue(out, value)
		if words := note(below.String(), value); words != "" {
			out.WriteString("  # " + words)
		}
		out.WriteByte('\n')
	}
}

func writeYAMLValue(out *bytes.Buffer, v any) {
	switch v := v.(type) {
	case string:
		out.WriteString(yamlWord(v))
	case []string:
		words := make([]string, len(v))
		for i, item := range v {
			words[i] = yamlWord(item)
		}
		out.WriteString("[" + strings.Join(words, ", ") + "]")
	case json.RawMessage:
		out.Write(v)
	case jsonLines:
		out.Write(ijson.Canonical(v.values()))
	default:
		out.Write(ijson.Canonical(v))
	}
}

var bareWord = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]*$`)

// yamlWord is a text as YAML reads it back: bare where it is one word, else in the quotes of JSON.
func yamlWord(text string) string {
	if bareWord.MatchString(text) && yamldoc.IsPlainText(text) {
		return text
	}
	return string(ijson.Canonical(text))
}
