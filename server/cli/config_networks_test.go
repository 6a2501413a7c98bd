package cli

import (
	"strings"
	"testing"

	"patterngate/server/cli/console"
)

// The catalogue's list, and a call, say the cause and the line too.
func TestClosedAddressIsTheCallsError(t *testing.T) {
	s := newOwnScene(t, "  http:\n    ask: {description: Asks., effect: read, input: {}, request: {method: GET, url: 'http://127.0.0.1:9/x'}}\n  expose: [ask]\n", "")
	const line = `allow_networks: ["127.0.0.1/32"]`
	if out := s.must(t, "catalog", "list"); !strings.Contains(out, "127.0.0.1 is a loopback address") || !strings.Contains(out, line) {
		t.Errorf("catalog list does not say why ask cannot be called:\n%s", out)
	}
	code, out, errs := s.command(t, nil, "call", "ask")
	if code == console.ExitDone || !strings.Contains(out+errs, "127.0.0.1 is a loopback address") || !strings.Contains(out+errs, line) || strings.Contains(out+errs, "cannot be reached") {
		t.Errorf("call ends with %d and says\n%s%s\nwant the cause and %s", code, out, errs, line)
	}
	if code, out, errs := s.command(t, nil, "validate", "--strict"); code != console.ExitFault || !strings.Contains(errs, line) {
		t.Errorf("validate --strict ends with %d: %s%s", code, out, errs)
	}
}

// Commands that need only the state file work while the configuration has faults; those that carry runs on do not.
func TestFaultyConfigurationLeavesTheState(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", "patterns: {see: {kind: call, tool: look}}\n")
	s.must(t, "catalog", "accept", "--yes")
	s.must(t, "call", "see", `q=1`)
	list := s.must(t, "runs", "list", "--json")
	if !strings.Contains(list, "run_") {
		t.Fatalf("no run is recorded: %s", list)
	}
	s.write(t, "", "patternss: {}\nstate: "+s.state+"\n")
	for _, args := range [][]string{{"runs", "list", "--json"}, {"runs", "verify", "--all"}, {"runs", "stats"}, {"approvals", "list"}, {"approvals", "keys"}, {"kill-switch", "status"}} {
		code, out, errs := s.command(t, nil, args...)
		if code != console.ExitDone {
			t.Errorf("%v ends with %d: %s%s", args, code, out, errs)
		}
		if !strings.Contains(errs, "patternss: unknown key") || !strings.Contains(errs, s.state) {
			t.Errorf("%v does not warn of the faults and name the state file: %s", args, errs)
		}
		if args[1] == "list" && args[0] == "runs" && out != list {
			t.Errorf("%v shows\n%s\nwant what it showed before\n%s", args, out, list)
		}
	}
	for _, args := range [][]string{{"runs", "resume", "run_0000"}, {"serve"}, {"tools"}} {
		if code, out, errs := s.command(t, nil, args...); code == console.ExitDone || !strings.Contains(errs, "patternss") {
			t.Errorf("%v ends with %d and %s%s, want the faults", args, code, out, errs)
		}
	}
}
