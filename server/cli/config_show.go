package cli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"patterngate/ijson"
)

// JSON is the effective configuration as one indented document, the key as a reference to where it stands.
func (c Config) JSON() []byte {
	var out bytes.Buffer
	_ = json.Indent(&out, ijson.Canonical(c.value()), "", "  ") // canonical JSON is JSON
	out.WriteByte('\n')
	return out.Bytes()
}

// value is the effective configuration as a decoded value. Secrets are in it as references only.
func (c Config) value() map[string]any {
	root := groupValue(c.keys(nil))
	if group, ok := root["llm"].(map[string]any); ok && c.LLM.APIKey.Set() {
		group["api_key"] = secretReference()
	}
	return root
}

func groupValue(keys []configKey) map[string]any {
	group := make(map[string]any, len(keys))
	for _, k := range keys {
		switch v := k.show().(type) {
		case []configKey:
			group[k.name] = groupValue(v)
		case []string:
			group[k.name] = textValues(v)
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
	if c.LLM.APIKey.Set() {
		notes["llm.provider"] += "; api_key: " + c.LLM.APIKey.String() + " from " + keyVariable
	}
	writeYAML(&out, c.keys(nil), nil, notes)
	return out.Bytes()
}

func writeYAML(out *bytes.Buffer, keys []configKey, path *keyPath, notes map[string]string) {
	depth := 0
	for p := path; p != nil; p = p.up {
		depth++
	}
	for _, k := range keys {
		below := path.key(k.name)
		out.WriteString(strings.Repeat("  ", depth) + yamlWord(k.name) + ":")
		if group, ok := k.show().([]configKey); ok {
			out.WriteByte('\n')
			writeYAML(out, group, below, notes)
			continue
		}
		out.WriteByte(' ')
		writeYAMLValue(out, k.show())
		if note := notes[below.String()]; note != "" {
			out.WriteString("  # " + note)
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
	default:
		out.Write(ijson.Canonical(v))
	}
}

var bareWord = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]*$`)

// yamlWord is a text as YAML reads it back: bare where it is one word, else in the quotes of JSON.
func yamlWord(text string) string {
	if bareWord.MatchString(text) && resolvePlain(text).kind == yamlText {
		return text
	}
	return string(ijson.Canonical(text))
}
