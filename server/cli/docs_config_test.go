package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The page of the configuration is the table of keys. A key without a meaning fails here: append .means("...") where
// it is declared.
func TestConfigPage(t *testing.T) {
	c := embedded(t)
	var b strings.Builder
	b.WriteString("# Configuration\n\n" +
		"One YAML file, in which every key may be left out but `version`. `patterngate config path` says where it is looked for,\n" +
		"`patterngate config show` what is in force.\n\n" +
		"A flag comes before an environment variable, that before the file, and the file before the default. A list replaces the\n" +
		"default's list; a key that is `null` is as if absent. Where something is counted, 0 allows none. An unknown key and a wrong\n" +
		"type are refused with their place and what would have been right; keys that begin with `x-` are free at the top.\n\n" +
		"The model's key is no key of the file: it is read from `" + keyVariable + "` and shown as `***`.\n\n" +
		"Runs are recorded in a state file and outlive the program. It is `state.db` in the state directory: `$XDG_STATE_HOME/patterngate` or\n" +
		"`~/.local/state/patterngate`, on macOS `~/Library/Application Support/patterngate`, on Windows `%LOCALAPPDATA%\\patterngate`. The\n" +
		"directory is made for this user alone; one that others may write to, or a file that others may read, is refused. Several programs may\n" +
		"share the file. The model's key is never in it.\n\n" +
		"This page is written by a test (`go test ./server/cli -run TestConfigPage -update`).\n")
	configTable(t, &b, "For the whole server", nil, c.keys(nil))
	fresh(t, "config.md", b.String())
}

// configTable writes a table of the keys of a group; each pattern gets a table of its own.
func configTable(t *testing.T, b *strings.Builder, title string, path *keyPath, keys []configKey) {
	fmt.Fprintf(b, "\n## %s\n\n| key | what it takes | default | what it does |\n|---|---|---|---|\n", title)
	configRows(t, b, nil, path, slices.DeleteFunc(slices.Clone(keys), func(k configKey) bool { return k.name == "patterns" }))
	for _, k := range keys {
		if k.name != "patterns" {
			continue
		}
		below, _ := k.show().([]configKey)
		for _, pattern := range below {
			group, _ := pattern.show().([]configKey)
			at := path.key(k.name).key(pattern.name)
			configTable(t, b, "`"+at.String()+"`", at, group)
		}
	}
}

// configRows writes a row a key. Keys are named from the table's own place on; above is the way from the root to it.
func configRows(t *testing.T, b *strings.Builder, here, above *keyPath, keys []configKey) {
	for _, k := range keys {
		at, whole := here.key(k.name), above.key(k.name)
		group, isGroup := k.show().([]configKey)
		if isGroup && k.meaning == "" {
			configRows(t, b, at, whole, group)
			continue
		}
		if k.meaning == "" || k.takes == "" || strings.ContainsAny(k.meaning, "|\n") {
			t.Errorf("the key %s takes %q and means %q; want a line of each: append .means(\"...\") where config_keys.go declares it", whole, k.takes, k.meaning)
		}
		meaning := k.meaning
		for _, v := range configVariables {
			if v.path == whole.String() {
				meaning += " Also `" + v.name + "`."
			}
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", at, k.takes, defaultWords(k), meaning)
	}
}

// defaultWords is a key's value in the embedded default.
func defaultWords(k configKey) string {
	switch v := k.show().(type) {
	case nil:
		if k.numeric {
			return "no limit"
		}
		return "not set"
	case string:
		if v == "" {
			return "empty"
		}
		return "`" + v + "`"
	case []string:
		if len(v) == 0 {
			return "`[]`"
		}
		return "`" + strings.Join(v, "`, `") + "`"
	case []configKey:
		var words []string
		for _, below := range v {
			words = append(words, "`"+below.name+"`: "+defaultWords(below))
		}
		return strings.Join(words, ", ")
	case float64:
		return numberText(v)
	}
	return fmt.Sprint(k.show())
}

// The page of clients gives the defaults that it speaks of.
func TestClientsPageDefaults(t *testing.T) {
	c := embedded(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	want := []string{fmt.Sprintf("`limits.result_bytes` long, %d,%03d by default", c.Limits.ResultBytes/1000, c.Limits.ResultBytes%1000)}
	for client, channel := range c.Results {
		want = append(want, fmt.Sprintf("for `%s` the text is its first three lines", channel), "The default knows `"+client+"`.")
	}
	for _, words := range want {
		if !strings.Contains(page, words) {
			t.Errorf("docs/clients.md does not say %q", words)
		}
	}
}
