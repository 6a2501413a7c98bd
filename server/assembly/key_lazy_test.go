package assembly

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/server/settings"
)

// A key that a program prints is read for the first question that is asked, and not before: a command that only looks at the
// configuration runs nothing. After a 401 it is read again.
func TestKeyIsReadForTheFirstQuestion(t *testing.T) {
	dir := t.TempDir()
	ran, program := filepath.Join(dir, "ran"), filepath.Join(dir, "key")
	script := "#!/bin/sh\necho x >>'" + ran + "'\nprintf 'hunter2-%s\\n' $(wc -l <'" + ran + "')\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, "no: "+r.Header.Get("Authorization"))
	}))
	defer server.Close()
	loaded, _, err := loadText(t, "version: 1\nllm: {base_url: '"+server.URL+"', max_retries: 0, api_key: {secret: {exec: ['"+program+"']}}}\n", "PATH=/usr/bin:/bin")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Declare(loaded, []string{"PATH=/usr/bin:/bin"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, _ = loaded.YAML(), loaded.JSON(), loaded.Hash()
	if text, err := os.ReadFile(ran); err == nil {
		t.Fatalf("the program ran %d times before anybody was asked", len(text)/2)
	}
	for i := range 2 {
		_, err = d.model.Ask(t.Context(), patterns.Question{Ask: patterns.AskPlan, JSON: []byte(`{"goal":"g"}`), MaxRequests: -1})
		if err == nil || !strings.HasPrefix(err.Error(), "llm_error:auth") && !strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("question %d: %v, want a 401 without the key", i, err)
		}
	}
	if got := fmt.Sprint(asked); got != "[Bearer hunter2-1 Bearer hunter2-2]" {
		t.Errorf("the server was asked with %s", got)
	}
}

// A key that cannot be read is the question's fault, and nothing is sent.
func TestKeyThatIsNotThere(t *testing.T) {
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent++ }))
	defer server.Close()
	loaded, warnings, err := loadText(t, "version: 1\nllm: {provider: openai, base_url: '"+server.URL+"', api_key: {secret: 'env:NO_KEY'}}\n")
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].String(), "its value cannot be read: NO_KEY is not set") {
		t.Fatal(warnings, err)
	}
	d, err := Declare(loaded, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.model.Ask(t.Context(), patterns.Question{Ask: patterns.AskPlan, JSON: []byte(`{"goal":"g"}`), MaxRequests: -1})
	if err == nil || !strings.Contains(err.Error(), "env:NO_KEY") || sent != 0 {
		t.Errorf("Ask without a key: %v, %d requests", err, sent)
	}
}

// A run that was begun with a key by reference goes on where this process has its key in the same place, and can be replayed
// where nobody has one. Another place, or the same beside another URL, is not followed.
func TestSnapshotWithKeyByReference(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := func(url string) string {
		return "version: 1\nllm: {base_url: '" + url + "', api_key: {secret: 'file:" + key + "'}}\n"
	}
	loaded, _, err := loadText(t, text("https://a.example/v1"))
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := loadText(t, text("https://b.example/v1"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		keys snapshotKeys
		want bool
	}{
		"ours":        {snapshotKeys{own: loaded.LLM}, true},
		"another URL": {snapshotKeys{own: other.LLM}, false},
		"none":        {snapshotKeys{}, false},
		"a replay":    {snapshotKeys{unasked: true}, true},
	} {
		again, err := configOfSnapshot(loaded.Hash(), loaded.Snapshot(), tt.keys, []string{settings.KeyVariable + "=none"})
		if (err == nil) != tt.want || err == nil && again.LLM.Resolved() != "openai" {
			t.Errorf("%s: %v, want it carried on: %t", name, err, tt.want)
		}
	}
	usual, _, err := loadText(t, "version: 1\nllm: {base_url: 'https://a.example/v1'}\n", settings.KeyVariable+"=hunter2")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		keys snapshotKeys
		want bool
	}{
		"OPENAI_API_KEY beside our URL":     {snapshotKeys{own: loaded.LLM}, true},
		"OPENAI_API_KEY beside another URL": {snapshotKeys{own: other.LLM}, false},
		"OPENAI_API_KEY beside the usual":   {snapshotKeys{}, false},
		"OPENAI_API_KEY where nobody asks":  {snapshotKeys{unasked: true}, true},
	} {
		if _, err := configOfSnapshot(usual.Hash(), usual.Snapshot(), tt.keys, []string{settings.KeyVariable + "=hunter2"}); (err == nil) != tt.want {
			t.Errorf("%s: %v, want it carried on: %t", name, err, tt.want)
		}
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if _, err := configOfSnapshot(loaded.Hash(), loaded.Snapshot(), snapshotKeys{own: loaded.LLM}, nil); err == nil || !strings.Contains(fmt.Sprintf("%+v", err), "secret_missing") {
		t.Errorf("without the file: %v, want secret_missing", err)
	}
}
