package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The YAML blocks of the page of the configuration are, one behind the other, a file without a fault. Validate warns of
// secrets that are not set here and of the server's tool, which nobody accepted.
func TestConfigPageExamples(t *testing.T) {
	var file strings.Builder
	inside := false
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "config.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.TrimSpace(line) == "```yaml"
		case inside:
			file.WriteString(line)
		}
	}
	page := ownPage{t: t}
	if code, said := page.validated(file.String()); code != 0 {
		t.Errorf("validate ends with %d:\n%s\n%s", code, said, &file)
	}
}
