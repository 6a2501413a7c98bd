package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestFirstPattern plays the two pages of the tutorial from their first command to their last, in one home: what they show is what is
// printed, and their blocks "yaml end", "yaml more" and "yaml rules" are put where they say. A command ends with 0 but where a comment
// says another exit code.
// .ci/first-pattern does the same from a clean clone, with the programs as a reader builds them.
func TestFirstPattern(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the session is for a Unix shell")
	}
	onlyInCI(t)
	bin := built(t, "shop")
	p := &shell{t: t, home: t.TempDir(), runs: map[string]string{}}
	file := filepath.Join(p.home, "patterngate.yaml")
	p.env = []string{"PATTERNGATE_CONFIG=" + file, "PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH")}
	p.exits = true
	for _, page := range []string{"first-pattern.md", "more-patterns.md"} {
		path := filepath.Join("..", "docs", page)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := tutorialBlock.ReplaceAllStringFunc(string(text), func(block string) string {
			first, rest, _ := strings.Cut(block, "\n")
			switch kind := strings.TrimPrefix(first, "```"); kind {
			case "console":
				return p.play(block)
			default:
				putYAML(t, file, kind, strings.TrimSuffix(rest, "```"))
				return block
			}
		})
		if *update && want != string(text) {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// built is a directory with programs of this directory's folders.
func built(t *testing.T, programs ...string) string {
	t.Helper()
	bin := t.TempDir()
	for _, program := range programs {
		build := exec.Command("go", "build", "-o", filepath.Join(bin, program), "./"+program)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
	}
	return bin
}

var tutorialBlock = regexp.MustCompile("(?ms)^```(console|yaml end|yaml more|yaml rules)\n.*?^```$")

// ownPart is where what the reader writes begins in a file that init wrote.
var ownPart = regexp.MustCompile(`(?m)^(policies|patterns):$`)

// putYAML puts a block into the file: at its end, in the place of what the reader wrote before ("yaml end") or below it ("yaml more"),
// or at the beginning of the rules ("yaml rules").
func putYAML(t *testing.T, file, kind, block string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, after := string(text), ""
	switch at := ownPart.FindIndex(text); {
	case kind == "yaml end" && at != nil:
		before = before[:at[0]]
	case kind == "yaml rules":
		const rules = "\n    rules:\n"
		var ok bool
		if before, after, ok = strings.Cut(before, rules); !ok {
			t.Fatal("the file has no rules")
		}
		before += rules
	}
	if err := os.WriteFile(file, []byte(before+block+after), 0o600); err != nil {
		t.Fatal(err)
	}
}
