package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// secondsOfDemo is all that differs between two runs of the demo.
var secondsOfDemo = regexp.MustCompile(`[0-9]+\.[0-9]+ s`)

// shownStory returns the story that docs/start.md shows.
func shownStory(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "start.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "$ go run . demo\n")
	shown, _, found := strings.Cut(after, "\n```")
	if !found {
		t.Fatal("docs/start.md shows no demo")
	}
	return secondsOfDemo.ReplaceAllString(shown, "T s")
}

// In a pipe the demo prints the story that docs/start.md shows, in at most 35 lines of 100 columns.
func TestDemoInAPipe(t *testing.T) {
	t.Parallel()
	for name, color := range map[string]string{"plain": "auto", "coloured": "always"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			cmd := program(t, "demo", "--color", color)
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil || errs.Len() > 0 {
				t.Fatalf("the demo ends with %v: %s%s", err, &errs, &out)
			}
			got := out.String()
			if strings.Contains(got, "\r") || strings.Contains(got, "\x1b[") != (color == "always") {
				t.Errorf("--color %s prints %q", color, got)
			}
			got = withoutColour(got)
			lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			if len(lines) > 35 {
				t.Errorf("%d lines, want at most 35", len(lines))
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > 100 {
					t.Errorf("%d columns, want at most 100: %s", n, line)
				}
			}
			story, next, _ := strings.Cut(secondsOfDemo.ReplaceAllString(got, "T s"), "\nTry next:\n")
			if want := shownStory(t); story != want {
				t.Errorf("the demo prints\n%s\ndocs/start.md shows\n%s", story, want)
			}
			for _, want := range []string{" demo --live  ", " setup claude-code  ", " init  "} { // a test's program is a temporary build
				if !strings.Contains(next, "  ./patterngate"+want) || !strings.Contains(next, "  go build -o patterngate .  ") {
					t.Errorf("the demo does not suggest %q after a build:\n%s", want, next)
				}
			}
		})
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

func withoutColour(text string) string { return colours.ReplaceAllString(text, "") }

// At a terminal the demo has colours, unless NO_COLOR is set, and a line with the elapsed time while it works. That line is gone at
// the end: what remains is the same story.
func TestDemoAtATerminal(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][]string{"colours": nil, "no colours": {"NO_COLOR=1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terminal := newPty(t)
			cmd := program(t, "demo")
			cmd.Env = append(cmd.Env, append(env, "TERM=xterm", "COLUMNS=100")...)
			terminal.seat(cmd)
			if err := cmd.Run(); err != nil {
				t.Errorf("the demo ends with %v", err)
			}
			screen := terminal.until(t, "write a configuration for your own tools", 1)
			for _, want := range []string{"\x1b[1m1 A question: ", "\x1b[32m✓\x1b[0m"} {
				if strings.Contains(screen, want) != (env == nil) {
					t.Errorf("%v: the screen has %q: %v\n%q", env, want, env != nil, screen)
				}
			}
			if env != nil && strings.Contains(screen, "\x1b") {
				t.Errorf("%v: the screen has colours: %q", env, screen)
			}
			if !regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] 2\.[0-9] s  dispatch: payments_worker timed out`).MatchString(screen) {
				t.Errorf("the screen does not show what takes long: %q", screen)
			}
			var left strings.Builder
			for line := range strings.SplitSeq(withoutColour(screen), "\r\n") {
				left.WriteString(line[strings.LastIndex(line, "\r")+1:] + "\n") // what is before it is overwritten
			}
			story, _, _ := strings.Cut(secondsOfDemo.ReplaceAllString(left.String(), "T s"), "\nTry next:\n")
			if want := shownStory(t); story != want {
				t.Errorf("the screen shows\n%s\ndocs/start.md shows\n%s", story, want)
			}
		})
	}
}
