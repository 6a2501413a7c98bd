package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// deciders are the files that may hand in a person's decision, and why. The MCP surface (package server, and what it may
// import, see [floors]) is not among them and knows no port to do it by: no message can approve.
var deciders = map[string]string{
	"server/cli/approvals/decide.go": "the commands",
	"server/web/decide.go":           "the page",
	"server/cli/trial/child.go":      "the person of a proof, in a state file of its own",
}

// surfaces are the packages of the MCP surface.
var surfaces = []string{"server", "server/arguments", "server/describe", "server/envelope", "server/outcome", "server/progress", "server/sentence", "server/status", "server/transport"}

// portsOfPeople are what only a person's door may name: the decision itself, the port that takes it, and what vouches for
// one.
var portsOfPeople = map[string]bool{
	"patterns.Decided": true, "patterns.Approvals": true, "patterns.Owner": true, "gateway.Answered": true, "gateway.Signer": true, "gateway.SignedAct": true,
}

func TestOnlyPeoplesDoorsDecide(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir("server", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		path = filepath.ToSlash(path)
		dir := filepath.ToSlash(filepath.Dir(path))
		surface := slices.Contains(surfaces, dir)
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if nameOf(n.Type) == "patterns.Decided" {
					seen[path] = true
				}
			case *ast.SelectorExpr:
				if surface && (portsOfPeople[nameOf(n)] || n.Sel.Name == "Approvals" || n.Sel.Name == "Operator" || n.Sel.Name == "Decide") {
					t.Errorf("%s names %s: no message may decide", path, nameOf(n))
				}
			case *ast.InterfaceType:
				for _, m := range n.Methods.List {
					for _, name := range m.Names {
						if surface && (name.Name == "Approvals" || name.Name == "Operator" || name.Name == "Decide" || name.Name == "SignIn") {
							t.Errorf("%s asks for a method %s: no message may decide", path, name.Name)
						}
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range seen {
		if deciders[path] == "" {
			t.Errorf("%s makes decisions; only %v may", path, deciders)
		}
	}
	for path := range deciders {
		if !seen[path] {
			t.Errorf("%s makes no decisions; the list is old", path)
		}
	}
}

// nameOf is an expression as it is written: "package.Name", or only what is selected.
func nameOf(e ast.Expr) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if of, ok := s.X.(*ast.Ident); ok {
		return of.Name + "." + s.Sel.Name
	}
	return s.Sel.Name
}
