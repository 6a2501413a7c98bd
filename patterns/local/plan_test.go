package local

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// queries are the constants of queries.go.
func queries(t *testing.T) map[string]string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "queries.go", nil, 0)
	check(t, err)
	pkg, err := new(types.Config).Check("local", fset, []*ast.File{f}, nil)
	check(t, err)
	list := map[string]string{}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() == constant.String {
			list[name] = constant.StringVal(c.Val())
		}
	}
	if len(list) < 5 {
		t.Fatalf("%d queries in queries.go, want all", len(list))
	}
	return list
}

// plan is how SQLite would carry out a query.
func plan(t *testing.T, j *journal, query string) (steps []string) {
	t.Helper()
	err := j.view(func(s *session) error {
		return s.each(func(row func(...any) error) error {
			var id, parent, unused int64
			var step string
			err := row(&id, &parent, &unused, &step)
			steps = append(steps, step)
			return err
		}, "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
	})
	if err != nil {
		t.Errorf("%s\n%v", query, err)
	}
	return steps
}

var scansAll = regexp.MustCompile(`^SCAN (runs|events|\w)( |$)`) // a letter is another name of one of them

// TestNoQueryReadsAllRuns: with 100,000 ended runs in the file each such query would be felt. An index in the order of
// which a bounded number of rows is read is no such thing.
func TestNoQueryReadsAllRuns(t *testing.T) {
	j := fresh(t)
	for name, query := range queries(t) {
		for _, step := range plan(t, j, query) {
			bounded := strings.Contains(query, "LIMIT") && strings.Contains(step, "USING") && !strings.Contains(query, "WHERE")
			if scansAll.MatchString(step) && !bounded {
				t.Errorf("%s: %s\n%s", name, step, query)
			}
		}
	}
	if bad := plan(t, j, "SELECT n FROM runs WHERE summary = ?"); len(bad) != 1 || !scansAll.MatchString(bad[0]) {
		t.Errorf("the plan of a query that does is %q: this test would not see it", bad)
	}
}

// TestQueriesStandInTheirFile holds that the plans of all statements are looked at.
func TestQueriesStandInTheirFile(t *testing.T) {
	files, err := filepath.Glob("*.go")
	check(t, err)
	statement := regexp.MustCompile("^[`\"]\\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH) ")
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "queries.go" {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, 0)
		check(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && statement.MatchString(lit.Value) {
				t.Errorf("%s: %s belongs into queries.go", fset.Position(lit.Pos()), lit.Value)
			}
			return true
		})
	}
}
