package cli

import (
	"strings"
	"testing"
)

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
	loaded, warnings, err := loadText(t, text.String(), binaries(t, "prog"))
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
