package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// catalogues lists packages that keep every text for people in texts.go, with the other files that are tables of texts.
var catalogues = map[string][]string{
	"gateway/stopreason":    {"registry.go", "registry_planning.go"},
	"patterns/record":       nil,
	"server/cli/recordtext": nil,
	"server/describe":       {"schema.go", "tool.go"}, // the tool's declaration
	"server/envelope":       {"output.go"},            // the descriptions of the output schema
	"server/outcome":        nil,
	"server/progress":       nil,
	"server/sentence":       nil,
	"server/status":         {"schema.go"}, // the tools' declarations
}

// mostWordsOutside is how many words a literal can have outside of a catalogue. A longer one is prose.
const mostWordsOutside = 3

// TestCatalogues: the files of these packages that are not their catalogue hold no prose. So a reader finds all texts of a package in
// one file, and none escapes the tests of prose.
func TestCatalogues(t *testing.T) {
	for dir, tables := range catalogues {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has %d files: %v", dir, len(files), err)
		}
		for _, file := range files {
			name := filepath.Base(file)
			if name == "texts.go" || strings.HasSuffix(name, "_test.go") || slices.Contains(tables, name) {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range proseOutside(t, filepath.ToSlash(file), content) {
				t.Errorf("%s: %q belongs in %s/texts.go", found.place(), found.words, dir)
			}
		}
	}
}

// proseOutside returns the literals of a Go file that have more than mostWordsOutside words. It leaves out imports, tags, lists of names and
// what only programmers read.
func proseOutside(t *testing.T, file string, content []byte) []text {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []text
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.CallExpr:
			return !isProgrammers(n) && !isNames(n)
		case *ast.BasicLit:
			if n.Kind != token.STRING || strings.HasPrefix(n.Value, "`json:") {
				return true
			}
			words, _ := strconv.Unquote(n.Value)
			if len(wordsOf(words)) > mostWordsOutside {
				found = append(found, text{file, set.Position(n.Pos()).Line, words})
			}
		}
		return true
	})
	return found
}

// isNames reports whether a call's text is a list of names: of members, or of words that a search leaves out.
func isNames(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "Among" || f.Name == "among"
	case *ast.SelectorExpr:
		return f.Sel.Name == "Among" || f.Sel.Name == "Fields"
	}
	return false
}

// wordsOf returns the words of a text, without what is inserted, names with other characters, and what has no letter.
func wordsOf(words string) []string {
	return slices.DeleteFunc(strings.Fields(plain(words)), func(w string) bool { return !word.MatchString(w) || strings.Trim(w, `"'().,:;?!`+"`") == name })
}

func TestProseOutsideOfCatalogues(t *testing.T) {
	for name, tt := range map[string]struct {
		content string
		want    int
	}{
		"a sentence":           {`var x = "The run has ended."`, 1},
		"a format":             {`var x = fmt.Sprintf("%s was not done in %s.", a, b)`, 1},
		"three words":          {`var x = "offline rules only"`, 0},
		"inserted values":      {`var x = fmt.Sprintf("%s: %d of %d %s", a, b, c, d)`, 0},
		"a raw text":           {"var x = `It waits for a person`", 1},
		"a tag":                {"type s struct {\n\tX int `json:\"x\" y:\"one two three four\"`\n}", 0},
		"a regular expression": {`var x = regexp.MustCompile("one two three four")`, 0},
		"names":                {`var x = Among("one two three four")`, 0},
		"within a call":        {`var x = errors.New("the answer is too long")`, 1},
	} {
		if got := proseOutside(t, "a.go", []byte("package a\n\n"+tt.content+"\n")); len(got) != tt.want {
			t.Errorf("%s: found %d, want %d: %v", name, len(got), tt.want, got)
		}
	}
}
