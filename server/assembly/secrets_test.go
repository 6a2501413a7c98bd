package assembly

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"patterngate/server/settings/tools"
)

// Where a secret stands it is read; what is wrong there is said without it (spec/config.md section 4, Secrets).
func TestSecretsAreRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) tools.SecretRef {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return tools.SecretRef{File: path}
	}
	shell := func(script string) tools.SecretRef { return tools.SecretRef{Exec: []string{"/bin/sh", "-c", script}} }
	environ := []string{"KEY=hunter2", "EMPTY=", "PATH=/bin"}
	tests := map[string]struct {
		ref       tools.SecretRef
		want, err string
	}{
		"variable":           {tools.SecretRef{Env: "KEY"}, "hunter2", ""},
		"unset":              {tools.SecretRef{Env: "GONE"}, "", "secret env:GONE: there is nothing there"},
		"empty":              {tools.SecretRef{Env: "EMPTY"}, "", "there is nothing there"},
		"file":               {write("a", "hunter2\n", 0o600), "hunter2", ""},
		"one line end":       {write("b", "hunter2\n\n", 0o600), "hunter2\n", ""},
		"no file":            {tools.SecretRef{File: filepath.Join(dir, "gone")}, "", "no such file"},
		"open to others":     {write("c", "hunter2", 0o644), "", "chmod 600"},
		"a directory":        {tools.SecretRef{File: dir}, "", "not a regular file"},
		"largest":            {write("d", strings.Repeat("x", maxSecret)+"\n", 0o600), strings.Repeat("x", maxSecret), ""},
		"too large":          {write("e", strings.Repeat("x", maxSecret+1), 0o600), "", "more than 65536 bytes"},
		"program":            {shell("echo $KEY"), "hunter2", ""},
		"program's mind":     {shell("echo hunter2 >&2; exit 3"), "", "exit status 3"},
		"program floods":     {shell("head -c 100000 /dev/zero"), "", "more than 65536 bytes"},
		"program prints on":  {shell("yes 0123456789"), "", "printed more than 65536 bytes"},
		"program never ends": {shell("trap '' PIPE; while :; do echo 0123456789012345678901234567890123456789; done"), "", "printed more than 65536 bytes"},
		"no shell":           {tools.SecretRef{Exec: []string{"/bin/echo", "$KEY;x"}}, "$KEY;x", ""},
		"no program":         {tools.SecretRef{Exec: []string{"gone"}}, "", `gone is not installed or not in PATH`},
		"nothing is there":   {tools.SecretRef{}, "", "no reference to a secret"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := secretAt(tt.ref, t.Context(), environ)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("read() = %.20q, %v; want %.20q, %q", got, err, tt.want, tt.err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error %v quotes the secret", err)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := secretAt(shell("sleep 60"), ended, environ); err == nil {
		t.Error("a program outlives its context")
	}
}

// The model's key is read where the file says, is never shown, and goes nowhere else than beside it.
func TestKeyByReference(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	if err := os.WriteFile(file, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := "version: 1\nllm: {base_url: 'https://a.example/v1', api_key: {secret: 'file:" + file + "'}}\n"
	loaded, _, err := loadText(t, text)
	if err != nil || loaded.LLM.OpenAI().APIKey != "" || loaded.LLM.Resolved() != "openai" {
		t.Fatalf("the key is %q: %v", loaded.LLM.OpenAI().APIKey, err)
	}
	for _, shown := range []string{string(loaded.YAML()), string(loaded.JSON()), string(loaded.Snapshot()), string(loaded.OriginYAML())} {
		if strings.Contains(shown, "hunter2") || !strings.Contains(shown, file) {
			t.Errorf("shown is %s", shown)
		}
	}
	if own, _, err := loadText(t, text, "OPENAI_API_KEY=own"); err != nil || own.LLM.OpenAI().APIKey != "own" {
		t.Errorf("beside OPENAI_API_KEY the key is %q: %v", own.LLM.OpenAI().APIKey, err)
	}
	if _, _, err := loadText(t, text, "OPENAI_BASE_URL=https://b.example/v1"); err == nil || !strings.Contains(err.Error(), "is sent only to the llm.base_url beside it") {
		t.Errorf("the file's key and another's URL: %v", err)
	}
}
