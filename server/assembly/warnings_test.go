package assembly

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/server/settings"
)

// What does no harm by itself is only a warning.
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
		if at := strings.Index(line, "read: /"); at >= 0 {
			line = line[:at+6] + "DIR" + line[strings.Index(line, "/gone"):]
		}
		got = append(got, line)
	}
	want := []string{
		"warning: pg.yaml:3:12: catalog.expose[0]: charge writes, and no policy judges it; write policy: NAME in catalog.http.charge",
		"warning: pg.yaml:5:41: catalog.servers.crm.stdio.args[0]: a secret in an argument: other users of this machine see command lines; give it in env, if the program takes it there",
		"warning: pg.yaml:5:41: catalog.servers.crm.stdio.args[0]: its value cannot be read: ARG is not set; calls that need it are refused until it can",
		"warning: pg.yaml:5:78: catalog.servers.crm.stdio.env.A_TOKEN: its value cannot be read: DIR/gone: no such file or directory; calls that need it are refused until it can",
		"warning: pg.yaml:5:117: catalog.servers.crm.tools.find: held: not accepted yet; run patterngate catalog accept crm/find",
		"warning: pg.yaml:5:144: catalog.servers.crm.tools.find.idempotent: a read is always idempotent; remove it",
		"warning: pg.yaml:8:51: patterns.plan.allow.policy[0]: charge is not in tools; write it in patterns.plan.tools too",
		"warning: pg.yaml:8:59: patterns.plan.allow.policy[1]: no tool fnd; did you mean find?",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// Runs of the demo and runs with real tools never share the usual state file.
func TestUsualState(t *testing.T) {
	home := t.TempDir()
	environ := []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "LOCALAPPDATA=" + home, "XDG_CONFIG_HOME=" + home}
	const http = "catalog: {http: {look: {description: Looks., effect: read, input: {q: {type: string}}, request: {method: GET, url: \"https://example.org/\"}}}}\n"
	for name, tt := range map[string]struct{ text, want string }{
		"no file":               {"", settings.DemoStateFile},
		"nothing said":          {"version: 1\n", settings.DemoStateFile},
		"over a built-in":       {"version: 1\npatterns: {route_ticket: {enabled: false}}\n", settings.DemoStateFile},
		"a catalog":             {"version: 1\n" + http, settings.StateFile},
		"a catalog beside":      {"version: 1\ndemo: {enabled: true}\n" + http, settings.StateFile},
		"a pattern of its own":  {"version: 1\ndemo: {enabled: true}\npatterns: {see: {kind: call, tool: get_manager_profile}}\n", settings.StateFile},
		"no demo and nothing":   {"version: 1\ndemo: {enabled: false}\n", settings.StateFile},
		"a named file":          {"version: 1\nstate: runs.db\n", "runs.db"},
		"a named file, catalog": {"version: 1\nstate: runs.db\n" + http, "runs.db"},
	} {
		in := settings.Sources{Environ: environ}
		if tt.text != "" {
			in.Path = writeConfig(t, tt.text)
		}
		loaded, _, err := Load(in, LoadOptions{})
		if err != nil || filepath.Base(loaded.State) != tt.want || loaded.StateUsual != (tt.want != "runs.db") {
			t.Errorf("%s: the state is %q, usual: %t, %v; want %s", name, loaded.State, loaded.StateUsual, err, tt.want)
		}
	}
}

// The file has 200 tools.
func BenchmarkLoadCatalog(b *testing.B) {
	var text strings.Builder
	text.WriteString("version: 1\ncatalog:\n  http:\n")
	for i := range 200 {
		fmt.Fprintf(&text, "    tool_%d:\n      description: Finds one.\n      effect: read\n      request: {method: GET, url: 'https://a.example/%d/{id}', headers: {Authorization: {secret: 'env:KEY', prefix: 'Bearer '}}}\n"+
			"      input: {id: {type: string, pattern: '^A-[0-9]{4}$'}, lines: {type: integer, minimum: 1, optional: true}}\n", i, i)
	}
	path := filepath.Join(b.TempDir(), "pg.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := Load(settings.Sources{Path: path, Environ: []string{"KEY=x"}}, LoadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
