package examples

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"patterngate/server/cli"
)

// policyFiles are the recipes of the cookbook.
func policyFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("policies/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d recipes, %v", len(files), err)
	}
	return files
}

// commandOf runs a command of the program and returns its exit code and what it printed.
func commandOf(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := cli.Main(append(args, "--state", filepath.Join(t.TempDir(), "state.db")), strings.NewReader(""), &out, &out)
	return code, out.String()
}

// TestCookbook holds that each recipe loads without a warning, that its tests pass and that each of its rules decides in one.
func TestCookbook(t *testing.T) {
	for _, file := range policyFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if code, out := commandOf(t, "validate", "--strict", file); code != 0 || strings.Contains(out, "warning") {
				t.Errorf("validate: exit %d\n%s", code, out)
			}
			if code, out := commandOf(t, "policy", "test", "--config", file); code != 0 {
				t.Errorf("policy test: exit %d\n%s", code, out)
			}
			code, out := commandOf(t, "policy", "coverage", "--config", file, "--json", "--ignore", "unread")
			var found struct {
				Policies map[string]struct {
					Rules []struct {
						Rule    string
						Decided int
					}
				}
			}
			if err := json.Unmarshal([]byte(out), &found); code != 0 || err != nil || len(found.Policies) != 1 {
				t.Fatalf("policy coverage: exit %d, %v\n%s", code, err, out)
			}
			for name, p := range found.Policies {
				for _, r := range p.Rules {
					if r.Decided == 0 {
						t.Errorf("%s: no test comes to rule %s", name, r.Rule)
					}
				}
			}
		})
	}
}

var cookbookRecipe = regexp.MustCompile("(?s)### [^\n]*\\(\\.\\./examples/(policies/[a-z_]+\\.yaml)\\).*?```yaml\n(.*?)```")

// TestCookbookPage holds that what the page shows of a recipe stands in its file.
func TestCookbookPage(t *testing.T) {
	page, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, m := range cookbookRecipe.FindAllStringSubmatch(string(page), -1) {
		text, err := os.ReadFile(m[1])
		if err != nil {
			t.Error(err)
			continue
		}
		shown[m[1]] = true
		if !strings.Contains(unindented(string(text)), unindented(m[2])) {
			t.Errorf("docs/policies.md shows of %s what does not stand there:\n%s", m[1], m[2])
		}
	}
	for _, file := range policyFiles(t) {
		if !shown[filepath.ToSlash(file)] {
			t.Errorf("docs/policies.md does not show %s", file)
		}
	}
}

// unindented is a text without the white space at the beginning of its lines.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
