package assembly

import (
	"strings"
	"testing"
)

// A pattern that only begins like a directory is warned of at its place, with the line to write instead; that line is in order.
func TestEscapingPatternIsWarnedOf(t *testing.T) {
	const file = "version: 1\ncatalog: {servers: {fs: {stdio: {command: prog}, tools: {write_file: {effect: read, BOUND}}}}}\n"
	load := func(bound string) []string {
		_, warnings, err := loadText(t, strings.Replace(file, "BOUND", bound, 1), binaries(t, "prog"))
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, w := range warnings {
			if !strings.Contains(w.String(), "catalog accept") {
				lines = append(lines, w.String())
			}
		}
		return lines
	}
	const want = "warning: pg.yaml:2:109: catalog.servers.fs.tools.write_file.bound.path.pattern: a path that fits this pattern can leave its directory: " +
		"/srv/orders/../x fits it; write bound: {path: {within: /srv/orders}} instead"
	if got := load(`bound: {path: {pattern: "^/srv/orders/"}}`); len(got) != 1 || got[0] != want {
		t.Errorf("a prefix: %q\nwant %q", got, want)
	}
	if got := load("bound: {path: {within: /srv/orders}}"); got != nil {
		t.Errorf("what the warning proposes is warned of: %q", got)
	}
}
