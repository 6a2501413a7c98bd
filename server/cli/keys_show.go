package cli

import (
	"bytes"
	"encoding/json"
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
	"regexp"
	"slices"
	"strings"
)

// orderedJSON is an object whose members keep their order.
func orderedJSON(n int, member func(i int) (name string, value []byte)) json.RawMessage {
	out := []byte{'{'}
	for i := range n {
		if i > 0 {
			out = append(out, ',')
		}
		name, value := member(i)
		out = append(append(ijson.Append(out, name), ':'), value...)
	}
	return append(out, '}')
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

// shown is the value in force as people read it.
func (k configKey) shown() any { return k.show() }

// kept is the value in force as a snapshot has it.
func (k configKey) kept() any {
	if k.keep != nil {
		return k.keep()
	}
	return k.show()
}
