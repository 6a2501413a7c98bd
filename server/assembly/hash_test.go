package assembly

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"patterngate/server/settings"
)

// Every configuration of the worked cases loads.
func TestLoadConfigCases(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "config", "cases.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Files) < 40 {
		t.Fatalf("%d configurations, want at least 40", len(archive.Files))
	}
	for _, file := range archive.Files {
		t.Run(file.Name, func(t *testing.T) {
			loaded, _, err := loadText(t, string(file.Data), "OPENAI_BASE_URL=http://127.0.0.1:9/v1", "OPENAI_API_KEY=test")
			if err != nil {
				t.Fatalf("Load(%s): %v", file.Data, err)
			}
			if loaded.LLM.Provider != "openai" || loaded.LLM.MaxRetries != 0 {
				t.Errorf("provider %q and %d retries, want openai and 0", loaded.LLM.Provider, loaded.LLM.MaxRetries)
			}
		})
	}
}

// The hash is that of what is meant: spelling, order and free keys do not count.
func TestConfigHash(t *testing.T) {
	hash := func(text string, environ ...string) string {
		t.Helper()
		loaded, _, err := loadText(t, text, environ...)
		if err != nil {
			t.Fatal(err)
		}
		return loaded.Hash()
	}
	const key = "OPENAI_API_KEY=a"
	base := hash("version: 1\nllm: {max_retries: 1}\nredact: [/args/b, /args/a]\n", key)
	for name, got := range map[string]string{
		"JSON":     hash(`{"llm": {"max_retries": 1}, "redact": ["/args/a", "/args/b"], "version": 1}`, key),
		"defaults": hash("version: 1.0\nx-free: [1, 2]\nllm: {max_retries: 1.0, model: gpt-4.1-mini}\nredact: [/args/a, /args/b, /args/a]\npatterns: {route_ticket: {budget: {max_seconds: 60}}}\n", key),
		"of the process": hash("version: 1\nllm: {max_retries: 1, provider: openai}\nredact: [/args/a, /args/b]\nlog: {level: debug}\nlimits: {grace_seconds: 1, concurrent_runs: 3}\n"+
			"http: {listen: '127.0.0.1:0'}\nwait: {max_seconds: 50, join_seconds: 1}\nresults: {a: text}\nstate: runs.db\ninbox: off\nnotify: off\n", key),
	} {
		if got != base {
			t.Errorf("%s: the hash is %s, want %s", name, got, base)
		}
	}
	if rules, other := hash("version: 1\n"), hash("version: 1\nllm: {model: other, provider: rules}\n", key); rules != other {
		t.Errorf("with rules the model's server counts: %s and %s", rules, other)
	}
	hashes := []string{
		base, hash("version: 1\n"), hash("version: 1\n", key), hash("version: 1\nllm: {max_retries: 3}\n", key), hash("version: 1\nllm: {base_url: 'http://127.0.0.1:1/'}\n"),
		hash("version: 1\nredact: [/answer]\n"), hash("version: 1\nwait: {caller_seconds: 1}\n"), hash("version: 1\ndemo: {delay_factor: 0}\n"),
		hash("version: 1\npatterns: {supervised_refund: {approver: {kind: simulated}}}\n"), hash("version: 1\nstate: ':memory:'\n"),
		hash("version: 1\npatterns: {supervised_refund: {approver: {expires_seconds: 60}}}\n"), hash("version: 1\npatterns: {supervised_refund: {approver: {min_assurance: signed}}}\n"),
		hash("version: 1\npatterns: {supervised_refund: {params: {refund_window_days: 1}}}\n"),
		hash("version: 1\npatterns: {route_ticket: {enabled: false}}\n"), hash("version: 1\npatterns: {route_ticket: {allow: {execution: []}}}\n"),
	}
	all := len(hashes)
	if slices.Sort(hashes); len(slices.Compact(hashes)) != all {
		t.Errorf("configurations that differ have equal hashes: %v", hashes)
	}
	if a, b := hash("version: 1\n", "OPENAI_API_KEY=a"), hash("version: 1\n", "OPENAI_API_KEY=b"); a != b {
		t.Errorf("the key's text counts: %s and %s", a, b)
	}
}

func BenchmarkLoadConfig(b *testing.B) {
	path := filepath.Join(b.TempDir(), "pg.yaml")
	if err := os.WriteFile(path, []byte("version: 1\npatterns: {route_ticket: {enabled: false}}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := Load(settings.Sources{Path: path}, LoadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
