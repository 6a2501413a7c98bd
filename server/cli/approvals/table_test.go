package approvals

import (
	"strings"
	"testing"
	"time"

	"patterngate/patterns"
)

// A terminal's rows are cut to its width.
func TestTerminalListsAreCut(t *testing.T) {
	asked := patterns.Asked{ID: "ap_1", Phrase: strings.Repeat("x", 300), Pattern: strings.Repeat("p", 60)}
	for _, width := range []int{60, 100, 160} {
		for line := range strings.Lines(askedTable([]patterns.Asked{asked}, time.Unix(0, 0), width)) {
			if n := len(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("a row of %d characters for a width of %d: %q", n, width, line)
			}
		}
	}
}
