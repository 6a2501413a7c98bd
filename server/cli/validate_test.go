package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/ijson"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/settings"
)

func runCommand(t *testing.T, environ []string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{Invocation: &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Environ: environ}}}
	root := a.root()
	root.SetArgs(args)
	return a.Exit(t.Context(), root.ExecuteContext(t.Context())), stdout.String(), stderr.String()
}

// What validate says, and how it ends (spec/config.md section 11).
func TestValidate(t *testing.T) {
	tests := map[string]struct {
		file string
		args []string
		code int
		out  string
		errs int // lines
	}{
		"in order":      {"version: 1\n", nil, 0, ": in order; 14 tools, 5 patterns, tools/list ", 0},
		"a fault":       {"version: 2\nllm: {modell: x}\n", nil, 1, "", 3},
		"a warning":     {"version: 1\npatterns: {plan: {tools: [nope]}}\n", nil, 0, ", 1 warning, tools/list ", 1},
		"strict":        {"version: 1\npatterns: {plan: {tools: [nope]}}\n", []string{"--strict"}, 1, "", 1},
		"no YAML":       {"a: [\n", nil, 1, "", 1},
		"more than 50":  {"version: 1\n" + manyFaults(60), nil, 1, "", 52},
		"fault as JSON": {"version: 2\n", []string{"--json"}, 1, `"line":1,"column":10,"path":"version","severity":"fault"`, 0},
		"good as JSON":  {"version: 1\n", []string{"--json"}, 0, "[]", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runCommand(t, nil, append([]string{"validate", writeConfig(t, tt.file)}, tt.args...)...)
			if strings.HasPrefix(strings.TrimSpace(out), "[") {
				var compact bytes.Buffer
				if err := json.Compact(&compact, []byte(out)); err != nil {
					t.Fatal(err)
				}
				out = compact.String()
			}
			if code != tt.code || !strings.Contains(out, tt.out) || tt.out == "" && out != "" || strings.Count(errs, "\n") != tt.errs {
				t.Errorf("validate ends %d with\n%s\n%s\nwant %d, %q and %d lines", code, out, errs, tt.code, tt.out, tt.errs)
			}
		})
	}
	if code, _, errs := runCommand(t, nil, "validate", filepath.Join(t.TempDir(), "gone.yaml")); code != 2 || !strings.Contains(errs, "no such file") {
		t.Errorf("a file that is not there ends %d with %s", code, errs)
	}
}

func manyFaults(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	return b.String()
}

// Where each value comes from.
func TestConfigShowOrigin(t *testing.T) {
	path := writeConfig(t, "version: 1\nllm: {model: small}\n")
	code, out, errs := runCommand(t, []string{"OPENAI_TIMEOUT_SECONDS=3", "OPENAI_API_KEY=hunter2"}, "config", "show", "--origin", "--config", path, "--log-level", "debug")
	for _, want := range []string{"model: small  # " + path + ":2", "timeout_seconds: 3  # OPENAI_TIMEOUT_SECONDS", "level: debug  # --log-level", "max_retries: 2  # default", "# *** from OPENAI_API_KEY"} {
		if !strings.Contains(out, want) {
			t.Errorf("ends %d (%s) and does not show %q:\n%s", code, errs, want, out)
		}
	}
	if strings.Contains(out, "hunter2") {
		t.Error("the key is shown")
	}
	_, out, _ = runCommand(t, nil, "config", "show", "--origin", "--json", "--config", path)
	var rows []settings.Origin
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) < 50 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	for _, row := range rows {
		if row.Path == "llm.model" && (row.Origin != "file" || row.Line != 2 || row.File != path || !ijson.Equal(row.Value, "small")) {
			t.Errorf("llm.model is %+v", row)
		}
	}
}
