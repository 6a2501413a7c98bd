package trial

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
)

// The entry that the demo offers names a program that is there tomorrow, or no program at all.
func TestDemoOffersALastingProgram(t *testing.T) {
	said := (&Commands{Console: &console.Console{Environ: []string{"PATH=/nonexistent"}}}).giveToClient()
	if _, err := clientfile.ProgramPath([]string{"PATH=/nonexistent"}); err != nil { // a temporary build
		if strings.Contains(said, "mcpServers") || !strings.Contains(said, "go build -o patterngate .") {
			t.Errorf("a temporary build is offered: %s", said)
		}
		return
	}
	var entry struct {
		Servers map[string]struct{ Command string } `json:"mcpServers"`
	}
	_, text, _ := strings.Cut(said, "client: ")
	if err := json.Unmarshal([]byte(text), &entry); err != nil {
		t.Fatalf("%s: %v", said, err)
	}
	if _, err := os.Stat(entry.Servers["patterngate"].Command); err != nil {
		t.Errorf("%s: %v", said, err)
	}
}
