package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// No text brings the reader down; it says the same each time, and every place is in the text.
func FuzzReadYAML(f *testing.F) {
	seedConfigs(f)
	f.Fuzz(func(t *testing.T, text string) {
		faults, again := &configFaults{}, &configFaults{}
		tree := readYAML("pg.yaml", []byte(text), faults)
		if other := readYAML("pg.yaml", []byte(text), again); written(tree) != written(other) || !reflect.DeepEqual(faults, again) {
			t.Errorf("two readings differ:\n%s %v\n%s %v", written(tree), faults, written(other), again)
		}
		if len(faults.faults) == 0 && strings.Contains(written(tree), "!") && !strings.Contains(text, "!") {
			t.Errorf("something could not be read, and no fault says so: %s", written(tree))
		}
		lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
		inside := func(at place) {
			if at.line < 1 || at.line > len(lines) || at.column < 1 || at.column > len([]rune(lines[at.line-1]))+1 {
				t.Errorf("place %d:%d is not in a text of %d lines", at.line, at.column, len(lines))
			}
		}
		eachPlace(tree, inside)
		for _, fault := range faults.faults {
			inside(place{line: fault.Line, column: fault.Column})
		}
	})
}

// What JSON reads, we read the same, unless we refuse it; and by the YAML parser the same as by the JSON one.
func FuzzReadJSON(f *testing.F) {
	seedConfigs(f)
	f.Add(`{"a": [1, -0, 1.5e3, "\u00e9\ud83d\ude00", null, true, {}], "b": {"c": []}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var want any
		if json.Unmarshal([]byte(text), &want) != nil {
			t.Skip("not JSON")
		}
		faults := &configFaults{}
		tree := readYAML("pg.json", []byte(text), faults)
		if len(faults.faults) > 0 {
			return
		}
		if got := goValue(tree); !reflect.DeepEqual(got, want) {
			t.Errorf("readYAML(%q)\n got %#v\nwant %#v", text, got, want)
		}
		byYAML := &configFaults{}
		if other := readYAML("pg.yaml", []byte(text+"\n# YAML"), byYAML); len(byYAML.faults) == 0 && written(other) != written(tree) {
			t.Errorf("as YAML %q reads %s, as JSON %s", text, written(other), written(tree))
		}
	})
}

func goValue(n *yamlNode) any {
	switch n.kind {
	case yamlBool:
		return n.flag
	case yamlNumber:
		return n.number
	case yamlText:
		return n.text
	case yamlList:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = goValue(item)
		}
		return list
	case yamlMapping:
		members := make(map[string]any, len(n.members))
		for _, m := range n.members {
			members[m.key] = goValue(m.value)
		}
		return members
	}
	return nil
}

// What loads, shows and loads to the same; what does not load says why.
func FuzzLoadConfig(f *testing.F) {
	seedConfigs(f)
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "pg.yaml")
		load := func(text []byte) (LoadedConfig, error) {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			loaded, _, err := LoadConfig(ConfigSources{Path: path, Environ: []string{"OPENAI_API_KEY=key"}})
			return loaded, err
		}
		loaded, err := load([]byte(text))
		if err != nil {
			if strings.Contains(err.Error(), "embedded") || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("LoadConfig(%q): %v", text, err)
			}
			return
		}
		again, err := load(loaded.YAML())
		if err != nil {
			t.Fatalf("what is shown does not load: %v\n%s", err, loaded.YAML())
		}
		if diff := sameConfig(loaded.Config, again.Config); diff != "" || loaded.Hash() != again.Hash() {
			t.Errorf("what is shown loads to something else (-want +got):\n%s", diff)
		}
	})
}

func seedConfigs(f *testing.F) {
	f.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "config", "cases.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files[:4] {
		f.Add(string(file.Data))
	}
	f.Add(string(defaultConfig))
	f.Add(withPolicy("params: {cap: 5.0, words: [a, b]}", "vars: {b: 'params.cap', a: 'vars.b + 1.0'}", "windows: {today: {tools: [refund_charge], calendar: day}}",
		"rules:", "- {id: a, match: refund_charge, when: double(args.amount_cents) > vars.a, revise: {amount_cents: 5}}", "- {id: b, approve: {}}",
		"tests:", "- {name: it, call: {tool: read_order, args: {order_id: A-1001}}, want: approve}"))
	if text, err := os.ReadFile(filepath.Join("testdata", "config", "orders.yaml")); err == nil {
		f.Add(string(text))
	}
	f.Add("version: 1\nx-a: &a {max_seconds: 2.5}\npatterns:\n  route_ticket:\n    budget: {<<: *a, max_tool_calls: 3}\n    allow:\n      policy:\n      - x\n")
	f.Add("---\na: |\n  x\nb: >-\n  y\n\n  z\nc: 'it''s'\nd: \"\\u00e9\"\n...\n")
	f.Add("{\"a\"\t:\t[1 , \"\\ud83d\\ude00\"]}\n\t")
}
