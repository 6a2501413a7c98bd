package invocation

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"patterngate/server/cli/console"
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
