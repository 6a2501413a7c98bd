package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The suggestions of the starter are lines that could stand there.
func TestInitStarterSuggestionsAreYAML(t *testing.T) {
	var b strings.Builder
	for line := range strings.Lines(starterText) {
		rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "# ")
		if key, _, found := strings.Cut(strings.TrimSpace(rest), ":"); ok && found && !strings.Contains(key, " ") {
			line = strings.Replace(line, "# ", "", 1)
		}
		b.WriteString(line)
	}
	text := strings.Replace(b.String(), "llm: {provider: auto}\n", "", 1)
	v := decoded(t, text)
	if valueAt(v, "catalog", "servers", "files", "tools", "list_directory", "effect") != "read" || valueAt(v, "inbox") != "127.0.0.1:8766" || valueAt(v, "llm", "provider") != "openai" {
		t.Errorf("the suggestions read %v\n%s", v, text)
	}
}

// The proposal of init, taken out of its comment, loads without a warning about it.
func TestStarterProposesWithin(t *testing.T) {
	var text strings.Builder
	for line := range strings.Lines(starterText) {
		switch trimmed := strings.TrimPrefix(line, "# "); {
		case strings.HasPrefix(line, "# catalog:"), strings.HasPrefix(line, "#   ") && !strings.HasPrefix(line, "#   patterngate"):
			text.WriteString(strings.Replace(trimmed, "command: npx", "command: prog", 1))
		case strings.HasPrefix(line, "version:"):
			text.WriteString(line)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prog"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	loaded, warnings, err := loadWritten(t, text.String(), "PATH="+dir)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	if got := string(loaded.Catalog.Servers[0].Tools[1].Bound); got != `{"path":{"within":"/srv/orders"}}` {
		t.Errorf("init proposes the bound %s", got)
	}
	for _, w := range warnings {
		if strings.Contains(w.Path, "bound") {
			t.Error(w)
		}
	}
}
