package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What docs/records.md shows below a comment <!-- runs ... --> is what that command prints, of the records of these tests.
func TestRecordsPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "records.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- (runs [^\n]*) -->\n```text\n.*?```\n")
	shown := 0
	want := block.ReplaceAllStringFunc(string(text), func(old string) string {
		shown++
		line := block.FindStringSubmatch(old)[1]
		_, out, errs := newFakeRuns(t).command(t, strings.Fields(line)...)
		return "<!-- " + line + " -->\n```text\n$ patterngate " + line + "\n" + out + errs + "```\n"
	})
	if shown < 5 {
		t.Fatalf("docs/records.md shows %d commands", shown)
	}
	fresh(t, "records.md", want)
}
