package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"patterngate/server/cli/console"
)

// Who calls a held tool by its name hears that it is held and what accepts it, and each warning once.
func TestCallOfAHeldTool(t *testing.T) {
	s := newOwnScene(t, "  expose: [look]\n", "patterns: {slip: {kind: call, tool: drift}}\n")
	for name, tool := range map[string]string{"look": "crm/look", "slip": "crm/drift"} {
		code, _, errs := s.command(t, nil, "call", name)
		if code != console.ExitUsage || !strings.Contains(errs, "call: "+name+" is held: the server's declaration is not accepted\n") ||
			!strings.Contains(errs, "try: patterngate catalog accept "+tool+" --config "+filepath.Join(s.dir, "pg.yaml")+" --state ") {
			t.Errorf("call %s ends with %d: %s", name, code, errs)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(errs) {
			if strings.HasPrefix(line, "warning:") && seen[line] {
				t.Errorf("call %s warns twice: %s", name, line)
			}
			seen[line] = true
		}
	}
	if code, _, errs := s.command(t, nil, "call", "lookk"); code != console.ExitUsage || !strings.Contains(errs, "no tool lookk") {
		t.Errorf("call lookk ends with %d: %s", code, errs)
	}
}

// A run of kind call that waits while its tool is accepted otherwise ends with what a held tool's calls end with, and waits for
// nothing that never comes.
func TestWaitingCallOfAToolHeldSince(t *testing.T) {
	t.Parallel()
	const noting = "        note: {effect: write}\n"
	s := newOwnScene(t, noting, "patterns: {see: {kind: call, tool: note}}\n")
	s.must(t, "catalog", "accept", "--yes")
	if err := os.Mkdir(s.calls, 0o700); err != nil { // so that the server dies of a call
		t.Fatal(err)
	}
	_, out, errs := s.command(t, nil, "call", "see", "q=a", "--json")
	if err := os.Remove(s.calls); err != nil {
		t.Fatal(err)
	}
	run, key := regexp.MustCompile(`run_[0-9a-f]{16}`).FindString(out), "note#1"
	if !strings.Contains(out, "settlement") || !strings.Contains(out, key) {
		t.Fatalf("it is to be settled: %s%s", out, errs)
	}
	s.declare(t, strings.Replace(sceneList, "Notes.", "Notes elsewhere.", 1))
	s.must(t, "catalog", "accept", "--yes")
	s.write(t, noting, "patterns: {see: {kind: call, tool: note, budget: {max_seconds: 20}}}\n")
	s.must(t, "runs", "settle", run, key, "--did-not-happen")
	if out := s.must(t, "runs", "resume", run); out != run+" stopped tool_unavailable:note\n" {
		t.Errorf("it goes on to %s", out)
	}
	if called := s.called(t); len(called) != 0 {
		t.Errorf("calls of %q", called)
	}
}
