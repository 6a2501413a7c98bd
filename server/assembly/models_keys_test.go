package assembly

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
	"patterngate/server/settings"
)

// TestKeysStayBesideTheirServers holds that two models with equal words, of which one has a key, are two: a role that names a server
// itself is asked without the key of llm, and llm's own questions go with it.
func TestKeysStayBesideTheirServers(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(llmtest.Content(`{}`), llmtest.Content("text"))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "pg.yaml")
	file := fmt.Sprintf("version: 1\nllm: {base_url: %q, models: {plan: {base_url: %q}}}\n", server.URL, server.URL)
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"OPENAI_API_KEY=key-of-top"}
	loaded, _, err := Load(settings.Sources{Path: path, Environ: environ}, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	who, err := loaded.answerers(environ).of(settings.Pattern{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []patterns.Ask{patterns.AskRoute, patterns.AskAnswer} {
		if _, err := who.model.Ask(t.Context(), patterns.Question{Ask: ask, Payload: map[string]any{}, MaxRequests: 1}); err != nil {
			t.Fatal(err)
		}
	}
	requests := server.Requests()
	if got := [2]string{bearer(requests[0]), bearer(requests[1])}; got != [2]string{"Bearer none", "Bearer key-of-top"} {
		t.Errorf("asked with %q", got)
	}
}
