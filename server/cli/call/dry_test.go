package call

import (
	"encoding/json"
	"testing"

	"patterngate/catalog/upstream"
)

// A dry run is asked for where it is one, and nothing is sent to what would act.
func TestDryRunOf(t *testing.T) {
	const flag = `{"properties":{"dry_run":{"type":"boolean"},"x":{"type":"string"}}}`
	const ours = `{"properties":{"status":{"type":"string"},"next":{"type":"object"},"dry_run":{"type":"boolean"}}}`
	tests := map[string]struct{ input, output, arguments, want string }{
		"added":              {flag, ours, `{"x":"y"}`, `{"x":"y","dry_run":true}`},
		"over no":            {flag, ours, `{"dry_run":false,"x":1}`, `{"x":1,"dry_run":true}`},
		"over several":       {flag, ours, `{"dry_run":false,"dry_r\u0075n":false}`, `{"dry_run":true}`},
		"no such argument":   {`{"properties":{}}`, ours, `{}`, ""},
		"another type":       {`{"properties":{"dry_run":{"type":"string"}}}`, ours, `{}`, ""},
		"a tool's own":       {flag, `{"properties":{"status":{"type":"string"},"next":{"type":"object"}}}`, `{}`, ""},
		"another server's":   {flag, `{"properties":{"dry_run":{"type":"boolean"}}}`, `{}`, ""},
		"without an output":  {flag, ``, `{}`, ""},
		"arguments no JSON":  {flag, ours, `{`, ""},
		"arguments a string": {flag, ours, `"x"`, ""},
	}
	for name, tt := range tests {
		got, err := dryRunOf(upstream.Tool{Name: "t", Input: json.RawMessage(tt.input), Output: json.RawMessage(tt.output)}, json.RawMessage(tt.arguments))
		if string(got) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, tt.want)
		}
	}
}

// A dry run ends with 3 where anything would be blocked or put to a person, and a refused intent as it would have ended.
func TestDryRunExitCodes(t *testing.T) {
	const members = `"stop_reason":"success","summary":"s","next":{"action":"answer_user"}`
	for text, want := range map[string]int{
		`{"status":"ok","dry_run":true,"verdict":"approve",` + members + `}`:                                                                0,
		`{"status":"ok","dry_run":true,"verdict":"revise",` + members + `}`:                                                                 0,
		`{"status":"ok","dry_run":true,"verdict":"unknown",` + members + `}`:                                                                0,
		`{"status":"ok","dry_run":true,` + members + `}`:                                                                                    0, // planning's
		`{"status":"ok","dry_run":true,"verdict":"escalate",` + members + `}`:                                                               3,
		`{"status":"ok","dry_run":true,"verdict":"block",` + members + `}`:                                                                  3,
		`{"status":"ok","dry_run":true,"verdict":"tomorrow",` + members + `}`:                                                               3,
		`{"status":"ok","verdict":"block",` + members + `}`:                                                                                 0, // no dry run
		`{"status":"stopped","stop_reason":"invalid_action:unknown_tool:x","dry_run":true,"summary":"s","next":{"action":"fix_and_retry"}}`: 3,
		`{"status":"stopped","stop_reason":"goal_unclear","dry_run":true,"summary":"s","next":{"action":"tell_user"}}`:                      2,
	} {
		e, ours := readEnvelope(json.RawMessage(text))
		if got := e.exit(); !ours || got != want {
			t.Errorf("%s ends with %d (%t), want %d", text, got, ours, want)
		}
	}
}
