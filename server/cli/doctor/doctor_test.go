package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// A healthy client is one line. Of another client, only what is wrong is shown, with the fix, unless all is wanted.
func TestText(t *testing.T) {
	a := &Commands{Console: &console.Console{Color: "never"}}
	healthy := &findings{client: "cursor", tools: 1, first: 84 * time.Millisecond}
	healthy.ok("file", "/home/mcp.json")
	healthy.ok("state", "/home/runs.db can be written")
	ill := &findings{client: "codex"}
	ill.ok("file", "/home/config.toml")
	ill.warn("gate", removeServer([]string{"crm"}, "/home/config.toml"), "the client starts the server crm directly, without your policy (/home/a/very/long/path/to/config.toml)")
	ill.fail("start", "patterngate setup codex --write", "there is no program")
	for name, tt := range map[string]struct {
		of   *findings
		all  bool
		want string
	}{
		"healthy": {healthy, false, "ok    cursor          2 checks passed, 1 tool, first answer after 84 ms\n"},
		"all of a healthy one": {healthy, true, `ok    cursor          2 checks passed, 1 tool, first answer after 84 ms
ok    file          /home/mcp.json
ok    state         /home/runs.db can be written
`},
		"ill": {ill, false, `FAIL  codex           1 check failed, 1 warning, 1 check passed
  warn  gate          the client starts the server crm directly, without your policy
                      (/home/a/very/long/path/to/config.toml)
                      fix: remove the server "crm" from /home/config.toml
  FAIL  start         there is no program
                      fix: patterngate setup codex --write
`},
	} {
		if got := a.text(tt.of, tt.all); got != tt.want {
			t.Errorf("%s: printed\n%swant\n%s", name, got, tt.want)
		}
	}
	if all := a.text(ill, true); !strings.Contains(all, "\nok    file          /home/config.toml\n") || !strings.Contains(all, "\nwarn  gate ") || strings.Count(all, labelFix) != 2 {
		t.Errorf("all checks are\n%s", all)
	}
}

// All held tools are one row. A single one says why.
func TestTellHeld(t *testing.T) {
	for name, tt := range map[string]struct {
		rows []heldRow
		want []finding
	}{
		"none": {nil, nil},
		"one":  {[]heldRow{{"a", "held", "no line in the lock"}}, []finding{{"", "tools", stateWarn, "a is held: no line in the lock", fixHeld}}},
		"more": {[]heldRow{{"a", "held", "x"}, {"b", "unavailable", "no answer"}, {"c", "held", "y"}}, []finding{
			{"", "tools", stateWarn, "2 tools are held until you accept them: a, c", fixHeld}, {"", "tools", stateWarn, "b is unavailable: no answer", fixTool},
		}},
	} {
		found := &findings{}
		if tellHeld(tt.rows, found); !slices.Equal(found.rows, tt.want) {
			t.Errorf("%s: found %+v, want %+v", name, found.rows, tt.want)
		}
	}
}

// Doctor checks the configuration of the shell if no client has a file, and if no client starts Patterngate.
func TestDoctorWithoutClient(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "pg.yaml")
	for name, tt := range map[string]struct {
		config, client string
		fault          bool
		want           []string // CHECK STATE of the rows without a client
	}{
		"in order":    {"version: 1\n", "", false, []string{"file warn", "config ok"}},
		"held":        {"version: 1\ncatalog: {servers: {shop: {http: {url: 'http://127.0.0.1:9/mcp'}, tools: {find: {effect: read}}}}}\n", "", true, []string{"file warn", "config warn", "config ok", "tools warn", "server FAIL"}},
		"faulty":      {"version: 1\na1: 1\n", "", true, []string{"file warn", "config FAIL"}},
		"no entry":    {"version: 1\na1: 1\n", `{"mcpServers": {}}`, true, []string{"config FAIL"}},
		"a gone file": {"", "", true, []string{"file warn", "config FAIL"}},
	} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if tt.config != "" {
			if err := os.WriteFile(path, []byte(tt.config), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		client := filepath.Join(home, ".cursor", "mcp.json")
		if err := os.RemoveAll(client); err != nil {
			t.Fatal(err)
		}
		if tt.client != "" {
			if err := errors.Join(os.MkdirAll(filepath.Dir(client), 0o700), os.WriteFile(client, []byte(tt.client), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		environ := []string{"HOME=" + home}
		a := &Commands{
			Console: &console.Console{In: strings.NewReader(""), Out: &out, Err: io.Discard, Environ: environ, Color: "never", JSON: true},
			Sources: func() settings.Sources {
				return settings.Sources{Path: path, State: filepath.Join(home, "state.db"), Environ: environ}
			},
		}
		err := a.doctor(t.Context(), "", false)
		if (err != nil) != tt.fault {
			t.Errorf("%s: doctor ends with %v", name, err)
		}
		var rows []finding
		if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out.String())
		}
		var got []string
		for _, r := range rows {
			if r.Client == "" {
				got = append(got, r.Check+" "+r.State)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: found %+v, want %q", name, rows, tt.want)
		}
		if slices.ContainsFunc(rows, func(r finding) bool { return strings.Contains(r.Detail, "held: held") }) {
			t.Errorf("%s: a state is told twice: %+v", name, rows)
		}
		if _, err := os.Stat(filepath.Join(home, "state.db")); err == nil {
			t.Errorf("%s: doctor made a state file", name)
		}
	}
}

// An interrupt while doctor checks the configuration of the shell ends it without findings.
func TestDoctorInterruptedWithoutClient(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "pg.yaml")
	if err := os.WriteFile(path, []byte("version: 1\ncatalog: {servers: {shop: {http: {url: 'http://127.0.0.1:9/mcp'}, tools: {find: {effect: read}}}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out bytes.Buffer
	environ := []string{"HOME=" + home}
	a := &Commands{
		Console: &console.Console{In: strings.NewReader(""), Out: &out, Err: io.Discard, Environ: environ, Color: "never"},
		Sources: func() settings.Sources {
			interrupt() // the clients are checked already
			return settings.Sources{Path: path, Environ: environ}
		},
	}
	if err := a.doctor(ctx, "", false); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("doctor ends with %v and prints %s", err, out.String())
	}
}
