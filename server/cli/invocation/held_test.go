package invocation

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// All held tools of a file are one warning, in place of the first. Other warnings stay as they are.
func TestHeldToolsAreOneWarning(t *testing.T) {
	warning := func(file, tool string) yamldoc.Fault {
		return yamldoc.Fault{File: file, Line: 3, Column: 1, Severity: yamldoc.SeverityWarning, Reason: "reason", Held: tool}
	}
	many := []yamldoc.Fault{}
	for i := range 10 {
		many = append(many, warning("m.yaml", fmt.Sprintf("t%d", i)))
	}
	for _, tt := range []struct {
		warnings []yamldoc.Fault
		want     string
	}{
		{[]yamldoc.Fault{warning("a.yaml", "find"), warning("a.yaml", "find")},
			"warning: a.yaml: 1 tool is held until you accept it: find; run patterngate catalog accept\n"},
		{[]yamldoc.Fault{warning("a.yaml", ""), warning("a.yaml", "find"), warning("b.yaml", "see"), warning("a.yaml", "note"), warning("a.yaml", "find")},
			"warning: a.yaml:3:1: reason\n" +
				"warning: a.yaml: 2 tools are held until you accept them: find, note; run patterngate catalog accept\n" +
				"warning: b.yaml: 1 tool is held until you accept it: see; run patterngate catalog accept\n"},
		{many, "warning: m.yaml: 10 tools are held until you accept them: t0, t1, t2, t3, t4, t5, t6, t7 and 2 more; run patterngate catalog accept\n"},
	} {
		var errs strings.Builder
		a := &Invocation{Console: console.Console{Out: io.Discard, Err: &errs}}
		a.Warn(tt.warnings)
		a.Warn(tt.warnings)
		if errs.String() != tt.want {
			t.Errorf("%v: printed %q, want %q", tt.warnings, errs.String(), tt.want)
		}
	}
}

// A command that does not check the configuration prints no advice about phrases. One that does gets it from assembly.Load.
func TestAdviceIsForCommandsThatCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pg.yaml")
	const text = `version: 1
catalog:
  http:
    pay: {description: Pays., effect: write, policy: money, input: {}, request: {method: POST, url: "https://a.example/x"}}
  expose: [pay]
policies:
  money: {rules: [{id: ask, match: pay, escalate: {}}]}
patterns: {run_task_decomposition: {allow: {policy: [nope]}}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, warnings, err := assembly.Load(settings.Sources{Path: path}, assembly.LoadOptions{})
	if err != nil || !slices.ContainsFunc(warnings, func(w yamldoc.Fault) bool { return strings.Contains(w.String(), "it has no phrase") }) {
		t.Fatalf("warnings %v, %v", warnings, err)
	}
	for name, load := range map[string]func(*Invocation) (assembly.Loaded, error){
		"load": (*Invocation).Load, "to accept": (*Invocation).LoadToAccept,
		"state": func(a *Invocation) (assembly.Loaded, error) { return a.StateConfig("runs", "") },
	} {
		var errs bytes.Buffer
		a := &Invocation{Console: console.Console{Err: &errs}, Config: path}
		if _, err := load(a); err != nil || strings.Contains(errs.String(), "phrase") || !strings.Contains(errs.String(), "nope") {
			t.Errorf("%s: %v, printed\n%s", name, err, errs.String())
		}
	}
}
