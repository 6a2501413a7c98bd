package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/gateway"
)

var update = flag.Bool("update", false, "write the generated documents anew")

// The page of stop reasons is the registry.
func TestStopReasonsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Stop reasons\n\nEvery run ends in one of these; nothing else stands in `stop_reason`. Capital letters stand for names and values: `T` a tool,\n" +
		"`W` a worker, `N` a name, `A` an argument, `I` a number. `patterngate stop-reasons NAME` explains one.\n\n" +
		"Exit codes: 0 done; 1 a fault of ours; 2 request or goal incomplete; 3 refused, nothing was called; 4 a budget, time or loop; 5 the\n" +
		"model; 6 a tool was called and failed.\n\n" +
		"| stop reason | where | exit | next | meaning |\n|---|---|---|---|---|\n")
	for _, s := range gateway.StopReasons() {
		next := string(s.Next)
		if s.Task {
			next = "of a task, the run goes on"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s | %s |\n", s.Name, where(s), s.Exit, next, s.Meaning)
	}
	path := filepath.Join("..", "..", "docs", "stop-reasons.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Errorf("%s is not what the registry says; run go test ./server/cli -run TestStopReasonsPage -update", path)
	}
}

// where words the places of a row.
func where(s gateway.StopReason) string {
	var parts []string
	for _, p := range s.Places {
		part := nameOfKind(p.Kind)
		if len(p.Phases) > 0 {
			part += " (" + strings.Join(p.Phases, ", ") + ")"
		}
		if len(parts) > 0 && strings.HasPrefix(parts[len(parts)-1], nameOfKind(p.Kind)) {
			parts[len(parts)-1] = strings.TrimSuffix(parts[len(parts)-1], ")") + ", " + strings.Join(p.Phases, ", ") + ")"
			continue
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}
