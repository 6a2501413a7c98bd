//go:build unix

package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
)

// An import says why a server did not start: the last line of its standard error, once, without its secrets. It says which
// files of secrets were there before, and what a misspelt member means. A server that is off leaves its name to another.
func TestInitOfFaultyServers(t *testing.T) {
	const secret = "tGk7Zq19fPw3Lm8XcRv2"
	dir := t.TempDir()
	config, client, crash := filepath.Join(dir, "pg.yaml"), filepath.Join(dir, ".mcp.json"), filepath.Join(dir, "bin", "crash")
	for path, text := range map[string]string{
		crash: "#!/bin/sh\necho loading >&2\necho \"no database for $DB_TOKEN\" >&2\nprintf ' \\n' >&2\nexit 3\n",
		client: `{"mcpServers": {"crash": {"command": "` + crash + `", "env": {"DB_TOKEN": "` + secret + `"}},
			"typed": {"comand": "` + crash + `"}, "Shop": {"command": "` + crash + `", "disabled": true}, "shop": {"command": "` + crash + `"}}}`,
		filepath.Join(dir, "secrets", "crash.DB_TOKEN"): "old\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, err := initIn(t, dir, "--import", client, "-o", config, "--no-replace")
	if err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	read, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	file := string(read)
	const why = "exit status 3; the last line on its standard error: no database for ***"
	if strings.Count(out, why) != 1 || !strings.Contains(file, why) || strings.Contains(errs, why) || !strings.Contains(errs, "  crash: not enabled, see below\n") {
		t.Errorf("the reason is not said once: %s%s%s", out, errs, file)
	}
	if strings.Contains(out+errs+file, secret) {
		t.Errorf("a secret is shown: %s%s%s", out, errs, file)
	}
	old := filepath.Join(dir, "secrets", "crash.DB_TOKEN")
	if !strings.Contains(errs, "Remove them if no other configuration needs them: "+old+"\n") || !strings.Contains(file, "file:secrets/crash.DB_TOKEN-2") {
		t.Errorf("the older secret is not named: %s%s", errs, file)
	}
	if meant := `its entry has neither command nor url; it has "comand" (did you mean command?)`; strings.Count(file, meant) != 1 || !strings.Contains(out, meant) {
		t.Errorf("the misspelt member is not named once: %s%s", out, file)
	}
	if !strings.Contains(file, "    # called Shop in the client's file\n    # it is disabled in the client\n    shop_2:\n") || !strings.Contains(file, "\n    shop:\n") {
		t.Errorf("the server that is off has the plain name:\n%s", file)
	}
	later := "patterngate catalog accept crash --config " + config + "   # lists the tools of crash, once it starts\n"
	if !strings.Contains(out, later) || !strings.Contains(file, "    # Once it starts: remove \"enabled: false\", and paste its tools here. This prints them:   patterngate catalog accept crash\n    crash:\n") || strings.Contains(out+file, "accept shop_2") {
		t.Errorf("the way back is not said: %s%s\nwant %s", out, file, later)
	}
	if note := "Patterngate does not read " + config + " by itself. Give it with --config, or set PATTERNGATE_CONFIG\n"; !strings.Contains(out, note) {
		t.Errorf("out is %s, want %s", out, note)
	}
	if out, errs, err := initIn(t, dir, "--import", client, "-o", config+".other", "--read", "chop/x", "--no-replace"); err == nil || strings.Contains(out+errs, "starting") {
		t.Errorf("a misspelt server is found only after the start: %v: %s%s", err, out, errs)
	}
}

// A confirmed tool keeps its name, and the other tool of that name gets the name of its server before it.
func TestConfirmedToolsKeepTheirNames(t *testing.T) {
	tool := func(allow bool) []importedTool {
		return []importedTool{{foreignTool: foreignTool{Name: "search"}, effect: catalog.Read, allow: allow}}
	}
	servers := []Server{{Name: "crm", tools: tool(false)}, {Name: "shop", tools: tool(true)}}
	nameTools(servers, nil)
	if got := servers[0].tools[0].listed() + " " + servers[1].tools[0].listed(); got != "crm_search search" {
		t.Errorf("the tools are %s", got)
	}
}

// A comment or a note about a tool that writes names the page about the first policy.
func TestInitNamesThePageOfPolicies(t *testing.T) {
	for _, text := range []string{notOffered([]string{"add_note"}, "pg.yaml"), couldExpose("add_note")} {
		if !strings.Contains(text, "docs/first-rule.md") || strings.Contains(text, "Patterns") {
			t.Errorf("it says %s", text)
		}
	}
	if _, err := os.Stat("../../../" + policyPage); err != nil {
		t.Error(err)
	}
}

// A server that hangs is said to give no answer, and an unset variable is named once.
func TestNoAnswerInTime(t *testing.T) {
	s := Server{path: "/bin/sh", args: []importedValue{{now: "-c"}, {now: "exec tail -f /dev/null"}}}
	if err := s.list(t.Context(), 50*time.Millisecond); err == nil || err.Error() != "did not answer within 50ms" {
		t.Errorf("list = %v", err)
	}
	if got, want := needsVariable("variable TOKEN", "TOKEN"), "the variable TOKEN is not set here"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
}
