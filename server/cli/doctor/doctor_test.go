package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/server/cli/console"
)

// A healthy client is one line. Of another client, only what is wrong is shown, with the fix, unless all is wanted.
func TestText(t *testing.T) {
	a := &Commands{Console: &console.Console{Color: "never"}}
	healthy := &findings{client: "cursor", tools: 1, first: 84 * time.Millisecond}
	healthy.ok("file", "/home/mcp.json")
	healthy.ok("state", "/home/runs.db can be written")
	ill := &findings{client: "codex"}
	ill.ok("file", "/home/config.toml")
	ill.warn("gate", removeServer("crm", "/home/config.toml"), "the client starts the server crm directly, without your policy (/home/a/very/long/path/to/config.toml)")
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
