package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test and worked session that docs/planning-tests.md names is there, and it names all regression cases.
func TestPlanningTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "planning-tests.md"))
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	there := map[string]bool{}
	err = filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range declared.FindAllSubmatch(text, -1) {
			there[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, found := range regexp.MustCompile("`(Test\\w+)`|`(\\w+\\.json)`").FindAllStringSubmatch(string(page), -1) {
		name, file := found[1], found[2]
		named[name+file] = true
		if _, err := os.Stat(filepath.Join("testdata", "cases", "planning", file)); file != "" && err != nil || name != "" && !there[name] {
			t.Errorf("docs/planning-tests.md names %s, which there is not", name+file)
		}
	}
	for i := 1; i <= 26; i++ {
		if !strings.Contains(string(page), fmt.Sprintf("\n%d. ", i)) {
			t.Errorf("docs/planning-tests.md has no case %d", i)
		}
	}
	for name := range there {
		if strings.HasPrefix(name, "TestPlanningCase") && name != "TestPlanningCases" && !named[name] {
			t.Errorf("docs/planning-tests.md does not name %s", name)
		}
	}
}
