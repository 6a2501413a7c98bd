//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

func (c *servedScene) hangup() {
	c.t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		c.t.Fatal(err)
	}
}

// A changed file is announced and not loaded; patterngate reload puts it in force and tells clients; a bad one keeps the old.
func TestReload(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", seeing)
	s.must(t, "catalog", "accept", "--yes")
	if code, _, errs := s.command(t, nil, "reload"); code != console.ExitRefused || !strings.Contains(errs, "no server uses this state file") {
		t.Errorf("where nobody serves it ends with %d: %s", code, errs)
	}
	c := s.serve(t)
	has := func(want bool) {
		t.Helper()
		if got := strings.Contains(c.tools(), " slip "); got != want {
			t.Errorf("slip is listed: %t, want %t", got, want)
		}
	}
	has(false)
	s.write(t, "", more)
	c.log.has(t, "config changed on disk, not loaded")
	has(false)
	out := s.must(t, "reload")
	c.told.has(t, "notifications/tools/list_changed")
	has(true)
	said := regexp.MustCompile(`^reloaded: (sha256:[0-9a-f]{64}) to (sha256:[0-9a-f]{64})\n  counts as looser: patterns.slip: pattern added\n$`).FindStringSubmatch(out)
	if said == nil || said[1] == said[2] {
		t.Fatalf("reload says %q", out)
	}
	if line := c.log.has(t, `"msg":"reload"`); !strings.Contains(line, said[1]) || !strings.Contains(line, said[2]) || !strings.Contains(line, "patterns.slip: pattern added") {
		t.Errorf("the log says %s", line)
	}
	if err := os.WriteFile(s.config, []byte("version: 1\npatterns: {see: 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := s.command(t, nil, "reload"); code != console.ExitUsage || !strings.Contains(errs, s.config+":2:") {
		t.Errorf("with a bad file it ends with %d: %s", code, errs)
	}
	c.hangup()
	c.log.has(t, "reload refused, the configuration stays unchanged")
	has(true)
	if got := c.call("slip", "{}"); got.Status != "ok" {
		t.Errorf("after a bad file: %+v", got)
	}
	s.write(t, "", seeing+"log: {level: debug}\nhttp: {body_bytes: 100000}\nnotify: off\n")
	if out := s.must(t, "reload"); !strings.Contains(out, said[2]+" to "+said[1]+"\n  needs a restart: http\n  needs a restart: log\n  needs a restart: notify\n") {
		t.Errorf("reload says %q", out)
	}
	has(false)
}

// A run that goes on keeps the configuration that it was begun under, and its hash.
func TestReloadLeavesRunsAlone(t *testing.T) {
	t.Parallel()
	came, answer := make(chan struct{}), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came <- struct{}{}
		<-answer
		fmt.Fprint(w, "{}")
	}))
	defer service.Close()
	asking := "  allow_networks: [127.0.0.0/8]\n  http:\n    ask: {description: Asks., effect: read, request: {method: GET, url: '" + service.URL + "'}}\n"
	s := newOwnScene(t, asking, "patterns: {ask_it: {kind: call, tool: ask}, see: {kind: call, tool: look}}\n")
	c := s.serve(t)
	call := c.send("tools/call", `{"name":"ask_it","arguments":{}}`)
	<-came
	s.write(t, "", seeing)
	out := s.must(t, "reload")
	close(answer)
	got := c.shown(call)
	if got.Status != "ok" {
		t.Errorf("the run that went on: %+v", got)
	}
	said := regexp.MustCompile(`^reloaded: (sha256:[0-9a-f]{64}) to (sha256:[0-9a-f]{64})\n$`).FindStringSubmatch(out)
	if said == nil {
		t.Fatalf("reload says %q", out)
	}
	if record := s.must(t, "runs", "export", got.RunID); !strings.Contains(record, said[1]) || strings.Contains(record, said[2]) {
		t.Errorf("the run was begun under %s: %s", said[1], record)
	}
	if strings.Contains(c.tools(), " ask_it ") {
		t.Error("the pattern is still listed")
	}
}

// With an approver key what permits more is taken signed alone, by a signal never; what permits less needs nobody.
func TestReloadIsSigned(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", seeing)
	s.must(t, "catalog", "accept", "--yes")
	id := s.enrol(t)
	c := s.serve(t)
	s.write(t, "", longer)
	if code, _, errs := s.command(t, nil, "reload"); code != console.ExitRefused || !strings.Contains(errs, "signature of an approver key") {
		t.Errorf("unsigned it ends with %d: %s", code, errs)
	}
	c.hangup()
	c.log.has(t, "Run patterngate reload at a terminal and sign")
	if text := c.log.String(); strings.Contains(text, `"msg":"reload"`) {
		t.Errorf("it was loaded: %s", text)
	}
	code, out, errs := s.command(t, []string{goodPassphrase}, "reload")
	if code != console.ExitDone || !strings.Contains(errs, signedBy+" "+id) || !strings.Contains(out, "  counts as looser: patterns.see.budget.max_seconds: raised from 15 to 20\n") {
		t.Errorf("signed it ends with %d: %s%s", code, out, errs)
	}
	s.write(t, "", less)
	c.hangup()
	c.log.until(t, func(line string) bool {
		return strings.Contains(line, `"msg":"reload"`) && strings.Contains(line, `"loosens":""`)
	}, "a reload that loosens nothing")
}

