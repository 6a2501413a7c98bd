package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway/stopreason"
	"patterngate/server/settings"
)

var update = flag.Bool("update", false, "rewrite the generated documents")

// The page of stop reasons is the registry.
func TestStopReasonsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Stop reasons\n\nEvery run ends with one of these stop reasons. Results show it as `stop_reason`. Capital letters are placeholders for names and\n" +
		"values: `T` is a tool, `W` a worker, `N` a name, `A` an argument, `I` a number. `patterngate stop-reasons NAME` explains one reason.\n\n" +
		"Exit codes: 0 success; 1 internal fault; 2 incomplete request or goal; 3 refused, nothing was called; 4 a limit, the time or a loop;\n" +
		"5 the model failed; 6 a tool failed, or the run ended with `ok` and no call returned a result (`answered` is `no`).\n\n" +
		"| stop reason | where | exit | next | meaning |\n|---|---|---|---|---|\n")
	for _, s := range stopreason.All() {
		next := string(s.Next)
		if s.Task {
			next = "of a task, the run continues"
		}
		exit := strconv.Itoa(int(s.Exit))
		if s.Task {
			exit = ""
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", s.Name, where(s), exit, next, s.Meaning)
	}
	fresh(t, "stop-reasons.md", b.String())
}

// fresh compares a page of docs with what it should be, or writes it.
func fresh(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", name)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/%s is not what the program says; run go test ./server/cli -run %s -update (-program +page):\n%s", name, t.Name(), diff)
	}
}

// where words the places of a row.
func where(s stopreason.Reason) string {
	var parts []string
	for _, p := range s.Places {
		part := settings.NameOfKind(p.Kind)
		if len(p.Phases) > 0 {
			part += " (" + strings.Join(p.Phases, ", ") + ")"
		}
		if len(parts) > 0 && strings.HasPrefix(parts[len(parts)-1], settings.NameOfKind(p.Kind)) {
			parts[len(parts)-1] = strings.TrimSuffix(parts[len(parts)-1], ")") + ", " + strings.Join(p.Phases, ", ") + ")"
			continue
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}
