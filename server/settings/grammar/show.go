package grammar

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// Shown returns the value in force as people read it.
func (k Key) Shown() any { return k.Show() }

// Kept returns the value in force as a snapshot keeps it.
func (k Key) Kept() any {
	if k.Keep != nil {
		return k.Keep()
	}
	return k.Show()
}

// ValueOf returns keys as a decoded object. The function of returns the value of each: [Key.Shown] or [Key.Kept].
func ValueOf(keys []Key, of func(Key) any) map[string]any {
	group := make(map[string]any, len(keys))
	for _, k := range keys {
		switch v := of(k).(type) {
		case []Key:
			group[k.Name] = ValueOf(v, of)
		case []string:
			group[k.Name] = TextValues(v)
		case json.RawMessage:
			group[k.Name] = RawValue(v)
		case JSONLines:
			group[k.Name] = v.Values()
		default:
			group[k.Name] = v
		}
	}
	return group
}

// Set returns keys as a decoded object with what a file has to say: the keys that must be there, and those whose kept value is not that
// of fresh. fresh are the same keys before a file was read.
func Set(keys, fresh []Key) map[string]any {
	group := make(map[string]any, len(keys))
	for i, k := range keys {
		kept, before := k.Kept(), fresh[i].Kept()
		members, grouped := kept.([]Key)
		if !grouped {
			if value := plainValue(kept); value != nil && (k.Required != "" || !ijson.Equal(value, plainValue(before))) {
				group[k.Name] = value
			}
			continue
		}
		others, always := before.([]Key)
		if !always {
			others = k.Below()
		}
		if value := Set(members, others); len(value) > 0 || !always {
			group[k.Name] = value
		}
	}
	return group
}

// JSONOf returns keys as a JSON object with these values. It leaves out a key without a value. It sorts the members, except
// where their order matters. It copies a value that is kept as JSON unchanged: expressions can read those before them, and
// 1000.0 is not a whole number.
func JSONOf(keys []Key, values map[string]any, ordered bool) json.RawMessage {
	shown := slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { _, there := values[k.Name]; return !there })
	if !ordered {
		slices.SortStableFunc(shown, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	}
	return OrderedJSON(len(shown), func(i int) (string, []byte) {
		k := shown[i]
		switch v := k.Show().(type) {
		case json.RawMessage:
			return k.Name, v
		case []Key:
			members, _ := values[k.Name].(map[string]any)
			return k.Name, JSONOf(v, members, k.Ordered)
		}
		return k.Name, ijson.Canonical(values[k.Name])
	})
}

// KeptText returns keys as a JSON object with what a snapshot keeps of each. Its members have the order of the keys.
func KeptText(keys []Key) json.RawMessage {
	return OrderedJSON(len(keys), func(i int) (string, []byte) {
		switch kept := keys[i].Kept().(type) {
		case json.RawMessage:
			return keys[i].Name, kept
		case JSONLines:
			return keys[i].Name, kept.list()
		default:
			return keys[i].Name, ijson.Canonical(plainValue(kept))
		}
	})
}

// OrderedJSON returns an object of n members in their order.
func OrderedJSON(n int, member func(i int) (name string, value []byte)) json.RawMessage {
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

// WriteYAML writes keys as a file. The function note returns the comment of a value, or "" for none; it gets [WholeGroup] for a mapping.
// A mapping without members is written as {}, because nothing would be null in YAML.
func WriteYAML(out *bytes.Buffer, keys []Key, path *yamldoc.Path, note func(path string, value any) string) {
	depth := 0
	for p := path; p != nil; p = p.Up {
		depth++
	}
	for _, k := range keys {
		below := path.Key(k.Name)
		out.WriteString(strings.Repeat("  ", depth) + YAMLWord(k.Name) + ":")
		value := k.Show()
		if lines, ok := value.(JSONLines); ok && len(lines) > 0 {
			for _, line := range lines {
				out.WriteString("\n" + strings.Repeat("  ", depth+1) + "- " + string(line))
			}
			out.WriteByte('\n')
			continue
		}
		if group, ok := value.([]Key); ok && len(group) > 0 {
			if words := note(below.String(), WholeGroup{}); words != "" {
				out.WriteString("  # " + words)
			}
			out.WriteByte('\n')
			WriteYAML(out, group, below, note)
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

// WholeGroup is the value of a mapping with members. The members have notes of their own.
type WholeGroup struct{}

func writeYAMLValue(out *bytes.Buffer, v any) {
	switch v := v.(type) {
	case string:
		out.WriteString(YAMLWord(v))
	case []string:
		words := make([]string, len(v))
		for i, item := range v {
			words[i] = YAMLWord(item)
		}
		out.WriteString("[" + strings.Join(words, ", ") + "]")
	case json.RawMessage:
		out.Write(v)
	case JSONLines:
		out.Write(ijson.Canonical(v.Values()))
	default:
		out.Write(ijson.Canonical(v))
	}
}

var bareWord = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]*$`)

// YAMLWord returns a text as YAML reads it back: without quotes if it is one word, else as a JSON string.
func YAMLWord(text string) string {
	if bareWord.MatchString(text) && yamldoc.IsPlainText(text) {
		return text
	}
	return string(ijson.Canonical(text))
}
