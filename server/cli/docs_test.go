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
		"Exit codes:\n\n- 0: success\n- 1: an internal fault\n- 2: the request or the goal is incomplete\n- 3: refused by the gate, a rule or a person. Calls before it can have been made: see `EFFECTS`\n" +
		"- 4: a limit, the time, a loop or a deadline\n- 5: the model failed\n" +
		"- 6: a tool was called and failed, or the run ended with `ok` and no call returned a result (`answered` is `no`)\n" +
		"- 7: the run is running or waiting, or another call works on the plan\n- 8: stopped from outside: cancelled, or a kill switch\n\n" +
		"Below each reason are the exit code, the action of `next`, and the patterns with the phases that can end so.\n")
	var families []string // in their first order
	reasons := map[string]string{}
	for _, s := range stopreason.All() {
		next := string(s.Next)
		if s.Task {
			next = "of a task, the run continues"
		}
		exit := "Exit " + strconv.Itoa(int(s.Exit)) + ", next"
		if s.Task {
			exit = "Next"
		}
		family, _, _ := strings.Cut(s.Name, ":")
		if reasons[family] == "" {
			families = append(families, family)
		}
		reasons[family] += fmt.Sprintf("- `%s`: %s\n  - %s: %s\n  - %s\n", s.Name, s.Meaning, exit, next, where(s))
	}
	b.WriteString(contentsOf(families))
	for _, family := range families {
		fmt.Fprintf(&b, "\n## `%s`\n\n%s", family, reasons[family])
	}
	fresh(t, "stop-reasons.md", b.String())
}

// contentsOf returns the links to the sections of the page, in groups by the first word of their names. Words of fewer than three names
// share the last groups.
func contentsOf(families []string) string {
	const inGroup = 14
	sizes := map[string]int{}
	word := func(family string) string { first, _, _ := strings.Cut(family, "_"); return first }
	for _, family := range families {
		sizes[word(family)]++
	}
	var groups [][]string
	at := map[string]int{}
	for _, shared := range []bool{false, true} {
		for _, family := range families {
			key := word(family)
			if (sizes[key] < 3) != shared {
				continue
			}
			if shared {
				key = ""
			}
			i, known := at[key]
			if !known || len(groups[i]) == inGroup {
				i = len(groups)
				at[key], groups = i, append(groups, nil)
			}
			groups[i] = append(groups[i], fmt.Sprintf("[`%s`](#%s)", family, family))
		}
	}
	var b strings.Builder
	b.WriteString("\nThe sections of this page:\n\n")
	for _, group := range groups {
		line := "-"
		for i, link := range group {
			if i < len(group)-1 {
				link += ","
			}
			if len(line)+1+len(link) > 140 {
				b.WriteString(line + "\n")
				line = " "
			}
			line += " " + link
		}
		b.WriteString(line + "\n")
	}
	return b.String()
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