// What a reload tells is what was and what is in force: under the lines of the lock that count, as runs are begun.
func TestReloadTellsWhatIsInForce(t *testing.T) {
	inCI(t, "it signs four times; TestReload and TestReloadIsSigned always run")
	t.Parallel()
	s := newOwnScene(t, "        note: {effect: write}\n", more)
	s.must(t, "catalog", "accept", "--yes")
	var note any
	s.rewriteLock(t, func(tools map[string]any) { note = tools["crm/note"]; delete(tools, "crm/note") })
	c := s.serve(t)
	s.enrol(t)
	signs := func(args ...string) string {
		t.Helper()
		code, out, errs := s.command(t, []string{goodPassphrase}, args...)
		if code != console.ExitDone {
			t.Fatalf("%q ends with %d: %s%s", args, code, out, errs)
		}
		return out
	}
	begunUnder := func(pattern, hash, other string) {
		t.Helper()
		got := c.call(pattern, "{}")
		if record := s.must(t, "runs", "export", got.RunID); got.Status != "ok" || !strings.Contains(record, hash) || strings.Contains(record, other) {
			t.Errorf("%s: %+v; it was begun under %s, and not under %s: %s", pattern, got, hash, other, record)
		}
	}
	signs("catalog", "accept", "--yes", "crm/drift")
	out := signs("reload")
	said := regexp.MustCompile(`^reloaded: (sha256:[0-9a-f]{64}) to (sha256:[0-9a-f]{64})\n$`).FindStringSubmatch(out)
	if said == nil || said[1] == said[2] {
		t.Fatalf("with a key, and one tool unsigned, reload says %q", out)
	}
	all, held := said[1], said[2]
	begunUnder("slip", held, all)

	signs("catalog", "accept", "--yes", "crm/look")
	c.hangup()
	c.log.has(t, "Run patterngate reload at a terminal and sign")
	if out, want := signs("reload"), fmt.Sprintf("reloaded: %s to %s\n  counts as looser: lock.crm/look: accepted\n", held, all); out != want {
		t.Errorf("with the tool signed reload says %q, want %q", out, want)
	}
	begunUnder("see", all, held)

	s.rewriteLock(t, func(tools map[string]any) { tools["crm/note"] = note })
	c.hangup()
	c.log.has(t, fmt.Sprintf(`"msg":"reload","from":%q,"to":%q,"loosens":""`, all, all))
}

// What was signed is loaded nowhere else than where the file comes to the same: who signed is told that, not to sign again.
func TestReloadIsSignedForAnotherEnvironment(t *testing.T) {
	t.Parallel()
	s := newOwnScene(t, "", seeing)
	s.must(t, "catalog", "accept", "--yes")
	s.enrol(t)
	c := s.serve(t, "OPENAI_BASE_URL=http://127.0.0.1:9/v1")
	s.write(t, "", longer)
	code, out, errs := s.command(t, []string{goodPassphrase}, "reload")
	hashes := regexp.MustCompile(`sha256:[0-9a-f]{64} was signed, but the file has the hash sha256:[0-9a-f]{64} here`)
	if code != console.ExitRefused || !hashes.MatchString(out) || !strings.Contains(out, "environment") || strings.Contains(out+errs, "at a terminal and sign") {
		t.Errorf("it ends with %d: %s%s", code, out, errs)
	}
	if text := c.log.String(); strings.Contains(text, `"msg":"reload"`) {
		t.Errorf("it was loaded: %s", text)
	}
}

// A file is the same by whatever path it is named, and two of one name in two directories are not.
func TestReloadKnowsTheFile(t *testing.T) {
	s, other := newOwnScene(t, "", seeing), newOwnScene(t, "", more)
	s.must(t, "catalog", "accept", "--yes")
	relative := *s
	relative.config = filepath.Base(s.config)
	t.Chdir(s.dir)
	c := relative.serve(t)
	s.write(t, "", more)
	if out := s.must(t, "reload"); !strings.HasPrefix(out, "reloaded: ") {
		t.Errorf("by its whole path: %s", out)
	}
	if !strings.Contains(c.tools(), " slip ") {
		t.Error("slip is not listed")
	}
	s.write(t, "", seeing)
	t.Chdir(other.dir)
	if code, out, errs := relative.command(t, nil, "reload"); code != console.ExitRefused || !strings.Contains(errs, "no server uses this configuration file") || !strings.HasPrefix(out, "not changed: ") {
		t.Errorf("a file of that name in another directory: it ends with %d: %s%s", code, out, errs)
	}
	if !strings.Contains(c.tools(), " slip ") {
		t.Error("it was reloaded")
	}
}

// Two files that were changed are announced once each.
func TestAnnounceOnce(t *testing.T) {
	s := newOwnScene(t, "", "")
	s.must(t, "catalog", "accept", "--yes")
	loaded, _, err := assembly.Load(settings.Sources{Path: s.config}, assembly.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	r := &reloader{log: slog.New(slog.NewTextHandler(&log, nil)), loaded: loaded, seen: filesSeen(loaded.Files())}
	for range 3 {
		r.announce()
	}
	if log.Len() > 0 {
		t.Errorf("nothing was changed: %s", log.String())
	}
	s.write(t, "", seeing)
	if err := os.Remove(s.lock); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.announce()
	}
	for _, path := range []string{s.config, s.lock} {
		if n := strings.Count(log.String(), path); n != 1 {
			t.Errorf("%s is announced %d times, want once:\n%s", path, n, log.String())
		}
	}
}
