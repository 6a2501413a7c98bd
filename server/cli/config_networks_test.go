package cli

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"patterngate/server/cli/console"
	"patterngate/server/settings/tools"
)

// An address that is never dialled is told of when the file is read, at its place and with the line to add; with that line the
// warning is gone.
func TestClosedAddressesAreWarnedOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:8080/x/{id}": `127.0.0.1 is a loopback address, and Patterngate does not dial it, so every call fails; write allow_networks: ["127.0.0.1/32"] in catalog`,
		"https://10.1.2.3/x":           `10.1.2.3 is a private address, and Patterngate does not dial it, so every call fails; write allow_networks: ["10.1.2.3/32"] in catalog`,
		"http://[::1]:8080/x":          `::1 is a loopback address, and Patterngate does not dial it, so every call fails; write allow_networks: ["::1/128"] in catalog`,
		"http://localhost:8080/x":      `localhost leads to 127.0.0.1, a loopback address, and Patterngate does not dial it, so every call fails; write allow_networks: ["127.0.0.1/32", "::1/128"] in catalog`,
		"https://pay.example.com/x":    "",
	} {
		for place, text := range map[string]string{
			"catalog.http.find.request.url":  "version: 1\ncatalog:\n  http: {find: {description: Finds., effect: read, input: {id: {type: string}}, request: {method: GET, url: '" + url + "'}}}\n",
			"catalog.servers.crm.http.url":   "version: 1\ncatalog:\n  servers: {crm: {http: {url: '" + strings.ReplaceAll(url, "/{id}", "") + "'}, tools: {look: {effect: read}}}}\n",
			"catalog.servers.down.http.url!": "version: 1\ncatalog:\n  servers: {down: {enabled: false, http: {url: '" + strings.ReplaceAll(url, "/{id}", "") + "'}, tools: {look: {effect: read}}}}\n",
		} {
			told := func(text string) (lines []string) {
				_, warnings, err := loadText(t, text)
				if err != nil {
					t.Fatalf("%v in\n%s", err, text)
				}
				for _, w := range warnings {
					if strings.Contains(w.Reason, "does not dial") {
						lines = append(lines, w.Path+": "+w.Reason+"; "+w.Want)
						if w.Line != 3 {
							t.Errorf("%s is in line 3", w)
						}
					}
				}
				return lines
			}
			got := told(text)
			if want == "" || strings.HasSuffix(place, "!") {
				if got != nil {
					t.Errorf("%s at %s: %q, want no warning", url, place, got)
				}
				continue
			}
			if len(got) != 1 || got[0] != place+": "+want {
				t.Errorf("%s: %q\nwant %q", url, got, place+": "+want)
				continue
			}
			line := strings.TrimSuffix(want[strings.Index(want, "allow_networks"):], " in catalog")
			if got := told(strings.Replace(text, "catalog:\n", "catalog:\n  "+line+"\n", 1)); got != nil {
				t.Errorf("%s with the line %s: %q", url, line, got)
			}
		}
	}
}

// What is allowed already stays in the line to write: a list in the file replaces nothing else.
func TestClosedAddressKeepsWhatIsAllowed(t *testing.T) {
	allow := []netip.Prefix{netip.MustParsePrefix("192.168.0.0/16")}
	if closed := tools.ClosedHostOf("http://127.0.0.1/", allow); closed == nil || closed.Remedy(allow) != `write allow_networks: ["192.168.0.0/16", "127.0.0.1/32"] in catalog` {
		t.Errorf("closedHostOf = %+v", closed)
	}
	if closed := tools.ClosedHostOf("http://192.168.3.4/", allow); closed != nil {
		t.Errorf("an allowed address: %+v", closed)
	}
}

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
	found := &findings{}
	(&doctorCommands{newStateOpener(&invocation{Console: console.Console{Environ: []string{"HOME=" + s.dir}}, config: s.config}, nil, nil)}).examineConfig(found)
	if !slices.ContainsFunc(found.rows, func(r doctorRow) bool { return r.State == doctorWarn && strings.Contains(r.Detail, line) }) {
		t.Errorf("doctor does not say it: %+v", found.rows)
	}
}

// Commands that need only the state file work while the configuration has faults; those that carry runs on do not.
func TestFaultyConfigurationLeavesTheState(t *testing.T) {
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

// A file that names a state file nobody can read is no reason to guess another one.
func TestFaultyConfigurationIsNoGuess(t *testing.T) {
	a := &app{invocation: &invocation{Console: console.Console{In: strings.NewReader(""), Out: &strings.Builder{}, Err: &strings.Builder{}, Environ: []string{"HOME=" + t.TempDir()}}}}
	a.config = writeConfig(t, "version: 1\nstate: [x]\n")
	if _, err := a.loadState(); err == nil {
		t.Error("loadState guesses the state file")
	} else if _, ours := errors.AsType[*console.Error](err); !ours {
		t.Errorf("loadState: %v, want what to do", err)
	}
}
