package cli

import (
	"encoding/json"
	"fmt"
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

// The page of the configuration is the table of keys. A key without a meaning fails here: append .Means("...") where
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
		"A secret never stands in the file: what stands there says where it is, `{secret: \"env:NAME\"}`, `{secret: \"file:PATH\"}` (mode 0600, one\n" +
		"final line end dropped) or `{secret: {exec: [program, argument]}}` (no shell, 5 s, 64 KiB, run by serve and call only). Text is refused\n" +
		"where only a secret can stand: in the headers Authorization, Cookie and Proxy-Authorization, in a URL's user part, and in headers,\n" +
		"variables, query parameters, `fix` and flags whose name contains token, secret, password, passwd, api_key, apikey, private_key or\n" +
		"credential (in any case, - as _). The model's key is read from `" + keyVariable + "` where `llm.api_key` names no other place, and shown as `***`.\n\n" +
		"`patterngate validate FILE` says everything that is wrong with a file, with its place; `patterngate schema` prints its JSON schema, by\n" +
		"which an editor completes it: `# yaml-language-server: $schema=./patterngate.schema.json` as its first line. `patterngate config show\n" +
		"--origin` says where each value in force comes from. A path starts at the file's directory, `~/` at home.\n\n" +
		"A server whose arguments, directory, `fix` or `bound` name a directory with the configuration, the lock or the state file in it is\n" +
		"refused: what can write there can switch the gate off. What a server can reach beyond what is written nobody can see.\n" +
		"Where no `dir` says where it starts, a bare word in `fix` or `bound` is no path: `./data` is one, `data` is not.\n\n" +
		"Runs are recorded in a state file and outlive the program. It is `state.db` in the state directory: `$XDG_STATE_HOME/patterngate` or\n" +
		"`~/.local/state/patterngate`, on macOS `~/Library/Application Support/patterngate`, on Windows `%LOCALAPPDATA%\\patterngate`. While\n" +
		"all tools are the demo's, it is `demo.db` there. A configuration file with a `catalog` or a pattern of its own never shares a\n" +
		"state file with the demo. The directory is made for this user alone; one that others may write to, or a file that others may read, is refused. Several programs may\n" +
		"share the file. The model's key is never in it.\n\n" +
		"This page is written by a test (`go test ./server/cli -run TestConfigPage -update`).\n")
	configTable(t, &b, "For the whole server", nil, c.keys(nil))
	for _, kind := range ownKinds {
		own := newPattern("NAME", gateway.Kind(kind), grammar.Position{})
		configTable(t, &b, "`patterns.NAME` of kind "+kind+", of your own", (*yamldoc.Path)(nil).Key("patterns").Key("NAME"), own.keys(nil))
	}
	fresh(t, "config.md", b.String())
}

// configTable writes a table of the keys of a group; each pattern gets a table of its own.
func configTable(t *testing.T, b *strings.Builder, title string, path *yamldoc.Path, keys []grammar.Key) {
	fmt.Fprintf(b, "\n## %s\n\n| key | what it takes | default | what it does |\n|---|---|---|---|\n", title)
	configRows(t, b, nil, path, slices.DeleteFunc(slices.Clone(keys), func(k grammar.Key) bool { return k.Name == "patterns" }))
	for _, k := range keys {
		if k.Name != "patterns" {
			continue
		}
		below, _ := k.Show().([]grammar.Key)
		for _, pattern := range below {
			group, _ := pattern.Show().([]grammar.Key)
			at := path.Key(k.Name).Key(pattern.Name)
			configTable(t, b, "`"+at.String()+"`", at, group)
		}
	}
}

// configRows writes a row a key. Keys are named from the table's own place on; above is the way from the root to it.
func configRows(t *testing.T, b *strings.Builder, here, above *yamldoc.Path, keys []grammar.Key) {
	for _, k := range keys {
		at, whole := here.Key(k.Name), above.Key(k.Name)
		group, isGroup := k.Show().([]grammar.Key)
		if isGroup && k.Meaning == "" && k.Below == nil {
			configRows(t, b, at, whole, group)
			continue
		}
		if k.Below != nil {
			belowRows(t, b, k, at, whole)
			continue
		}
		if k.Meaning == "" || k.Takes == "" || strings.ContainsAny(k.Meaning, "|\n") {
			t.Errorf("the key %s takes %q and means %q; want a line of each: append .Means(\"...\") where config_keys.go declares it", whole, k.Takes, k.Meaning)
		}
		meaning := k.Meaning
		for _, v := range configVariables {
			if v.path == whole.String() {
				meaning += " Also `" + v.name + "`."
			}
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", at, k.Takes, defaultWords(k), meaning)
	}
}

// belowRows writes the keys of a mapping that is not always there, or of an entry of one.
func belowRows(t *testing.T, b *strings.Builder, k grammar.Key, at, whole *yamldoc.Path) {
	takes := "a mapping"
	if k.Takes != "" {
		takes = k.Takes
	}
	if k.Entries {
		takes = "a mapping of names to entries"
	}
	if k.Meaning == "" {
		t.Errorf("the key %s means nothing; append .Means(\"...\")", whole)
	}
	fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", at, takes, map[bool]string{true: "required", false: "not set"}[k.Required != ""], k.Meaning)
	if k.Entries {
		at, whole = at.Key("NAME"), whole.Key("NAME")
	}
	configRows(t, b, at, whole, k.Below())
}

// defaultWords is a key's value in the embedded default.
func defaultWords(k grammar.Key) string {
	if k.Required != "" {
		return "required"
	}
	switch v := k.Show().(type) {
	case nil:
		if k.Numeric {
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
	case json.RawMessage, grammar.JSONLines:
		return "not set"
	case []grammar.Key:
		if len(v) == 0 {
			return "not set"
		}
		var words []string
		for _, below := range v {
			words = append(words, "`"+below.Name+"`: "+defaultWords(below))
		}
		return strings.Join(words, ", ")
	case float64:
		return yamldoc.NumberText(v)
	case map[string]any, []any:
		return "`" + string(ijson.Canonical(v)) + "`"
	}
	return fmt.Sprint(k.Show())
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
