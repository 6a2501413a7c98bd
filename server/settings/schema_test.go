package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"patterngate/catalog"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// The JSON schema takes every file that we take, and refuses an unknown key.
func TestConfigSchema(t *testing.T) {
	text, err := settings.Schema()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := catalog.CompileSchema(text)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, text []byte) []catalog.Mismatch {
		faults := &yamldoc.Faults{}
		root := yamldoc.Read(name, text, faults)
		if err := faults.Err(); err != nil {
			t.Fatal(err)
		}
		return schema.Check(root.Decoded())
	}
	files, _ := filepath.Glob(filepath.Join("..", "..", "examples", "*.yaml"))
	more, _ := filepath.Glob(filepath.Join("..", "assembly", "testdata", "config", "*.yaml"))
	if len(more) == 0 {
		t.Fatal("no files")
	}
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := check(file, text); len(found) > 0 {
			t.Errorf("%s does not fit: %v", file, found)
		}
	}
	if found := check("default.yaml", settings.Default); len(found) > 0 {
		t.Errorf("the embedded default does not fit: %v", found)
	}
	loaded, _, err := readText(t, "version: 1\n")
	if err != nil {
		t.Fatal(err)
	}
	if found := check("shown.yaml", loaded.YAML()); len(found) > 0 {
		t.Errorf("what is shown does not fit: %v", found)
	}
	for name, file := range map[string]string{
		"unknown key": "version: 1\nllm: {modell: x}\n", "no version": "llm: {}\n", "a literal": "version: 1\nllm: {api_key: x}\n",
		"no effect": "version: 1\ncatalog: {servers: {a: {stdio: {command: x}, tools: {t: {}}}}}\n", "a word": "version: 1\nlog: {level: loud}\n",
		"out of range": "version: 1\nlimits: {grace_seconds: 61}\n", "own kind": "version: 1\npatterns: {x: {kind: routing}}\n",
	} {
		if len(check(name, []byte(file))) == 0 {
			t.Errorf("%s: the schema takes %q", name, file)
		}
	}
	if found := check("free.yaml", []byte("version: 1\nx-anything: {a: 1}\ncatalog: {servers: {a: {enabled: false, tools: {t: {enabled: false}}}}}\n")); len(found) > 0 {
		t.Errorf("x- and what is off do not fit: %v", found)
	}
}
