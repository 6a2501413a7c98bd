package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
)

// The bounds of a help page: it fits on a screen without scrolling.
const (
	mostHelpLines = 30
	mostHelpWidth = 100
	mostShort     = 72
)

// helpPages returns the page of each command of the program, hidden ones too, by the command's path.
func helpPages(t *testing.T, environ ...string) (pages map[string]string, commands map[string]*cobra.Command) {
	t.Helper()
	pages, commands = map[string]string{}, map[string]*cobra.Command{}
	var out bytes.Buffer
	root := (&app{Invocation: &invocation.Invocation{Console: console.Console{Out: &out, Err: &out, Environ: environ}}}).root()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		out.Reset()
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		pages[cmd.CommandPath()], commands[cmd.CommandPath()] = out.String(), cmd
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	if len(pages) < 60 {
		t.Fatalf("the program has %d commands, want more: are they still found?", len(pages))
	}
	return pages, commands
}

// Every help page fits on a screen, says what the command does first, and leaves global flags to the root.
func TestHelpPages(t *testing.T) {
	pages, commands := helpPages(t)
	for path, page := range pages {
		cmd := commands[path]
		lines := strings.Split(strings.TrimSuffix(page, "\n"), "\n")
		if len(lines) > mostHelpLines {
			t.Errorf("%s --help has %d lines, at most %d fit:\n%s", path, len(lines), mostHelpLines, page)
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > mostHelpWidth {
				t.Errorf("%s --help has a line of %d columns, at most %d fit: %s", path, n, mostHelpWidth, line)
			}
		}
		if strings.Contains(page, "--log-level") != (!cmd.HasParent() || cmd.Name() == flagsTopic) {
			t.Errorf("%s --help: global flags are on the root page and in \"help flags\" only:\n%s", path, page)
		}
		if n := utf8.RuneCountInString(cmd.Short); n == 0 || n > mostShort {
			t.Errorf("%s: Short has %d columns, want 1 to %d: %s", path, n, mostShort, cmd.Short)
		}
		if first, _, _ := strings.Cut(cmd.Short, " "); strings.Trim(first, ",:") != imperative(first) {
			t.Errorf("%s: Short begins with %q, want an imperative verb: %s", path, first, cmd.Short)
		}
		if strings.Contains(cmd.Use, " ") && cmd.Example == "" && !cmd.Hidden {
			t.Errorf("%s takes arguments (%s) and has no example", path, cmd.Use)
		}
	}
}

// imperative returns the word if it is one of the verbs with which a command's purpose begins.
func imperative(word string) string {
	word = strings.Trim(word, ",:")
	verbs := []string{"Add", "Approve", "Back", "Call", "Cancel", "Check", "Compare", "Connect", "Continue", "Copy", "Count", "Create", "Decide", "Delete",
		"Explain", "Find", "Judge", "Kill", "List", "Make", "Open", "Play", "Print", "Prove", "Reject", "Remove", "Run", "Serve", "Show", "Stop", "Sum", "Take",
		"Test", "Turn", "Watch", "Write"}
	if slices.Contains(verbs, word) {
		return word
	}
	return "another word"
}

// Each command that is not hidden is in one group of the root page, and each name there is a command.
func TestHelpGroups(t *testing.T) {
	pages, commands := helpPages(t)
	place := map[string]string{}
	for _, g := range rootGroups() {
		for _, name := range g.commands {
			if cmd := commands["patterngate "+name]; cmd == nil || cmd.Hidden || cmd.GroupID != g.title || place[name] != "" {
				t.Errorf("%s is in the group %q: want a command that people see, in one group", name, g.title)
			}
			place[name] = g.title
		}
	}
	for path, cmd := range commands {
		more := []string{"completion", "help", flagsTopic}
		if cmd.Parent() == cmd.Root() && !cmd.Hidden && place[cmd.Name()] == "" && !slices.Contains(more, cmd.Name()) {
			t.Errorf("%s is in no group of the root page", path)
		}
	}
	if root := pages["patterngate"]; strings.Count(root, "  patterngate ") != 4 {
		t.Errorf("the root page has other examples than three:\n%s", root)
	}
}

// A narrow terminal gets narrow pages: Patterngate's own words fold.
func TestHelpAtANarrowTerminal(t *testing.T) {
	pages, _ := helpPages(t, "COLUMNS=60")
	for _, path := range []string{"patterngate", "patterngate runs", "patterngate approvals"} {
		for line := range strings.Lines(pages[path]) {
			if utf8.RuneCountInString(line) > 61 && !strings.Contains(line, "patterngate ") {
				t.Errorf("%s --help at 60 columns has the line %q", path, line)
			}
		}
	}
}
