package assembly

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"patterngate/server/settings"
)

// What loads, shows and loads to the same; what does not load says why.
func FuzzLoadConfig(f *testing.F) {
	seedConfigs(f)
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "pg.yaml")
		load := func(text []byte) (Loaded, error) {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			loaded, _, err := Load(settings.Sources{Path: path, Environ: []string{"OPENAI_API_KEY=key"}}, LoadOptions{})
			return loaded, err
		}
		loaded, err := load([]byte(text))
		if err != nil {
			if strings.Contains(err.Error(), "embedded") || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("Load(%q): %v", text, err)
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
	f.Add(string(settings.Default))
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
