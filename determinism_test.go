package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// forbidden are imports through which pattern code and the gateway could see a world of their own. What they learn,
// they learn from a Run, so that any engine can replay them.
var forbidden = []string{"crypto/rand", "io", "io/fs", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec", "reflect", "runtime", "sync", "sync/atomic", "syscall", "testing", "unsafe"}

// open are the files that hold ports and not pattern code, with what they may import all the same.
var open = map[string][]string{
	"patterns/engine.go":    {"context"},                  // Engine is the port of who carries out runs
	"patterns/runs.go":      {"context"},                  // Runs is the port of who looks at runs
	"patterns/approvals.go": {"context"},                  // Owner is the port of who sees the runs of all
	"patterns/model.go":     {"context"},                  // Model is the port of who answers questions
	"gateway/permit.go":     {"context", "runtime/debug"}, // a Permit performs its call and contains its panic
}

// TestPatternCodeIsDeterministic holds that pattern code and gateway have no clock, goroutine, channel, random number,
// map order, environment, network or recover of their own.
func TestPatternCodeIsDeterministic(t *testing.T) {
	fset := token.NewFileSet()
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", exported(t))}
	for _, dir := range []string{"patterns", "patterns/step", "patterns/kinds", "patterns/planexecute", "gateway", "gateway/document", "gateway/planning", "gateway/stopreason"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		var parsed []*ast.File
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		if _, err := config.Check("patterngate/"+dir, fset, parsed, info); err != nil {
			t.Fatal(err)
		}
		for _, f := range parsed {
			for _, fault := range faultsOf(fset, f, info) {
				t.Error(fault)
			}
		}
	}
}

// exported finds the compiled declarations of what the floors import.
func exported(t *testing.T) importer.Lookup {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", "./patterns/kinds", "./gateway").Output()
	if err != nil {
		t.Fatalf("go list -export: %v", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}

// faultsOf lists what a file does that a replay could not repeat.
func faultsOf(fset *token.FileSet, f *ast.File, info *types.Info) []string {
	name := filepath.ToSlash(fset.Position(f.Pos()).Filename)
	var faults []string
	say := func(n ast.Node, what string) { faults = append(faults, fset.Position(n.Pos()).String()+": "+what) }
	for _, spec := range f.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		if (slices.Contains(forbidden, path) || path == "context" || path == "runtime/debug") && !slices.Contains(open[name], path) {
			say(spec, "imports "+path)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			say(n, "starts a goroutine")
		case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
			say(n, "uses a channel")
		case *ast.RangeStmt:
			if _, isMap := info.TypeOf(n.X).Underlying().(*types.Map); isMap && !orderless(n) {
				say(n, "ranges over a map; sort its keys")
			}
		case *ast.Ident:
			if what := world(info.Uses[n], name); what != "" {
				say(n, what)
			}
		}
		return true
	})
	return faults
}

// orderless reports whether a loop over a map only fills another one, key by key: its order cannot be seen.
func orderless(loop *ast.RangeStmt) bool {
	key, ok := loop.Key.(*ast.Ident)
	return ok && !slices.ContainsFunc(loop.Body.List, func(s ast.Stmt) bool { return !fillsAt(s, key.Name) })
}

// fillsAt reports whether a statement only sets m[key], perhaps under a condition.
func fillsAt(s ast.Stmt, key string) bool {
	switch s := s.(type) {
	case *ast.IfStmt:
		return s.Else == nil && !slices.ContainsFunc(s.Body.List, func(s ast.Stmt) bool { return !fillsAt(s, key) })
	case *ast.AssignStmt:
		at, ok := s.Lhs[0].(*ast.IndexExpr)
		if !ok || len(s.Lhs) != 1 {
			return false
		}
		index, ok := at.Index.(*ast.Ident)
		return ok && index.Name == key
	}
	return false
}

// world names a use of the clock or of recover.
func world(o types.Object, file string) string {
	switch o := o.(type) {
	case *types.Builtin:
		if o.Name() == "recover" && file != "gateway/permit.go" {
			return "recovers"
		}
	case *types.Func:
		if o.Pkg() != nil && o.Pkg().Path() == "time" && o.Type().(*types.Signature).Recv() == nil &&
			slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}, o.Name()) {
			return "reads the clock: time." + o.Name()
		}
	}
	return ""
}
