package yamldoc

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
	seedTexts(f)
	f.Fuzz(func(t *testing.T, text string) {
		faults, again := &Faults{}, &Faults{}
		tree := Read("pg.yaml", []byte(text), faults)
		if other := Read("pg.yaml", []byte(text), again); written(tree) != written(other) || !reflect.DeepEqual(faults, again) {
			t.Errorf("two readings differ:\n%s %v\n%s %v", written(tree), faults, written(other), again)
		}
		if len(faults.Found) == 0 && strings.Contains(written(tree), "!") && !strings.Contains(text, "!") {
			t.Errorf("something could not be read, and no fault says so: %s", written(tree))
		}
		lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
		inside := func(at Place) {
			if at.Line < 1 || at.Line > len(lines) || at.Column < 1 || at.Column > len([]rune(lines[at.Line-1]))+1 {
				t.Errorf("place %d:%d is not in a text of %d lines", at.Line, at.Column, len(lines))
			}
		}
		eachPlace(tree, inside)
		for _, fault := range faults.Found {
			inside(Place{Line: fault.Line, Column: fault.Column})
		}
	})
}

// What JSON reads, we read the same, unless we refuse it; and by the YAML parser the same as by the JSON one.
func FuzzReadJSON(f *testing.F) {
	seedTexts(f)
	f.Add(`{"a": [1, -0, 1.5e3, "\u00e9\ud83d\ude00", null, true, {}], "b": {"c": []}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var want any
		if json.Unmarshal([]byte(text), &want) != nil {
			t.Skip("not JSON")
		}
		faults := &Faults{}
		tree := Read("pg.json", []byte(text), faults)
		if len(faults.Found) > 0 {
			return
		}
		if got := goValue(tree); !reflect.DeepEqual(got, want) {
			t.Errorf("Read(%q)\n got %#v\nwant %#v", text, got, want)
		}
		byYAML := &Faults{}
		if other := Read("pg.yaml", []byte(text+"\n# YAML"), byYAML); len(byYAML.Found) == 0 && written(other) != written(tree) {
			t.Errorf("as YAML %q reads %s, as JSON %s", text, written(other), written(tree))
		}
	})
}

func goValue(n *Node) any {
	switch n.Kind {
	case Bool:
		return n.Flag
	case Number:
		return n.Number
	case Text:
		return n.Text
	case List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = goValue(item)
		}
		return list
	case Mapping:
		members := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			members[m.Key] = goValue(m.Value)
		}
		return members
	}
	return nil
}

// seedTexts gives a target the configurations that the tests of package assembly read, and texts with rare syntax.
func seedTexts(f *testing.F) {
	f.Helper()
	const assembly = "../../assembly"
	archive, err := txtar.ParseFile(filepath.Join(assembly, "testdata", "config", "cases.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files[:4] {
		f.Add(string(file.Data))
	}
	for _, path := range []string{"../settings/default.yaml", "testdata/config/orders.yaml"} {
		text, err := os.ReadFile(filepath.Join(assembly, filepath.FromSlash(path)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("version: 1\nx-a: &a {max_seconds: 2.5}\npatterns:\n  route_ticket:\n    budget: {<<: *a, max_tool_calls: 3}\n    allow:\n      policy:\n      - x\n")
	f.Add("---\na: |\n  x\nb: >-\n  y\n\n  z\nc: 'it''s'\nd: \"\\u00e9\"\n...\n")
	f.Add("{\"a\"\t:\t[1 , \"\\ud83d\\ude00\"]}\n\t")
}
