package assembly

import (
	"flag"
	"os"
	"testing"

	"patterngate/patterns/llm/llmtest"
	"patterngate/server/settings"
)

var update = flag.Bool("update", false, "rewrite golden files")

func bearer(r llmtest.Request) string { return r.Header.Get("Authorization") }

// embedded is the configuration of a fresh installation.
func embedded(t *testing.T) Loaded {
	t.Helper()
	var c settings.Config
	if err := c.Embed(nil); err != nil {
		t.Fatal(err)
	}
	return Loaded{Document: settings.Document{Config: c}}
}

// putFile writes a file.
func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("CI") == "" {
		if err := flag.Set("rapid.checks", "25"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
