package local

import (
	"os"
	"strings"
	"testing"
)

// The figures of docs/patterns.md about what is kept.
func TestPatternsPageFigures(t *testing.T) {
	text, err := os.ReadFile("../../docs/patterns.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(text)), " ")
	for words, figure := range map[string]int{
		"the last 200 that ended": maxEnded - 200, "the runs that wait, at most 1,000": defaultMaxParked - 1000,
		"30 minutes by default": int(defaultCallerWait.Minutes()) - 30,
	} {
		if figure != 0 || !strings.Contains(page, words) {
			t.Errorf("docs/patterns.md says %q or should, and the code differs by %d", words, figure)
		}
	}
}
