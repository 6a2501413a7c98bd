package sqlite

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

// isStatement matches the begin of a statement.
var isStatement = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH) `)

// queries are the statements among the constants of queries*.go, by their names.
func queries(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("queries*.go")
	check(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, 0)
		check(t, err)
		files = append(files, f)
	}
	pkg, err := new(types.Config).Check("local", fset, files, nil)
	check(t, err)
	list := map[string]string{}
	for _, name := range pkg.Scope().Names() {
		c, ok := pkg.Scope().Lookup(name).(*types.Const)
		if ok && c.Val().Kind() == constant.String && isStatement.MatchString(constant.StringVal(c.Val())) {
			list[name] = constant.StringVal(c.Val())
		}
	}
	if len(list) < 10 {
		t.Fatalf("%d statements in %v, want all", len(list), names)
	}
	return list
}

// plan is how SQLite would carry out a query.
func plan(t *testing.T, j *Store, query string) (steps []string) {
	t.Helper()
	err := j.look(func(s *session) error {
		return s.Each(func(row func(...any) error) error {
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

var scansAll = regexp.MustCompile(`^SCAN (runs|events|plans|\w)( |$)`) // a letter is another name of one of them

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

// TestQueriesStandInTheirFiles holds that the plans of all statements are looked at.
func TestQueriesStandInTheirFiles(t *testing.T) {
	files, err := filepath.Glob("*.go")
	check(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "queries") {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, 0)
		check(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && isStatement.MatchString(lit.Value[1:]) {
				t.Errorf("%s: %s belongs into a file queries*.go", fset.Position(lit.Pos()), lit.Value)
			}
			return true
		})
	}
}

// TestPrincipalsAreFoundInTheirIndex: the query that steps through it finds each principal once.
func TestPrincipalsAreFoundInTheirIndex(t *testing.T) {
	j := fresh(t)
	find := func() (got string) {
		check(t, j.look(func(s *session) error {
			return s.Each(func(row func(...any) error) error {
				var principal string
				err := row(&principal)
				got += principal + ";"
				return err
			}, selectWhose)
		}))
		return got
	}
	if got := find(); got != "" {
		t.Errorf("principals of no run: %q, want none", got)
	}
	for run := range int64(6) {
		check(t, j.alter(func(s *session) error {
			if err := insertRun(run+1, 1, "ended")(s); err != nil {
				return err
			}
			_, err := s.Exec("UPDATE runs SET principal = ? WHERE n = ?", string(rune('a'+run%3)), run+1)
			return err
		}))
	}
	if got := find(); got != "a;b;c;" {
		t.Errorf("principals %q, want a;b;c;", got)
	}
}
