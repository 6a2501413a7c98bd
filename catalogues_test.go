package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// catalogues are the packages whose texts for people and models are in one file, texts.go, or in several by topic, texts_TOPIC.go. Each may also have tables that are
// data already. A table is named by the top-level declaration that holds it, a method as Type.Method. Descriptions in struct tags
// are such tables, too.
var catalogues = map[string][]string{
	"catalog":                 {"Tool.withFixed"},
	"catalog/httptool":        nil,
	"catalog/pins":            nil,
	"catalog/resilience":      nil,
	"catalog/upstream":        nil,
	"gateway":                 {"Permit.Perform"},
	"gateway/approver":        nil,
	"gateway/document":        nil,
	"gateway/planning":        nil,
	"gateway/policy":          nil,
	"gateway/policy/expr":     {"wording.fault"},
	"ijson":                   {"Bind", "check", "ReasonAfter", "ReasonIntegerRange", "ReasonNumberRange"},
	"patterns/decisions":      {"askedCursor"},
	"patterns/execution":      nil,
	"patterns/llm/offline":    {"looking", "generic", "labels", "cues", "directions", "linking", "fillers", "introduces", "where"},
	"patterns/local":          {"planPlace.cursor"},
	"patterns/record":         {"Story.Receipt"},
	"patterns/reference":      nil,
	"server":                  nil,
	"server/arguments":        {"noShape", "planShape", "Schema", "CheckCall", "singleSchema", "withoutHeaders"},
	"server/assembly":         {"partsMaker.asked"},
	"server/cli/clientfile":   {"Clients"},
	"server/cli/importer":     {"Commands.Command", "starterText"},
	"server/cli/call":         {"callHelp", "Commands.Command"},
	"server/cli":              {"app.root", "strictHelpers", "rootShort", "rootLong", "rootExample", "rootMore", "seeGlobalFlags", "helpShort", "helpLong", "flagsLong", "flagsPage", "completionLong", "completionPage", "serveCommands.serveCommand", "versionCommands.versionCommand"},
	"server/cli/catalogcmd":   {"Commands.acceptCommand", "Commands.Command", "Commands.listCommand", "Commands.testCommand"},
	"server/cli/inbox":        {"Flag", "Commands.Command"},
	"server/cli/operations":   {"Commands.StateCommand", "Commands.KillSwitch", "Commands.turn", "Commands.status", "Commands.Reload"},
	"server/cli/policycheck":  {"Commands.Command", "Commands.policyTestCommand", "Commands.policyExplainCommand", "Commands.policyCoverageCommand", "Commands.policyBacktestCommand", "Commands.policyDiffCommand", "Commands.policyRecordCommand"},
	"server/cli/recordtext":   nil,
	"server/cli/toolargs":     {"jsonTypes"},
	"server/cli/setup":        {"Commands.Command"},
	"server/cli/story":        nil,
	"server/cli/trial":        nil,
	"server/describe":         nil,
	"server/envelope":         {"outputWords"},
	"server/notify":           {"desk.argv"},
	"server/outcome":          {"whereToDecide", "account.unsettled"},
	"server/progress":         nil,
	"server/settings":         {"Aggregate.keys", "healthItems", "budgetKeys", "inheritedKeys", "callsPerToolKey", "sameCallKey", "perToolKey", "Config.Embed", "HTTP.keys", "approverKeys", "Config.Keys", "ModelRole.keys", "PatternLLM.keys", "refundParams", "Pattern.paramsKey", "planningBudgetKeys", "Pattern.Keys", "Pattern.handsKeys", "Pattern.textKeys", "Wait.keys"},
	"server/settings/grammar": nil,
	"server/settings/machine": nil,
	"server/settings/rules":   {"Policy.keys", "windowKeys", "rowKeys", "effectKeys", "ruleKeys", "outcomeKeys", "blockKeys", "escalateKeys"},
	"server/settings/tools":   {"HTTPTool.keys", "Request.keys", "Catalog.keys", "Server.keys", "Stdio.keys", "Endpoint.keys", "Tool.keys", "reconcileKey", "ServerTool.keys"},
	"server/settings/yamldoc": nil,
	"server/status":           {"planStatusMembers", "runMembers", "listMembers", "New"},
	"server/web":              {"eventOf"},
	"server/web/wording":      {"Duration", "doubled", "roughly", "verbs"},
	"server/transport":        {"lateHead", "readHeaders"},
}

// forProgrammers matches errors that only Go programs see: they begin with the name of a package.
var forProgrammers = regexp.MustCompile(`^(catalog|gateway|ijson|local|policy|rules|server|upstream|web): `)

// Prose of four words or more is in the catalogue, or in a named table.
func TestCatalogues(t *testing.T) {
	for dir, tables := range catalogues {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
		if err != nil || !slices.ContainsFunc(files, func(f string) bool { return filepath.Base(f) == "texts.go" }) {
			t.Errorf("%s has no texts.go (%v)", dir, err)
		}
		used := map[string]bool{}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || isCatalogue(file) {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts, err := goTexts(filepath.ToSlash(file), content)
			if err != nil {
				t.Fatal(err)
			}
			of := declarations(t, file, content)
			for _, prose := range texts {
				table := of(prose.line)
				if slices.Contains(tables, table) {
					used[table] = true
				}
				if table == "" || slices.Contains(tables, table) || forProgrammers.MatchString(prose.words) {
					continue
				}
				t.Errorf("%s:%d (%s): %q; move it to %s/texts.go", prose.file, prose.line, of(prose.line), prose.words, dir)
			}
		}
		for _, table := range tables {
			if !used[table] {
				t.Errorf("%s: the table %s has no prose; remove it from the list", dir, table)
			}
		}
	}
}

// declarations returns a function that names the top-level declaration of a line.
func declarations(t *testing.T, file string, content []byte) func(line int) string {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	type span struct {
		from, to int
		name     string
	}
	var spans []span
	add := func(n ast.Node, name string) {
		spans = append(spans, span{set.Position(n.Pos()).Line, set.Position(n.End()).Line, name})
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				of := d.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				if id, ok := of.(*ast.Ident); ok {
					name = id.Name + "." + name
				}
			}
			add(d, name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					add(v, v.Names[0].Name)
				}
			}
		}
	}
	return func(line int) string {
		for _, s := range spans {
			if s.from <= line && line <= s.to {
				return s.name
			}
		}
		return ""
	}
}
