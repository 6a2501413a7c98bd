package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog/pins"
	"patterngate/server/cli/console"
)

// acceptStates are the states that catalog accept --json tells, by tool, and how it ended.
func acceptStates(t *testing.T, s *ownScene, secrets []string, args ...string) (map[string]string, int, string) {
	t.Helper()
	code, out, errs := s.command(t, secrets, append([]string{"catalog", "accept", "--json"}, args...)...)
	var rows []struct{ Tool, State string }
	if out != "" {
		if err := json.Unmarshal([]byte(out), &rows); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	states := map[string]string{}
	for _, r := range rows {
		states[r.Tool] = r.State
	}
	return states, code, errs
}

// What a server declares is new, the same, changed or missing against the lock, and only what was accepted is ready.
func TestCatalogAccept(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", "")
	steps := []struct {
		name, tools string
		args        []string
		want        map[string]string
		code        int
		listed      map[string]string // what catalog list says then
	}{
		{"not asked", sceneList, nil, map[string]string{"crm/look": "new", "crm/drift": "new"}, console.ExitUsage, map[string]string{"look": "held", "drift": "held"}},
		{"one", sceneList, []string{"crm/look", "--yes"}, map[string]string{"crm/look": "new"}, console.ExitDone, map[string]string{"look": "ready", "drift": "held"}},
		{"all", sceneList, []string{"--yes"}, map[string]string{"crm/look": "same", "crm/drift": "new"}, console.ExitDone, map[string]string{"look": "ready", "drift": "ready"}},
		{"again", sceneList, nil, map[string]string{"crm/look": "same", "crm/drift": "same"}, console.ExitDone, map[string]string{"look": "ready", "drift": "ready"}},
		{"changed", strings.Replace(sceneList, "Looks.", "Looks, and mails it.", 1), []string{"crm", "--yes"}, map[string]string{"crm/look": "changed", "crm/drift": "same"}, console.ExitDone, map[string]string{"look": "ready", "drift": "ready"}},
		{"missing", `[{"name":"drift","description":"Drifts.","inputSchema":{"type":"object","additionalProperties":true}}]`, []string{"--yes"}, map[string]string{"crm/look": "missing", "crm/drift": "same"}, console.ExitFault, map[string]string{"look": "ready", "drift": "ready"}},
		{"unreachable", "no list", []string{"--yes"}, map[string]string{"crm/look": "unreachable", "crm/drift": "unreachable"}, console.ExitFault, map[string]string{"look": "ready", "drift": "ready"}},
	}
	for _, step := range steps {
		s.declare(t, step.tools)
		got, code, errs := acceptStates(t, s, nil, step.args...)
		if diff := cmp.Diff(step.want, got); diff != "" || code != step.code {
			t.Errorf("%s: ends with %d, want %d; %s; states (-want +got):\n%s", step.name, code, step.code, errs, diff)
		}
		var rows []struct{ Name, State, Why string }
		if err := json.Unmarshal([]byte(s.must(t, "catalog", "list", "--json")), &rows); err != nil {
			t.Fatal(err)
		}
		listed := map[string]string{}
		for _, r := range rows {
			listed[r.Name] = r.State
		}
		if diff := cmp.Diff(step.listed, listed); diff != "" {
			t.Errorf("%s: catalog list (-want +got):\n%s", step.name, diff)
		}
	}
}

// The difference is shown as words and values, and what a server wrote moves no cursor.
func TestCatalogAcceptShowsTheDifference(t *testing.T) {
	s := newOwnScene(t, "", "")
	s.must(t, "catalog", "accept", "--yes")
	s.declare(t, strings.Replace(sceneList, "Looks.", `Looks.\u001b[2J\u202eEvil`, 1))
	code, out, errs := s.command(t, nil, "catalog", "accept", "--yes")
	if code != console.ExitDone || !strings.Contains(out, "crm/look changed\n  - /description \"Looks.\"\n  + /description ") || !strings.Contains(out, "crm/drift same\n") {
		t.Errorf("catalog accept ends with %d: %s%s", code, out, errs)
	}
	if strings.ContainsAny(out+errs, "\x1b\u202e") {
		t.Errorf("what the server wrote reaches the terminal: %q", out)
	}
	for name, args := range map[string][]string{
		"no such server": {"catalog", "accept", "erp"}, "a tool that the file does not name": {"catalog", "accept", "crm/note"},
	} {
		if code, _, errs := s.command(t, nil, args...); code != console.ExitUsage || !strings.Contains(errs, "patterngate catalog list") {
			t.Errorf("%s ends with %d: %s", name, code, errs)
		}
	}
}

// A server that repeats its secret in what it declares is not accepted: the lock, the terminal and each client would have it.
func TestCatalogAcceptKeepsSecrets(t *testing.T) {
	const secret = "s3cret-of-the-crm"
	s := newOwnScene(t, "", "")
	path := filepath.Join(s.dir, "key")
	text := strings.Replace(readFile(t, s.config), "env: {", fmt.Sprintf("env: {API_KEY: {secret: %q}, ", "file:"+path), 1)
	if err := errors.Join(os.WriteFile(path, []byte(secret), 0o600), os.WriteFile(s.config, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	s.declare(t, strings.Replace(sceneList, "Looks.", "Looks with "+secret, 1))
	want := map[string]string{"crm/look": "unreachable", "crm/drift": "new"}
	got, code, errs := acceptStates(t, s, nil, "--yes")
	if diff := cmp.Diff(want, got); diff != "" || code != console.ExitFault || !strings.Contains(errs, "repeats a secret") {
		t.Errorf("ends with %d: %s; states (-want +got):\n%s", code, errs, diff)
	}
	_, out, errs := s.command(t, nil, "catalog", "accept", "--yes")
	if strings.Contains(out+errs+readFile(t, s.lock), secret) {
		t.Errorf("the secret is shown or kept: %s%s%s", out, errs, readFile(t, s.lock))
	}
}

// With an approver key an acceptance counts by its signature alone: an older one is shown as unsigned, one that was written
// by hand or tampered with is held.
func TestCatalogAcceptIsSigned(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", "patterns: {see: {kind: call, tool: look}}\n")
	s.must(t, "catalog", "accept", "--yes")
	id := s.enrol(t)
	heldHere := func(why string) {
		t.Helper()
		c := s.serve(t)
		if strings.Contains(c.tools(), " see ") {
			t.Errorf("%s: the call of a held tool is listed", why)
		}
		c.refuses("see", `{}`)
		if code, _, errs := s.command(t, nil, "call", "see"); code != console.ExitUsage || !strings.Contains(errs, "call: see is held") {
			t.Errorf("%s: call see ends with %d: %s", why, code, errs)
		}
		if called := s.called(t); len(called) != 0 {
			t.Errorf("%s: calls of %q", why, called)
		}
		if out := s.must(t, "tools"); strings.Contains(out, "see:") || strings.Contains(out, "Looks.") {
			t.Errorf("%s: tools shows %s", why, out)
		}
		var rows []struct{ Name, State, Why string }
		if err := json.Unmarshal([]byte(s.must(t, "catalog", "list", "--json")), &rows); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Name == "look" && (r.State != "held" || !strings.Contains(r.Why, "no approver key signed")) {
				t.Errorf("%s: catalog list says %+v", why, r)
			}
		}
	}
	heldHere("accepted before there was a key")
	if _, out, errs := s.command(t, nil, "catalog", "accept", "--yes"); !strings.Contains(out, "crm/look unsigned\n  + /description \"Looks.\"\n") ||
		!strings.Contains(out, "  + /inputSchema ") && !strings.Contains(out, "  + /inputSchema/") {
		t.Errorf("what is to be signed is not shown: %s%s", out, errs)
	}
	before := readFile(t, s.lock)
	s.rewriteLock(t, func(tools map[string]any) {
		poison := tools["crm/look"].(map[string]any)
		d := pins.Definition{Name: "look", Description: "Poison.", Input: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`)}
		poison["sha256"], poison["tool"].(map[string]any)["description"] = d.Hash(), d.Description
	})
	s.declare(t, strings.Replace(sceneList, "Looks.", "Poison!", 1))
	if _, out, errs := s.command(t, nil, "catalog", "accept", "--yes"); !strings.Contains(out, "crm/look changed\n  + /description \"Poison!\"\n  + /inputSchema") || strings.Contains(out, "Poison.") {
		t.Errorf("of a change of what nobody signed not all is shown that is to be signed: %s%s", out, errs)
	}
	s.declare(t, sceneList)
	if err := os.WriteFile(s.lock, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"crm/look": "unsigned", "crm/drift": "unsigned"}
	got, code, errs := acceptStates(t, s, nil, "--yes")
	if diff := cmp.Diff(want, got); diff != "" || code == console.ExitDone || readFile(t, s.lock) != before {
		t.Errorf("without a passphrase it ends with %d: %s; the lock was written: %t; states (-want +got):\n%s", code, errs, readFile(t, s.lock) != before, diff)
	}
	got, code, errs = acceptStates(t, s, []string{goodPassphrase}, "--yes")
	if diff := cmp.Diff(want, got); diff != "" || code != console.ExitDone || !strings.Contains(errs, signedBy+" "+id) {
		t.Fatalf("signed it ends with %d: %s; states (-want +got):\n%s", code, errs, diff)
	}
	if got, _, _ = acceptStates(t, s, nil); got["crm/look"] != "same" {
		t.Errorf("what was signed is %v", got)
	}
	if got := s.serve(t).call("see", `{"q":"x"}`); got.Status != "ok" {
		t.Errorf("a call of a tool whose acceptance was signed: %+v", got)
	}
	signed := readFile(t, s.lock)
	if err := os.Remove(s.calls); err != nil {
		t.Fatal(err)
	}
	var lock map[string]any
	if err := json.Unmarshal([]byte(signed), &lock); err != nil {
		t.Fatal(err)
	}
	at(lock, "tools", "crm/look", "accepted").(map[string]any)["signature"] = at(lock, "tools", "crm/drift", "accepted", "signature")
	text, err := json.Marshal(lock)
	if err == nil {
		err = os.WriteFile(s.lock, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	heldHere("with another's signature")
}

// A tool that only reads is tried with one call through the gate; what writes is not.
func TestCatalogTest(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "        note: {effect: write}\n", "")
	s.must(t, "catalog", "accept", "--yes")
	if out := s.must(t, "catalog", "test", "look", "--args", `{"q":"x"}`); !strings.Contains(out, `"q"`) {
		t.Errorf("catalog test shows %s", out)
	}
	if out := s.must(t, "catalog", "test", "look", "q=y"); !strings.Contains(out, `"q":"y"`) {
		t.Errorf("catalog test with key=value shows %s", out)
	}
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"a write":        {[]string{"note"}, console.ExitRefused, "effect write"},
		"what to do":     {[]string{"note"}, console.ExitRefused, "try: give note a policy first (docs/first-rule.md), then: patterngate policy explain --tool note\n"},
		"no such tool":   {[]string{"lok"}, console.ExitUsage, `no tool "lok"; did you mean look?`},
		"no key=value":   {[]string{"look", "x"}, console.ExitUsage, "write key=value"},
		"bad arguments":  {[]string{"look", "--args", `{"q":1}`}, 0, "q"},
		"no arguments":   {[]string{"look", "--args", "{"}, console.ExitUsage, ""},
		"no tool at all": {nil, console.ExitUsage, "patterngate catalog list"},
	} {
		code, out, errs := s.command(t, nil, append([]string{"catalog", "test"}, tt.args...)...)
		if code == console.ExitDone || tt.code != 0 && code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("%s ends with %d: %s%s", name, code, out, errs)
		}
	}
	if diff := cmp.Diff([]string{"look", "look"}, s.called(t)); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// The command that is advised for a tool that writes works, and calls nothing.
func TestCatalogTestAdvice(t *testing.T) {
	t.Parallel()
	const notes = "policies: {notes: {rules: [{id: ok, match: note, approve: {}}]}}\n"
	for want, expose := range map[string]string{"policy explain --tool note": "", "call note": "  expose: [note]\n"} {
		s := newOwnScene(t, "        note: {effect: write, policy: notes}\n"+expose, notes)
		s.must(t, "catalog", "accept", "--yes")
		code, _, errs := s.command(t, nil, "catalog", "test", "note")
		_, line, _ := strings.Cut(errs, "try: patterngate ")
		advised, err := console.SplitWords(strings.TrimSpace(line), false)
		if code != console.ExitRefused || err != nil || !strings.HasPrefix(line, want) {
			t.Errorf("catalog test of a write ends with %d: %s (%v)", code, errs, err)
			continue
		}
		if code, out, errs := s.command(t, nil, advised...); code != console.ExitDone || !strings.Contains(out, "note") {
			t.Errorf("%s ends with %d: %s%s", line, code, out, errs)
		}
		if called := s.called(t); len(called) > 0 {
			t.Errorf("%s: calls %v", line, called)
		}
	}
}

// A tool that the server spells otherwise has its name there.
func TestCatalogAcceptNamesTheNearestTool(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "        drfit: {effect: read}\n", "")
	if code, out, errs := s.command(t, nil, "catalog", "accept", "--yes"); code != console.ExitFault || !strings.Contains(out, "crm/drfit missing: the server has no such tool; it has look, drift, note; did you mean drift?\n") {
		t.Errorf("catalog accept of a misspelt tool ends with %d: %s%s", code, out, errs)
	}
}

// A server that is off, or of which the file names no tool, is started by its name. The command prints the lines that add
// its tools, and the line to edit. It accepts nothing.
func TestCatalogAcceptListsWhatAServerOffers(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", "")
	s.declare(t, `[{"name":"look","description":"Looks\u001b[2J.","inputSchema":{"type":"object"}},{"name":"files.read","inputSchema":{"type":"object"}}]`)
	text := strings.Replace(readFile(t, s.config), "      tools:\n        look: {effect: read}\n        drift: {effect: read}\n", "      tools: {}\n", 1)
	line := 1 + strings.Count(strings.SplitN(text, "    crm:", 2)[0], "\n")
	try := fmt.Sprintf("try: edit %s:%d\n", s.config, line)
	lines := "Say what each one does: effect: read, write or destructive. The lines say write, whatever the server says.\n" +
		"        look: {effect: write}   # Looks\\u001b[2J.\n        files.read: {as: files_read, effect: write}\n"
	for name, tt := range map[string]struct{ entry, why string }{
		"no tools": {text, "the file names no tool of server crm"},
		"off":      {strings.Replace(text, "      tools: {}", "      enabled: false\n      tools: {}", 1), "server crm is disabled in the file"},
	} {
		putFile(t, s.config, tt.entry)
		for _, arg := range []string{"crm", "crm/look"} {
			code, out, errs := s.command(t, nil, "catalog", "accept", arg, "--yes")
			if code != console.ExitUsage || !strings.Contains(out, "crm has 2 tools that the file does not name") || !strings.HasSuffix(out, lines) ||
				!strings.Contains(errs, tt.why) || strings.Contains(errs, "It was started") || !strings.HasSuffix(errs, try) {
				t.Errorf("%s: catalog accept %s ends with %d:\n%s%swant\n%s%s", name, arg, code, out, errs, lines, try)
			}
			if _, err := os.Stat(s.lock); err == nil {
				t.Errorf("%s: something was accepted", name)
			}
		}
	}
	s.declare(t, "no list")
	if code, out, errs := s.command(t, nil, "catalog", "accept", "crm", "--yes"); code != console.ExitUsage || out != "" || !strings.Contains(errs, "the server was started to list its tools, but: ") || !strings.HasSuffix(errs, try) {
		t.Errorf("a server that lists nothing: ends with %d: %s%s", code, out, errs)
	}
}

// A tool that is off is listed, and the command that accepts it names the line to edit.
func TestCatalogAcceptNamesTheLine(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "        note: {enabled: false}\n", "")
	if out := s.must(t, "catalog", "list"); !regexp.MustCompile(`(?m)^note +crm +- +off `).MatchString(out) {
		t.Errorf("catalog list shows\n%s", out)
	}
	line := 1 + strings.Count(strings.SplitN(readFile(t, s.config), "note: {enabled", 2)[0], "\n")
	if code, _, errs := s.command(t, nil, "catalog", "accept", "crm/note"); code != console.ExitUsage || !strings.HasSuffix(errs, fmt.Sprintf("try: edit %s:%d\n", s.config, line)) {
		t.Errorf("catalog accept of a tool that is off ends with %d: %s", code, errs)
	}
	s.must(t, "catalog", "accept", "--yes")
	if out := s.must(t, "catalog", "accept"); !strings.Contains(out, "nothing to accept; off: 1 tool, see patterngate catalog list\n") {
		t.Errorf("catalog accept with nothing to accept says %s", out)
	}
	if code, _, errs := s.command(t, nil, "catalog", "test", "note"); code != console.ExitUsage || !strings.Contains(errs, "note is off") {
		t.Errorf("catalog test of a tool that is off ends with %d: %s", code, errs)
	}
	if code, _, errs := s.command(t, nil, "catalog", "accept", "crm/loko"); code != console.ExitUsage || !strings.Contains(errs, "did you mean look?") {
		t.Errorf("catalog accept crm/loko ends with %d: %s", code, errs)
	}
}

// A service that refuses the token is named to the person at the terminal, with its answer and the place of the token, and without the token.
func TestCatalogTestNamesARefusedToken(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer service.Close()
	s := newOwnScene(t, "", "")
	putFile(t, filepath.Join(s.dir, "token"), "wrong-token-81")
	s.write(t, `  allow_networks: ["127.0.0.1/32"]
  http:
    ask: {description: Asks., effect: read, input: {}, request: {method: GET, url: '`+service.URL+`/x', headers: {Authorization: {secret: "file:token", prefix: "Bearer "}}}}
`, "")
	code, out, errs := s.command(t, nil, "catalog", "test", "ask")
	if code == console.ExitDone || !strings.Contains(out, "tool_error:ask") || strings.Contains(out+errs, "wrong-token-81") {
		t.Errorf("it ends with %d: %s%s", code, out, errs)
	}
	for _, want := range []string{"service refused the credentials", "tool=ask", "status=401", "request.headers"} {
		if !strings.Contains(errs, want) {
			t.Errorf("standard error does not say %q:\n%s", want, errs)
		}
	}
}
