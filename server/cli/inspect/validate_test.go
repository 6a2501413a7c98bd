package inspect

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// validated returns what validate prints about a file, which is called pg.yaml in it.
func validated(t *testing.T, text string, args ...string) (out, errs string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pg.yaml")
	if text != "" {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	named := ""
	a := &Commands{Console: &console.Console{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Color: "never"}, Path: &named}
	a.Sources = func() settings.Sources { return settings.Sources{Path: named} }
	cmd := a.Validate()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{path}, args...))
	_ = cmd.Execute() // the exit code is what other tests are about
	return strings.ReplaceAll(stdout.String(), path, "pg.yaml"), strings.ReplaceAll(stderr.String(), path, "pg.yaml")
}

// Next to warnings, faults come first and have a label. The last line counts them. A single line has neither.
func TestValidateLines(t *testing.T) {
	const warned = "patterns: {run_task_decomposition: {allow: {policy: [nope]}}}\n"
	for name, tt := range map[string]struct {
		text string
		args []string
		want []string // how each line on standard error begins
	}{
		"one fault":           {"version: 2\n", nil, []string{"pg.yaml:1:10: version: "}},
		"two faults":          {"version: 1\na1: 1\na2: 1\n", nil, []string{"pg.yaml:2:1: a1: ", "pg.yaml:3:1: a2: ", "2 faults"}},
		"both":                {"version: 1\n" + warned + "a1: 1\n", nil, []string{"fault: pg.yaml:3:1: a1: ", "warning: pg.yaml:2:", "1 fault, 1 warning"}},
		"a warning":           {"version: 1\n" + warned, nil, []string{"warning: pg.yaml:2:"}},
		"a file that is gone": {"", nil, []string{"pg.yaml: no such file; write the path of a file\n"}},
	} {
		_, errs := validated(t, tt.text, tt.args...)
		lines := strings.SplitAfter(errs, "\n")
		if len(lines) != len(tt.want)+1 {
			t.Errorf("%s: printed\n%swant %q", name, errs, tt.want)
			continue
		}
		for i, want := range tt.want {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("%s: line %d is %swant %q", name, i, lines[i], want)
			}
		}
	}
}

// A file in order is told with what clients are offered. Its hints are on standard error, count as nothing, and are not in
// the document. The held tools are one line.
func TestValidateSound(t *testing.T) {
	const file = `version: 1
demo: {enabled: false}
catalog:
  expose: [pay, look]
  servers:
    shop: {http: {url: "https://a.example/mcp"}, tools: {find: {effect: read}, list: {effect: read}}}
  http:
    look: {description: Looks., effect: read, input: {}, request: {method: GET, url: "https://a.example/x"}}
    pay: {description: Pays., effect: write, policy: money, input: {}, request: {method: POST, url: "https://a.example/x"}}
policies:
  money: {rules: [{id: pay, match: pay, approve: {}}]}
`
	out, errs := validated(t, file)
	want := "warning: pg.yaml: 2 tools are held until you accept them: find, list; run patterngate catalog accept\n" +
		"hint: pg.yaml:9:10: catalog.http.pay: after a crash during a write, the outcome is unknown and a person must settle it: pay; add idempotent, once or reconcile\n"
	if errs != want || !strings.HasPrefix(out, "pg.yaml: in order; 4 tools, 0 patterns, 2 exposed tools, 1 warning, tools/list ") {
		t.Errorf("printed\n%s%swant\n%s", out, errs, want)
	}
	out, _ = validated(t, file+"offer: [look, run_status, run_wait]\n")
	if !strings.Contains(out, ", 2 exposed tools, 3 tools offered, ") {
		t.Errorf("with the key offer it prints %s", out)
	}
}
