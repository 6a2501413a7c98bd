package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
)

// docsCommand is a command in a page: on a line of its own, or between back quotes.
var docsCommand = regexp.MustCompile("(?m)^(?:[$] |[.]/)?patterngate ([a-z].*)$|`patterngate ([a-z][^`]*)`")

// Every command that a page shows is one, and takes the flags that it is shown with.
func TestPagesShowCommandsThatThereAre(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, page := range append(pages, filepath.Join("..", "..", "README.md"), filepath.Join("..", "..", "CONTRIBUTING.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range docsCommand.FindAllStringSubmatch(string(text), -1) {
			line, _, _ := strings.Cut(m[1]+m[2], " #")
			line, _, _ = strings.Cut(line, " | ")
			if fault := faultOfCommand(line); fault != "" {
				t.Errorf("%s: patterngate %s: %s", filepath.Base(page), line, fault)
			}
			shown++
		}
	}
	if shown < 30 {
		t.Errorf("the pages show %d commands, want more: are they still found?", shown)
	}
}

// faultOfCommand says what is wrong with a command line; "" if it is one of the program's.
func faultOfCommand(line string) string {
	words := strings.Fields(line)
	cmd, rest, err := (&app{Invocation: &invocation.Invocation{Console: console.Console{Out: io.Discard, Err: io.Discard}}}).root().Find(words)
	switch {
	case err != nil:
		return err.Error()
	case cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-"):
		return "no command " + rest[0] + " of " + cmd.Name()
	}
	for _, word := range words {
		name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if strings.HasPrefix(word, "--") && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil && cmd.Root().PersistentFlags().Lookup(name) == nil {
			return "no flag --" + name
		}
	}
	return ""
}

func TestFaultOfCommand(t *testing.T) {
	for line, want := range map[string]bool{
		"runs list --status running": true, "--state copy.db runs list": true, "runs lists": false, "runs list --stat running": false, "rerun": false,
	} {
		if got := faultOfCommand(line); (got == "") != want {
			t.Errorf("faultOfCommand(%q) = %q, want a fault: %t", line, got, !want)
		}
	}
}
