package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if code == console.ExitDone || !strings.Contains(out+errs, "127.0.0.1 is a loopback address") || !strings.Contains(out+errs, line) || strings.Contains(out+errs, "could not be reached") {
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

// What does no harm by itself is a warning.
func TestCatalogWarnings(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	file := "version: 1\n" +
		"catalog:\n" +
		"  expose: [charge]\n" +
		"  servers:\n" +
		"    crm: {stdio: {command: prog, args: [{secret: 'env:ARG'}], env: {A_TOKEN: {secret: 'file:gone'}}}, tools: {find: {effect: read, idempotent: false}}}\n" +
		"  http:\n" +
		"    charge: {description: Pays., effect: write, request: {method: POST, url: 'https://a.example'}}\n" +
		"patterns: {plan: {tools: [find], allow: {policy: [charge, fnd]}}}\n"
	_, warnings, err := loadText(t, file, binaries(t, "prog"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		line := w.String()
		if at := strings.Index(line, "nowhere: /"); at >= 0 {
			line = line[:at+9] + "DIR" + line[strings.Index(line, "/gone"):]
		}
		got = append(got, line)
	}
	want := []string{
		"warning: pg.yaml:3:12: catalog.expose[0]: charge writes, and no policy judges it; write policy: NAME here or at the tool",
		"warning: pg.yaml:5:41: catalog.servers.crm.stdio.args[0]: a secret in an argument: other users of this machine see command lines; give it in env, if the program takes it there",
		"warning: pg.yaml:5:41: catalog.servers.crm.stdio.args[0]: leads nowhere: ARG is not set; calls that need it are refused until it does",
		"warning: pg.yaml:5:78: catalog.servers.crm.stdio.env.A_TOKEN: leads nowhere: DIR/gone: no such file or directory; calls that need it are refused until it does",
		"warning: pg.yaml:5:117: catalog.servers.crm.tools.find: held: nobody accepted it; run patterngate catalog accept crm/find",
		"warning: pg.yaml:5:144: catalog.servers.crm.tools.find.idempotent: a read is always idempotent; leave it out",
		"warning: pg.yaml:8:51: patterns.plan.allow.policy[0]: charge is not among tools; write it in patterns.plan.tools too",
		"warning: pg.yaml:8:59: patterns.plan.allow.policy[1]: no tool fnd; did you mean find?",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
